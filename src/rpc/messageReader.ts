import type { Readable } from "node:stream";
import { decodeMessage, type Decode } from "./codec.js";
import type { RpcError } from "./rpcError.js";

/**
 * The messages of one call, for one `for await` loop. It pulls, so that the transport's flow control holds the sender to what
 * the loop has taken (and 16 messages more). Made in the tick in which the call starts: before its first read grpc-js
 * would take in everything without limit.
 */
export class MessageReader<T> implements AsyncIterableIterator<T> {
  readonly #readable: Readable;
  readonly #decode: Decode<T>;
  readonly #onReturn: () => void;
  #wake: (() => void) | undefined;
  #ended = false;
  #returned = false;
  #aborted: RpcError | undefined;
  #failed: RpcError | undefined;

  /** `onReturn` runs when the loop is left before the end, or when a message cannot be read. */
  constructor(readable: Readable, decode: Decode<T>, onReturn: () => void = () => undefined) {
    this.#readable = readable;
    this.#decode = decode;
    this.#onReturn = onReturn;
    readable.on("readable", () => {
      this.#wakeUp();
    });
    readable.on("end", () => {
      // A client that resets its stream seems to have closed its half first: `end` comes a few ticks before `cancelled`, and
      // taking it at its word would make an abandoned upload look complete.
      setImmediate(() => {
        this.#ended = true;
        this.#wakeUp();
      });
    });
  }

  /** Makes the loop throw at once; what has arrived is dropped. */
  abort(error: RpcError): void {
    this.#aborted ??= error;
    this.#wakeUp();
  }

  /** Makes the loop throw after what has arrived. */
  fail(error: RpcError): void {
    this.#failed ??= error;
    this.#wakeUp();
  }

  async next(): Promise<IteratorResult<T>> {
    for (;;) {
      if (this.#returned) return { done: true, value: undefined };
      if (this.#aborted !== undefined) throw this.#aborted;
      const bytes = this.#readable.read() as Buffer | null;
      if (bytes !== null) return { done: false, value: this.#decodeOrLeave(bytes) };
      if (this.#failed !== undefined) throw this.#failed;
      if (this.#ended) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  return(): Promise<IteratorResult<T>> {
    if (!this.#returned) {
      this.#returned = true;
      this.#onReturn();
      this.#wakeUp();
    }
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #decodeOrLeave(bytes: Buffer): T {
    try {
      return decodeMessage(this.#decode, bytes);
    } catch (caught) {
      // A loop whose iterator throws does not call return().
      void this.return();
      throw caught;
    }
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
