import { cutToCodePoints } from "../../base/codePoints.js";
import type { Clock } from "../../base/clock.js";
import type { SecretRegistry } from "../../base/secretRegistry.js";
import type { TurnEvent } from "../../gen/talaria/types/v1/event.js";
import { SPAN_NAMES } from "../../rpc/tracing/spanNames.js";
import type { SpanAttributes } from "../../rpc/tracing/spanRecord.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import { formatTraceparent, type TraceContext } from "../../rpc/traceContext.js";
import type { Store } from "../../store/store.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import { executionRow } from "../../store/turns/executionRow.js";
import { inputRow } from "../../store/turns/inputRow.js";
import type { WorkerFrame } from "../attach/workerLink.js";
import { modelCallSpan } from "./modelCallSpan.js";
import {
  agentSpan,
  turnAttributes,
  turnPlace,
  turnSpan,
  tracedEnd,
  type TracedEnd,
  type TurnPlace,
} from "./turnSpans.js";

/** What a turn's trace is made from. */
export interface TurnTraceParts {
  readonly tracer: Tracer;
  readonly clock: Clock;
  readonly secrets: Pick<SecretRegistry, "hide">;
  readonly store: Pick<Store, "reader">;
}

/** What a worker is told of its turn's trace. */
export interface WorkerTrace {
  readonly traceparent: string;
  /** Whether it shall tell of its model calls. */
  readonly traceWork: boolean;
}

/** Longest name of a tool that is told, code points. */
const NAME_CODE_POINTS = 128;
/** Tool calls that may be open at once; a worker that opens more is not followed further. */
const OPEN_TOOLS = 1_024;

/** The spans of one execution: of its phases, of its agent's work, and of the model and tool calls in that. Never throws but for frames. */
export class TurnTrace {
  readonly #parts: TurnTraceParts;
  readonly #executionId: string;
  readonly #claimed: ClaimedInput;
  readonly #place: TurnPlace;
  readonly #attributes: SpanAttributes;
  readonly #claimedAt: number;
  readonly #tools = new Map<string, { readonly name: string; readonly startMs: number }>();
  #assignedAt: number | undefined;
  #readyAt: number | undefined;
  #settled: { readonly at: number; readonly end: TracedEnd } | undefined;

  /** Begins as the input leaves its queue. */
  constructor(parts: TurnTraceParts, executionId: string, claimed: ClaimedInput) {
    const { input, agent, retry } = claimed;
    this.#parts = parts;
    this.#executionId = executionId;
    this.#claimed = claimed;
    this.#place = turnPlace(parts.tracer, executionId, input);
    this.#attributes = turnAttributes(executionId, input, agent);
    this.#claimedAt = parts.clock.now();
    // The retry of a message's turn has not waited since its input was queued first.
    if (retry === undefined) this.#phase("queued", input.queued_at, this.#claimedAt);
  }

  /** What the worker is told. */
  get worker(): WorkerTrace {
    const { agent } = this.#place;
    return { traceparent: formatTraceparent(agent), traceWork: this.#recorded };
  }

  /** A worker is given the turn; another one again, where the first one died before it began. */
  assigned(): void {
    this.#assignedAt = this.#parts.clock.now();
  }

  /** Takes in a frame of the worker's. @throws RpcError FRAME_INVALID. */
  frame(frame: WorkerFrame): void {
    if (!this.#recorded) return;
    const { tracer, secrets, clock } = this.#parts;
    switch (frame.$case) {
      case "ready":
        this.#readyAt = clock.now();
        this.#begun(this.#readyAt);
        return;
      case "events":
        for (const event of frame.value.events) this.#event(event);
        return;
      case "modelCalled":
        tracer.record(modelCallSpan(frame.value, this.#place.agent, (text) => secrets.hide(text)));
        return;
      default:
        return;
    }
  }

  /** The outcome is stored. */
  settled(): void {
    if (!this.#recorded || this.#settled !== undefined) return;
    const { store, tracer, clock } = this.#parts;
    const { reader } = store;
    const at = clock.now();
    const end = tracedEnd(executionRow(reader, this.#executionId), inputRow(reader, this.#claimed.input.input_id));
    this.#settled = { at, end };
    for (const [callId, tool] of this.#tools) this.#tool(callId, tool, at, true);
    this.#tools.clear();
    if (this.#readyAt === undefined) this.#begun(at);
    if (this.#assignedAt === undefined) return;
    tracer.record(agentSpan(this.#place, { startMs: this.#assignedAt, endMs: at }, this.#attributes, end.error));
  }

  /** Nothing of the turn is left. */
  ended(): void {
    if (!this.#recorded) return;
    const { tracer, clock } = this.#parts;
    const endMs = clock.now();
    // A turn whose outcome could not be stored is settled, and told, by the next start.
    if (this.#settled === undefined) return;
    const { at, end } = this.#settled;
    this.#phase("finish", at, endMs);
    const { queued_at: queuedAt } = this.#claimed.input;
    const startMs = this.#claimed.retry === undefined ? queuedAt : this.#claimedAt;
    tracer.record(turnSpan(this.#place, { startMs, endMs }, this.#attributes, end));
  }

  get #recorded(): boolean {
    return this.#parts.tracer.enabled && this.#place.turn.sampled;
  }

  /** The phases up to the worker's readiness are over. */
  #begun(at: number): void {
    this.#phase("launch", this.#claimedAt, this.#assignedAt ?? at);
    if (this.#assignedAt !== undefined) this.#phase("bootstrap", this.#assignedAt, at, this.#place.agent);
  }

  #phase(name: string, startMs: number, endMs: number, parent: TraceContext = this.#place.turn): void {
    if (!this.#recorded) return;
    const { tracer } = this.#parts;
    const at = tracer.below(parent);
    const end = Math.max(startMs, endMs);
    tracer.record({
      name: `talaria.turn.${name}`,
      kind: "internal",
      at,
      parentSpanId: parent.spanId,
      startMs,
      endMs: end,
      attributes: { "talaria.execution.id": this.#executionId },
    });
  }

  #event({ event }: TurnEvent): void {
    const now = this.#parts.clock.now();
    if (event?.$case === "toolStarted") {
      const { toolCallId, name } = event.value;
      if (this.#tools.size < OPEN_TOOLS) this.#tools.set(toolCallId, { name, startMs: now });
    } else if (event?.$case === "toolCompleted") {
      const { toolCallId, isError } = event.value;
      const tool = this.#tools.get(toolCallId);
      if (tool === undefined) return;
      this.#tools.delete(toolCallId);
      this.#tool(toolCallId, tool, now, isError);
    }
  }

  /** Source: OpenTelemetry's conventions for generative AI, "Execute tool span"; without arguments and result. */
  #tool(
    callId: string,
    tool: { readonly name: string; readonly startMs: number },
    endMs: number,
    failed: boolean,
  ): void {
    const { tracer, secrets } = this.#parts;
    const { agent } = this.#place;
    const name = cutToCodePoints(secrets.hide(tool.name), NAME_CODE_POINTS);
    tracer.record({
      name: `execute_tool ${name}`,
      kind: "internal",
      at: tracer.named(agent, SPAN_NAMES.tool(this.#executionId, callId)),
      parentSpanId: agent.spanId,
      startMs: tool.startMs,
      endMs: Math.max(tool.startMs, endMs),
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "talaria.execution.id": this.#executionId,
        ...(failed ? { "error.type": "tool_error" } : {}),
      },
      ...(failed ? { error: "tool_error" } : {}),
    });
  }
}
