import { createHash } from "node:crypto";

import type { Clock } from "../../base/clock.js";
import type { ProcessTable } from "../../base/processTable.js";
import type { Random } from "../../base/random.js";
import type { Fence } from "../../gen/talaria/owner/v1/execution_store_service.js";
import { ExecutionStoreServiceService, StoreOperation } from "../../gen/talaria/owner/v1/execution_store_service.js";
import type { Connection } from "../../rpc/connection.js";
import type { ServiceImplementation } from "../../rpc/harness/implementService.js";
import { implementService } from "../../rpc/harness/implementService.js";
import { defineServerStream, defineUnary } from "../../rpc/harness/methods.js";
import { invalidField, reasonError, RpcError } from "../../rpc/rpcError.js";
import { formatTraceparent } from "../../rpc/traceContext.js";
import { toTimestamp } from "../../rpc/wire/times.js";
import type { Store } from "../../store/store.js";
import { adoptExecution } from "../../store/turns/adoptExecution.js";
import type { StoredFence } from "../../store/turns/fence.js";
import { finishExecution } from "../../store/turns/finishExecution.js";
import { persistOperation } from "../../store/turns/persistOperation.js";
import type { OperationRefusal } from "../../store/turns/storeOperation.js";
import type { WorkerLink } from "../attach/workerLink.js";
import { runChild } from "../children/runChild.js";
import { provesConnection } from "../identity/provesConnection.js";
import { toOutcome } from "../records/turnRecord.js";
import { adoptionDigest } from "../turn/adoptionDigest.js";
import { agentAuthor } from "../turn/agentAuthor.js";
import type { TurnRun } from "../turn/turnRun.js";
import { fenceError } from "./fenceError.js";
import type { MessageOrigin, MessagePort } from "./messagePort.js";
import { planOperation } from "./planOperation.js";
import { readConversation } from "./readConversation.js";

/** Most bytes of an answer in chunks. */
const MAX_ANSWER_BYTES = 67_108_864;

/** What the service works with. */
export interface ExecutionStoreParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly table: ProcessTable;
  /** The running turn with an execution id. */
  readonly turn: (executionId: string) => TurnRun | undefined;
  readonly messages: MessagePort;
}

/**
 * Serves a worker's way to its session's store. A call must come over the connection that was last to adopt the execution, and
 * its fence is checked again in the transaction that writes. Any connection of the proved process may adopt while Attach lasts.
 */
