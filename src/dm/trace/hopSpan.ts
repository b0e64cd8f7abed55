import type { Clock } from "../../base/clock.js";
import { rpcAttributes } from "../../rpc/harness/callSpan.js";
import type { RpcError } from "../../rpc/rpcError.js";
import type { SpanRecord } from "../../rpc/tracing/spanRecord.js";
import type { Tracer } from "../../rpc/tracing/tracer.js";
import type { TraceContext } from "../../rpc/traceContext.js";

/** One message's part in a call between gateways. */
export interface Hop {
  /** Its position: what the other gateway's side of it is below. */
  readonly at: TraceContext;
  /** Tells the span, with the error that the message met, if one did; once. */
  readonly end: (error?: RpcError) => void;
}

/** What a hop is told with. */
export interface HopParts {
  readonly tracer: Tracer;
  readonly clock: Pick<Clock, "now">;
}

/** What is told of a hop besides its times. */
export interface HopFacts {
  readonly kind: SpanRecord["kind"];
  /** Full name of the method, with its leading slash. */
  readonly method: string;
  /** What this gateway calls the other one. */
  readonly peer: string;
  readonly parent: TraceContext | undefined;
}

/**
 * Begins one message's part in a call: where a call carries many messages, each one's trace still goes on through it.
 */
export function beginHop({ tracer, clock }: HopParts, { kind, method, peer, parent }: HopFacts): Hop {
  const at = tracer.below(parent);
  const startMs = clock.now();
  return {
    at,
    end(error) {
      if (!tracer.enabled) return;
      tracer.record({
        name: method.slice(1),
        kind,
        at,
        parentSpanId: parent?.spanId,
        startMs,
        endMs: Math.max(startMs, clock.now()),
        attributes: { ...rpcAttributes(method, error), "talaria.peer": peer },
        ...(error === undefined ? {} : { error: error.reason }),
      });
    },
  };
}
