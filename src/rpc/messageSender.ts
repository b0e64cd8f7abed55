import { createDeferred, type Deferred } from "../base/deferred.js";
import type { RpcError } from "./rpcError.js";

/** The part of a grpc-js call that messages are written to. */
export interface MessageSink {
  write(chunk: unknown, onWritten?: () => void): boolean;
  on(event: "drain", run: () => void): unknown;
}

/** The sending half of a call: honours back pressure and stops when the call has ended. */
export class MessageSender<T> {
  readonly #sink: MessageSink;
  readonly #encode: (message: T) => Buffer;
  #waiting: Deferred<void> | undefined;
  #closed: RpcError | undefined;

  constructor(sink: MessageSink, encode: (message: T) => Buffer) {
    this.#sink = sink;
    this.#encode = encode;
    // One listener for the life of the call: one per wait would be counted as a leak.
    sink.on("drain", () => {
      const waiting = this.#waiting;
      this.#waiting = undefined;
      waiting?.resolve();
    });
  }

  /**
   * Sends a message at once.
   * @param onWritten runs when the message has left for the transport; never if the call ends before.
   * @returns false where the receiver is behind: more should wait for {@link drained}.
   * @throws RpcError why the call has ended, or MESSAGE_TOO_LARGE.
   */
  sendNow(message: T, onWritten?: () => void): boolean {
    if (this.#closed !== undefined) throw this.#closed;
    const bytes = this.#encode(message);
    if (this.#sink.write(bytes, onWritten)) return true;
    this.#waiting ??= createDeferred<void>();
    return false;
  }

  /** Resolves when the receiver has caught up. @throws RpcError why the call has ended. */
  async drained(): Promise<void> {
    if (this.#closed !== undefined) throw this.#closed;
    await this.#waiting?.promise;
  }

  /** Sends a message and waits while the receiver is behind. @throws RpcError as {@link sendNow} and {@link drained}. */
  async send(message: T): Promise<void> {
    if (!this.sendNow(message)) await this.drained();
  }

  /** Ends the sending half: senders that wait, and every later one, fail with `error`. */
  close(error: RpcError): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    // Nobody need be waiting.
    waiting?.promise.catch(() => undefined);
    waiting?.reject(error);
  }
}
