import type { Client } from "@grpc/grpc-js";

import type { Clock } from "../../../base/clock.js";
import { createDeferred, type Deferred } from "../../../base/deferred.js";
import {
  PeerServiceService,
  type DeliverDMRequest,
  type DeliverDMResult,
  type DeliverDMsRequest,
  type DeliverDMsResponse,
} from "../../../gen/talaria/dm/v1/peer_service.js";
import { openBidi, type BidiCall } from "../../../rpc/clients/openBidi.js";
import { RpcError } from "../../../rpc/rpcError.js";

/** One `DeliverDMs` call: batches out, their answers back in the same order. Ends with its connection. */
export class BatchStream {
  readonly #call: BidiCall<DeliverDMsRequest, DeliverDMsResponse>;
  readonly #waiting: Deferred<readonly DeliverDMResult[]>[] = [];
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  #over: RpcError | undefined;

  /** @param timeoutMs how long the answer to a batch may take, milliseconds */
  constructor(client: Client, signal: AbortSignal, clock: Clock, timeoutMs: number) {
    this.#call = openBidi(client, PeerServiceService.deliverDMs, { signal });
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    void this.#read();
  }

  /** Whether nothing can be sent any more. */
  get over(): boolean {
    return this.#over !== undefined;
  }

  /** Sends a batch. @returns its answers. @throws RpcError where the call ended before they came. */
  async send(items: DeliverDMRequest[]): Promise<readonly DeliverDMResult[]> {
    if (this.#over !== undefined) throw this.#over;
    const answer = createDeferred<readonly DeliverDMResult[]>();
    // It is awaited below, after the request has been written.
    answer.promise.catch(() => undefined);
    this.#waiting.push(answer);
    const cancel = this.#clock.after(this.#timeoutMs, () => {
      this.#end(new RpcError("DEADLINE_EXCEEDED"));
      this.#call.cancel();
    });
    try {
      await this.#call.send({ items });
      return await answer.promise;
    } finally {
      cancel();
    }
  }

  /** Closes the sending half: nothing more is to be sent. */
  close(): void {
    this.#over ??= new RpcError("CANCELLED", { message: "The batches have ended." });
    this.#call.end();
  }

  async #read(): Promise<void> {
    try {
      for await (const { results } of this.#call.responses) this.#waiting.shift()?.resolve(results);
      this.#end(new RpcError("UNAVAILABLE", { message: "The peer has ended the batches." }));
    } catch (caught) {
      this.#end(RpcError.from(caught));
    }
  }

  #end(error: RpcError): void {
    this.#over = error;
    for (const answer of this.#waiting.splice(0)) answer.reject(error);
  }
}