export function executionStoreService(parts: ExecutionStoreParts): ServiceImplementation {
  const { store, clock, messages, table } = parts;
  const adopted = new WeakMap<Connection, TurnRun>();
  const newest = new WeakMap<TurnRun, Connection>();

  const turnOn = (connection: Connection, fence: StoredFence): TurnRun => {
    const turn = adopted.get(connection);
    if (turn === undefined || turn.fence.executionId !== fence.executionId) throw new RpcError("PERMISSION_DENIED");
    if (fence.epoch !== turn.fence.epoch) throw new RpcError("STALE_EPOCH");
    if (fence.generation !== turn.fence.generation) throw new RpcError("STALE_GENERATION");
    if (newest.get(turn) !== connection) throw new RpcError("ADOPTION_REPLACED");
    return turn;
  };

  return implementService(ExecutionStoreServiceService, {
    adopt: defineUnary({
      async handle(request, { connection }) {
        const fence = fenceOf(request.fence);
        const turn = parts.turn(fence.executionId);
        const link = turn?.link;
        if (turn === undefined || link === undefined) throw new RpcError("UNKNOWN_EXECUTION");
        const { evidence } = link;
        if (evidence.process.pid !== request.pid) throw new RpcError("ADOPTION_MISMATCH");
        if (link.connection !== connection && !provesConnection(connection.peer, evidence, table)) {
          throw new RpcError("ADOPTION_MISMATCH");
        }
        if (!isAttached(turn, link)) throw new RpcError("EXECUTION_ENDED");
        const result = await store.writer.execute(adoptExecution, {
          fence,
          epoch: store.epoch,
          adoptionDigest: adoptionDigest(request.assignmentSecret, fence, evidence.process),
        });
        if (result.kind === "stale") throw fenceError(result.problem);
        if (result.kind === "mismatch") throw new RpcError("ADOPTION_MISMATCH");
        // The stream may have broken meanwhile, which is a loss, or the connection, which leaves the one before in its place.
        if (!isAttached(turn, link)) throw new RpcError("EXECUTION_ENDED");
        if (connection.closed) throw new RpcError("CANCELLED");
        turn.adopted();
        adopted.set(connection, turn);
        newest.set(turn, connection);
        return {
          fence: request.fence,
          lastSequence: BigInt(result.lastSequence),
          sessionRevision: BigInt(result.sessionRevision),
        };
      },
    }),
    readConversation: defineServerStream({
      handle(request, { connection }) {
        const turn = turnOn(connection, fenceOf(request.fence));
        return readConversation(store.reader, turn.claimed.input.session_id, {
          afterRow: Number(request.afterRow),
          includeCompacted: request.includeCompacted,
        });
      },
    }),
    persist: defineUnary({
      async handle(request, { connection }) {
        const fence = fenceOf(request.fence);
        const turn = turnOn(connection, fence);
        const operation = planOperation(request.operation, {
          author: agentAuthor(turn.claimed.agent),
          executionId: fence.executionId,
        });
        const sequence = safeNumber(request.sequence, "sequence");
        const own = request.operation?.operation?.$case === "recordUsage" && operation.kind === "usage";
        const takeBack = own ? turn.usage.count(sequence, operation) : undefined;
        const persist = store.writer.execute(persistOperation, {
          fence,
          epoch: store.epoch,
          sequence,
          digest: digestOf(request.operation),
          operation,
          maxAnswerBytes: MAX_ANSWER_BYTES,
          now: clock.now(),
        });
        persist.catch(() => takeBack?.());
        const result = await persist;
        if (result.kind !== "committed") takeBack?.();
        switch (result.kind) {
          case "committed":
            return {
              sequence: request.sequence,
              sessionRevision: BigInt(result.sessionRevision),
              firstRow: BigInt(result.firstRow),
              replayed: result.replayed,
            };
          case "sequence_gap":
            throw new RpcError("STALE_SEQUENCE", {
              message: `The next operation has sequence ${String(result.lastSequence + 1)}.`,
              metadata: { last_sequence: String(result.lastSequence) },
            });
          case "sequence_conflict":
            throw new RpcError("SEQUENCE_CONFLICT");
          case "refused":
            throw refusalError(result.problem);
          case "stale":
            throw fenceError(result.problem);
        }
      },
    }),
    finishExecution: defineUnary({
      async handle(request, { connection }) {
        const fence = fenceOf(request.fence);
        turnOn(connection, fence);
        const result = await store.writer.execute(finishExecution, {
          fence,
          epoch: store.epoch,
          lastSequence: safeNumber(request.lastSequence, "last_sequence"),
        });
        if (result.kind === "stale") throw fenceError(result.problem);
        if (result.kind === "sequence_gap") {
          throw new RpcError("STALE_SEQUENCE", { metadata: { last_sequence: String(result.lastSequence) } });
        }
        return { outcome: toOutcome(result.outcome), endedAt: toTimestamp(result.endedAt) };
      },
    }),
    sendDirectMessage: defineUnary({
      async handle(request, { connection, joinTrace }) {
        const turn = turnOn(connection, fenceOf(request.fence));
        if (turn.phase !== "running") throw new RpcError("EXECUTION_ENDED");
        const traceparent = formatTraceparent(joinTrace(request.trace?.traceparent ?? ""));
        const tracestate = request.trace?.tracestate ?? turn.claimed.input.tracestate;
        return messages.sendFromTurn(originOf(turn), { ...request, trace: { traceparent, tracestate } });
      },
    }),
    runChild: defineServerStream({
      async *handle(request, { connection, signal, joinTrace }) {
        const turn = turnOn(connection, fenceOf(request.fence));
        if (turn.phase !== "running") throw new RpcError("EXECUTION_ENDED");
        yield* runChild(parts, turn, request, { signal, trace: joinTrace("") });
      },
    }),
    getDelivery: defineUnary({
      async handle(request, { connection }) {
        const turn = turnOn(connection, fenceOf(request.fence));
        return { delivery: await messages.getFromTurn(originOf(turn), request.deliveryId) };
      },
    }),
  });
}

/** Whether a turn still has the stream of this worker. */
function isAttached(turn: TurnRun, link: WorkerLink): boolean {
  return turn.link === link && !link.ended;
}

function fenceOf(fence: Fence | undefined): StoredFence {
  if (fence === undefined) throw invalidField("fence", "is required");
  return {
    executionId: fence.executionId,
    epoch: safeNumber(fence.epoch, "fence.epoch"),
    generation: safeNumber(fence.generation, "fence.generation"),
  };
}

function safeNumber(value: bigint, field: string): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw invalidField(field, "is too large");
  return Number(value);
}

/** Over our own encoding of what was understood, so that one content has one digest whoever encoded it. */
function digestOf(operation: StoreOperation | undefined): Buffer {
  return createHash("sha256")
    .update(operation === undefined ? Buffer.alloc(0) : StoreOperation.encode(operation).finish())
    .digest();
}

function originOf(turn: TurnRun): MessageOrigin {
  const { agent, title, input } = turn.claimed;
  return { agent, sessionId: input.session_id, title, depth: input.depth, inputAuthorId: input.author_id };
}

function refusalError(problem: OperationRefusal): RpcError {
  switch (problem) {
    case "stale_revision":
      return new RpcError("STALE_REVISION");
    case "no_such_rows":
      return invalidField("operation.compact_conversation.last_row", "is no row of the session");
    case "bot_chat_title":
      return reasonError("SESSION_PROTECTED");
    case "answer_too_long":
      return invalidField("operation.append_answer_chunk.text", "makes the answer longer than 64 MiB");
  }
}
