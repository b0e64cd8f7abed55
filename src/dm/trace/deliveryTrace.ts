import { SPAN_NAMES } from "../../rpc/tracing/spanNames.js";
import type { SpanRecord } from "../../rpc/tracing/spanRecord.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import { parseTraceparent, type TraceContext } from "../../rpc/traceContext.js";
import { isEnded } from "../../store/deliveries/deliveryState.js";
import type { StoredDelivery } from "../../store/deliveries/storedDelivery.js";

/** What of a delivery its place in a trace follows from. */
export type TracedDelivery = Pick<StoredDelivery, "deliveryId" | "attemptEpoch" | "traceparent">;

/** Position of a message on its way: attempts, the recipient's turn and the sender's notice are below it. Undefined without a trace. */
export function deliveryPlace(tracer: Tracer, delivery: TracedDelivery): TraceContext | undefined {
  const stored = parseTraceparent(delivery.traceparent);
  if (stored === undefined) return undefined;
  return tracer.named(stored, SPAN_NAMES.delivery(delivery.deliveryId, delivery.attemptEpoch));
}

/** Ends that are remembered, so that a later change of a delivery that has ended is no second end. */
const REMEMBERED = 4_096;

/**
 * Tells the spans of messages: one for each, from its admission to its end, at either gateway. Source: OpenTelemetry's conventions for
 * messaging spans, without the body.
 */
export class DeliveryTrace {
  readonly #tracer: Tracer;
  readonly #told = new Set<string>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** Whether anything is told. */
  get enabled(): boolean {
    return this.#tracer.enabled;
  }

  /** Takes in a delivery that has changed, after the commit. */
  changed(delivery: StoredDelivery): void {
    const { deliveryId, attemptEpoch, state, endedAt } = delivery;
    if (!isEnded(state) || endedAt === undefined || delivery.updatedAt !== endedAt) return;
    const end = `${deliveryId}.${String(attemptEpoch)}.${state}`;
    if (this.#told.has(end)) return;
    this.#told.add(end);
    for (const oldest of this.#told) {
      if (this.#told.size <= REMEMBERED) break;
      this.#told.delete(oldest);
    }
    const span = deliverySpan(this.#tracer, delivery, endedAt);
    if (span !== undefined) this.#tracer.record(span);
  }
}

function deliverySpan(tracer: Tracer, delivery: StoredDelivery, endMs: number): SpanRecord | undefined {
  const at = deliveryPlace(tracer, delivery);
  const parent = parseTraceparent(delivery.traceparent);
  if (at === undefined || parent === undefined) return undefined;
  const { state, failure, route, recipientGateway, recipientAgent } = delivery;
  const inbound = route === "peer_inbound" || route === "relay_inbound";
  const error = state === "replied" || state === "silent" ? undefined : (failure?.reason ?? state.toUpperCase());
  const recipient = recipientGateway === "" ? recipientAgent : `${recipientGateway}/${recipientAgent}`;
  return {
    name: `${inbound ? "receive" : "send"} ${recipient}`,
    kind: inbound ? "consumer" : "producer",
    at,
    parentSpanId: parent.spanId,
    startMs: delivery.createdAt,
    endMs: Math.max(delivery.createdAt, endMs),
    attributes: {
      "messaging.system": "talaria",
      "messaging.operation.name": inbound ? "receive" : "send",
      "messaging.operation.type": inbound ? "receive" : "send",
      "messaging.destination.name": recipient,
      "messaging.message.id": delivery.deliveryId,
      "talaria.delivery.route": route,
      "talaria.delivery.state": state,
      "talaria.delivery.attempts": delivery.attempts,
      "talaria.delivery.attempt_epoch": delivery.attemptEpoch,
      "talaria.depth": delivery.depth,
      ...(error === undefined ? {} : { "error.type": error }),
    },
    ...(error === undefined ? {} : { error }),
  };
}
