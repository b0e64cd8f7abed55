import { Turn, TurnPhase } from "../../gen/talaria/gateway/v1/turn_service.js";
import { TurnOutcome, TurnResult } from "../../gen/talaria/types/v1/result.js";
import { toAuthor } from "../../rpc/wire/author.js";
import { toFailure } from "../../rpc/wire/failure.js";
import { toOptionalTimestamp, toTimestamp } from "../../rpc/wire/times.js";
import { failureFromColumn } from "../../store/storedFailure.js";
import type { ExecutionRow, ExecutionState } from "../../store/turns/executionRow.js";
import type { TurnRows } from "../../store/queries/turns.js";
import type { InputRow } from "../../store/turns/inputRow.js";
import { authorFromColumns } from "../../store/turns/storedAuthor.js";
import type { StoredOutcome } from "../../store/turns/storedOutcome.js";
import { usageOf } from "../result/usageOf.js";

const OUTCOMES: Readonly<Record<StoredOutcome, TurnOutcome>> = {
  completed: TurnOutcome.TURN_OUTCOME_COMPLETED,
  failed: TurnOutcome.TURN_OUTCOME_FAILED,
  interrupted: TurnOutcome.TURN_OUTCOME_INTERRUPTED,
  unknown: TurnOutcome.TURN_OUTCOME_UNKNOWN,
  cancelled: TurnOutcome.TURN_OUTCOME_CANCELLED,
};

const PHASES: Readonly<Record<ExecutionState, TurnPhase>> = {
  claimed: TurnPhase.TURN_PHASE_SPAWNED,
  assigned: TurnPhase.TURN_PHASE_BOOTSTRAPPED,
  adopted: TurnPhase.TURN_PHASE_RUNNING,
  result: TurnPhase.TURN_PHASE_FINISHING,
  finished: TurnPhase.TURN_PHASE_FINISHED,
  lost: TurnPhase.TURN_PHASE_LOST,
};

/** An outcome as the contract writes it. */
export function toOutcome(outcome: StoredOutcome | null): TurnOutcome {
  return outcome === null ? TurnOutcome.TURN_OUTCOME_UNSPECIFIED : OUTCOMES[outcome];
}

/** A turn as the contract writes it. */
export function toTurn({ input, execution, position }: TurnRows): Turn {
  const failure = failureFromColumn(input.failure);
  const receipt = execution?.result ?? null;
  const result = receipt === null ? undefined : TurnResult.decode(receipt);
  return Turn.fromPartial({
    inputId: input.input_id,
    sessionId: input.session_id,
    executionId: input.execution_id ?? "",
    requestId: input.request_id,
    author: toAuthor(authorFromColumns(input)),
    text: input.text,
    phase: phaseOf(input, execution),
    position,
    generation: BigInt(execution?.generation ?? 0),
    queuedAt: toTimestamp(input.queued_at),
    startedAt: toOptionalTimestamp(input.started_at),
    endedAt: toOptionalTimestamp(input.ended_at),
    outcome: toOutcome(input.outcome),
    failure: failure === undefined ? undefined : toFailure(failure),
    result,
    usage: result === undefined ? undefined : usageOf(result),
    deliveryId: input.delivery_id ?? "",
    inReplyTo: input.in_reply_to ?? "",
    depth: input.depth,
    trace: input.traceparent === "" ? undefined : { traceparent: input.traceparent, tracestate: input.tracestate },
  });
}

function phaseOf(input: InputRow, execution: ExecutionRow | undefined): TurnPhase {
  if (input.state === "queued") return TurnPhase.TURN_PHASE_QUEUED;
  if (execution === undefined) return TurnPhase.TURN_PHASE_INTERRUPTED;
  if (execution.state === "lost" && execution.outcome === "interrupted") return TurnPhase.TURN_PHASE_INTERRUPTED;
  return PHASES[execution.state];
}
