import type { Clock } from "../../base/clock.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import { findSession } from "../../store/queries/sessions.js";
import type { Store } from "../../store/store.js";
import type { ExecutionRow } from "../../store/turns/executionRow.js";
import { executionRow } from "../../store/turns/executionRow.js";
import { inputRow } from "../../store/turns/inputRow.js";
import { agentSpan, tracedEnd, turnAttributes, turnPlace, turnSpan } from "./turnSpans.js";

/** What {@link traceRecovered} works with. */
export interface RecoveredTurnParts {
  readonly tracer: Tracer;
  readonly store: Pick<Store, "reader">;
  readonly clock: Clock;
}

/**
 * Tells the spans of a turn that an earlier start could not tell, because it died: those that it did tell hang below them. To be called
 * once the turn is settled. @param execution as the earlier start has left it
 */
export function traceRecovered({ tracer, store, clock }: RecoveredTurnParts, execution: ExecutionRow): void {
  if (!tracer.enabled) return;
  const { execution_id: executionId } = execution;
  const settled = executionRow(store.reader, executionId);
  const input = inputRow(store.reader, execution.input_id);
  // Nothing of a turn that waits again had started, so there is nothing to tell.
  if (settled === undefined || settled.outcome === null || input === undefined) return;
  const place = turnPlace(tracer, executionId, input);
  const endMs = Math.max(settled.ended_at ?? clock.now(), execution.created_at);
  const end = tracedEnd(settled, input);
  const agent = findSession(store.reader, execution.session_id)?.agent ?? "";
  const attributes = { ...turnAttributes(executionId, input, agent), "talaria.turn.recovered": true };
  // An agent's work is told as soon as its outcome is stored.
  if (execution.outcome === null && execution.state !== "claimed") {
    tracer.record(agentSpan(place, { startMs: execution.created_at, endMs }, attributes, end.error));
  }
  tracer.record(turnSpan(place, { startMs: input.queued_at, endMs }, attributes, end));
}
