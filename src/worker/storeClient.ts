import type { Client, MethodDefinition } from "@grpc/grpc-js";
import type { Clock } from "../base/clock.js";
import { Mutex } from "../base/mutex.js";
import type { Delivery } from "../gen/talaria/dm/v1/delivery.js";
import {
  type ChildEnded,
  ExecutionStoreServiceService as Store,
  type Fence,
  type FinishExecutionResponse,
  type PersistResponse,
  type ReadConversationResponse,
  type SendDirectMessageResponse,
  type StoreOperation,
} from "../gen/talaria/owner/v1/execution_store_service.js";
import type { ClientCallOptions } from "../rpc/clients/callOptions.js";
import { readStream } from "../rpc/clients/readStream.js";
import { unaryCall } from "../rpc/clients/unaryCall.js";
import { RpcError } from "../rpc/rpcError.js";
import { SPAN_NAMES, spanIdOfName } from "../rpc/tracing/spanNames.js";
import { parseTraceparent, type TraceContext } from "../rpc/traceContext.js";

import { shownCallId } from "./toolCalls.js";

/** One store write. */
export type Operation = NonNullable<StoreOperation["operation"]>;

/** What a message of the turn's own agent needs. */
export interface OutgoingMessage {
  /** Target as typed. */
  readonly target: string;
  /** Body, 1 to 16,000 code points. */
  readonly body: string;
  /** Key; empty lets the gateway choose, see the contract. */
  readonly requestId?: string;
  /** Delivery that this answers. */
  readonly inReplyTo?: string;
  /** The tool call that sends it, as the viewers see it; absent = none. */
  readonly callId?: string;
}

/** What {@link StoreClient} needs. */
export interface StoreClientOptions {
  readonly client: Client;
  readonly fence: Fence;
  readonly clock: Clock;
  /** Bound of one call with its repetitions, milliseconds. */
  readonly callMs: number;
  /** Aborts, with an RpcError as its reason, when the owner is gone: calls end at once. */
  readonly signal: AbortSignal;
  /** The turn's `traceparent`; empty for none. */
  readonly traceparent: string;
  /** Whether the owner records spans of the turn's tool calls, below which is what they do. */
  readonly tracedTools: boolean;
}

/** Wait before a lost call is repeated, milliseconds. */
const REPEAT_AFTER_MS = 50;

/**
 * The worker's way to its session's store, on the same connection as Attach. Writes go one at a time under exact sequence
 * numbers; one whose answer was lost is repeated under the same number until its time is up, and while a write's fate is
 * unknown nothing else is written.
 */
export class StoreClient {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #callMs: number;
  readonly #signal: AbortSignal;
  readonly #trace: TraceContext | undefined;
  readonly #tracedTools: boolean;
  readonly #writes = new Mutex();
  #fence: Fence;
  #sequence = 0n;
  #undecided: RpcError | undefined;

  constructor({ client, fence, clock, callMs, signal, traceparent, tracedTools }: StoreClientOptions) {
    this.#client = client;
    this.#fence = fence;
    this.#clock = clock;
    this.#callMs = callMs;
    this.#signal = signal;
    this.#trace = parseTraceparent(traceparent);
    this.#tracedTools = tracedTools;
  }

  /** Binds the connection to the assignment and takes over its sequence. @throws RpcError. */
  async adopt(assignmentSecret: Buffer, pid: number): Promise<void> {
    const answer = await this.#repeat(Store.adopt, { fence: this.#fence, assignmentSecret, pid });
    this.#fence = answer.fence ?? this.#fence;
    this.#sequence = answer.lastSequence;
  }

