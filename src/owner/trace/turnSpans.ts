import { SPAN_NAMES } from "../../rpc/tracing/spanNames.js";
import type { SpanAttributes, SpanRecord } from "../../rpc/tracing/spanRecord.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import { parseTraceparent, type TraceContext } from "../../rpc/traceContext.js";
import { failureFromColumn } from "../../store/storedFailure.js";
import type { ExecutionRow } from "../../store/turns/executionRow.js";
import type { InputRow } from "../../store/turns/inputRow.js";

/** Where a turn stands in its trace. */
export interface TurnPlace {
  /** What the turn is below; undefined where its input was stored without a trace. */
  readonly parent: TraceContext | undefined;
  /** The turn as a whole. */
  readonly turn: TraceContext;
  /** The work of its agent, which is below it: what the worker is told. */
  readonly agent: TraceContext;
}

/** The facts of an input that its place follows from. */
export type TracedInput = Pick<InputRow, "delivery_id" | "in_reply_to" | "request_id" | "traceparent">;

/**
 * The place of an execution. A turn of a message, and one that tells of a message's end, is below that message: a night in the queue, or
 * at another gateway, is no end of the trace.
 */
export function turnPlace(tracer: Tracer, executionId: string, input: TracedInput): TurnPlace {
  const stored = parseTraceparent(input.traceparent);
  if (stored === undefined) {
    const turn = tracer.below(undefined);
    return { parent: undefined, turn, agent: tracer.named(turn, SPAN_NAMES.agent(executionId)) };
  }
  const message = messageOf(input);
  const parent = message === undefined ? stored : tracer.named(stored, message);
  const turn = tracer.named(parent, SPAN_NAMES.turn(executionId));
  return { parent, turn, agent: tracer.named(turn, SPAN_NAMES.agent(executionId)) };
}

/** Name of the message's span that an input belongs to: such inputs are queued under its id and attempt epoch. */
function messageOf({
  delivery_id: carried,
  in_reply_to: told,
  request_id: requestId,
}: TracedInput): string | undefined {
  const deliveryId = carried ?? told;
  if (deliveryId === null || !requestId.startsWith(`${deliveryId}.`)) return undefined;
  return SPAN_NAMES.delivery(deliveryId, Number(requestId.slice(deliveryId.length + 1).split(".", 1)[0]));
}

/** How a turn ended. */
export interface TracedEnd {
  /** In one word. */
  readonly outcome: string;
  /** Why, where it did not complete. */
  readonly error?: string;
}

/** How an execution ended, as the store has it. */
export function tracedEnd(execution: ExecutionRow | undefined, input: InputRow | undefined): TracedEnd {
  const outcome = execution?.outcome ?? "unknown";
  if (outcome === "completed") return { outcome };
  const own = input?.execution_id === execution?.execution_id ? (input?.failure ?? null) : null;
  return { outcome, error: failureFromColumn(own)?.reason ?? outcome.toUpperCase() };
}

/** What every span of a turn says of it. */
export function turnAttributes(executionId: string, input: InputRow, agent: string): SpanAttributes {
  return {
    "gen_ai.agent.name": agent,
    "gen_ai.conversation.id": input.session_id,
    "talaria.input.id": input.input_id,
    "talaria.execution.id": executionId,
    "talaria.depth": input.depth,
    ...(input.delivery_id === null ? {} : { "talaria.delivery.id": input.delivery_id }),
  };
}

/** The span of a turn as a whole. */
export function turnSpan(
  { parent, turn }: TurnPlace,
  times: { readonly startMs: number; readonly endMs: number },
  attributes: SpanAttributes,
  { outcome, error }: TracedEnd,
): SpanRecord {
  return {
    name: "talaria.turn",
    kind: "internal",
    at: turn,
    parentSpanId: parent?.spanId,
    ...times,
    attributes: { ...attributes, "talaria.turn.outcome": outcome, ...errorType(error) },
    ...(error === undefined ? {} : { error }),
  };
}

/** The span of an agent's work. Source: OpenTelemetry's conventions for generative AI, "Invoke agent span". */
export function agentSpan(
  { turn, agent }: TurnPlace,
  times: { readonly startMs: number; readonly endMs: number },
  attributes: SpanAttributes,
  error: string | undefined,
): SpanRecord {
  return {
    name: `invoke_agent ${String(attributes["gen_ai.agent.name"])}`,
    kind: "internal",
    at: agent,
    parentSpanId: turn.spanId,
    ...times,
    attributes: { ...attributes, "gen_ai.operation.name": "invoke_agent", ...errorType(error) },
    ...(error === undefined ? {} : { error }),
  };
}

function errorType(error: string | undefined): SpanAttributes {
  return error === undefined ? {} : { "error.type": error };
}