  /** Reads the transcript after a row, from the start by default. The loop throws RpcError. */
  async *readConversation(
    afterRow = 0n,
    includeCompacted = false,
  ): AsyncGenerator<ReadConversationResponse, void, void> {
    const request = { fence: this.#fence, afterRow, includeCompacted };
    yield* readStream(this.#client, Store.readConversation, request, this.#options(this.#callMs));
  }

  /** Commits one operation. @throws RpcError; a refusal uses no sequence number. */
  persist(operation: Operation): Promise<PersistResponse> {
    return this.#writes.run(async () => {
      if (this.#undecided !== undefined) throw this.#undecided;
      const sequence = this.#sequence + 1n;
      try {
        const request = { fence: this.#fence, sequence, operation: { operation } };
        const answer = await this.#repeat(Store.persist, request);
        this.#sequence = sequence;
        return answer;
      } catch (error) {
        if (isLost(error)) this.#undecided = error;
        throw error;
      }
    });
  }

  /** Ends the execution's store stream. @throws RpcError. */
  finish(): Promise<FinishExecutionResponse> {
    return this.#writes.run(() =>
      this.#repeat(Store.finishExecution, { fence: this.#fence, lastSequence: this.#sequence }),
    );
  }

  /** Sends a message of the turn's own agent. @throws RpcError with the reason of a refusal. */
  sendDirectMessage({
    target,
    body,
    requestId = "",
    inReplyTo = "",
    callId,
  }: OutgoingMessage): Promise<SendDirectMessageResponse> {
    // The call's header says which trace it belongs to.
    const request = { fence: this.#fence, requestId, target, body, inReplyTo, trace: undefined };
    return this.#repeat(Store.sendDirectMessage, request, this.#traceOf(callId));
  }

  /** Reads a delivery that the turn's own agent sent. @throws RpcError. */
  async getDelivery(deliveryId: string): Promise<Delivery> {
    const { delivery } = await this.#repeat(Store.getDelivery, { fence: this.#fence, deliveryId });
    if (delivery === undefined) throw new RpcError("MALFORMED_MESSAGE", { message: "The answer holds no delivery." });
    return delivery;
  }

  /**
   * Gives a task to a child turn and waits for its end, for as long as it takes; a lost stream is taken up again.
   * @param childId unique in the turn.
   * @param from the turn's signal, and the tool call that gives the task
   * @throws RpcError with the reason of a refusal; the signal's reason.
   */
  async runChild(
    childId: string,
    task: string,
    from: { readonly signal: AbortSignal; readonly callId: string | undefined },
  ): Promise<ChildEnded> {
    const trace = this.#traceOf(from.callId);
    const options = {
      clock: this.#clock,
      signal: AbortSignal.any([from.signal, this.#signal]),
      ...(trace === undefined ? {} : { trace }),
    };
    let deadline = this.#clock.monotonic() + this.#callMs;
    for (;;) {
      try {
        const request = { fence: this.#fence, childId, task };
        for await (const { update } of readStream(this.#client, Store.runChild, request, options)) {
          if (update?.$case === "ended") return update.value;
          deadline = this.#clock.monotonic() + this.#callMs;
        }
        throw new RpcError("MALFORMED_MESSAGE", { message: "The stream of a child turn ended before the child." });
      } catch (error) {
        const again = RpcError.is(error, "UNAVAILABLE") || RpcError.is(error, "STORAGE_UNAVAILABLE");
        if (!again || options.signal.aborted || this.#clock.monotonic() >= deadline) throw error;
        await new Promise<void>((resolve) => this.#clock.after(REPEAT_AFTER_MS, resolve));
      }
    }
  }

  async #repeat<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    trace = this.#trace,
  ): Promise<Response> {
    const deadline = this.#clock.monotonic() + this.#callMs;
    for (;;) {
      const leftMs = deadline - this.#clock.monotonic();
      try {
        return await unaryCall(this.#client, method, request, this.#options(Math.max(1, leftMs), trace));
      } catch (error) {
        const again = RpcError.is(error, "UNAVAILABLE") || RpcError.is(error, "STORAGE_UNAVAILABLE");
        if (!again || this.#clock.monotonic() + REPEAT_AFTER_MS >= deadline) throw error;
        await new Promise<void>((resolve) => {
          this.#clock.after(REPEAT_AFTER_MS, resolve);
        });
      }
    }
  }

  #options(timeoutMs: number, trace = this.#trace): ClientCallOptions {
    const options = { timeoutMs, clock: this.#clock, signal: this.#signal };
    return trace === undefined ? options : { ...options, trace };
  }

  /** Where what a tool call does stands in the turn's trace. */
  #traceOf(callId: string | undefined): TraceContext | undefined {
    if (this.#trace === undefined || callId === undefined || !this.#tracedTools) return this.#trace;
    return { ...this.#trace, spanId: spanIdOfName(SPAN_NAMES.tool(this.#fence.executionId, shownCallId(callId))) };
  }
}

/** Whether a call failed in a way that leaves open whether it was carried out. */
function isLost(error: unknown): error is RpcError {
  return (
    RpcError.is(error, "UNAVAILABLE") ||
    RpcError.is(error, "DEADLINE_EXCEEDED") ||
    RpcError.is(error, "CANCELLED") ||
    RpcError.is(error, "OWNER_LOST")
  );
}
