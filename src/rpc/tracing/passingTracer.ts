import type { Random } from "../../base/random.js";
import { startTrace } from "../traceContext.js";
import type { Tracer } from "./tracer.js";

/**
 * Records nothing and names no span of its own: a caller's position is passed on as it is, so that traces hold together across a gateway
 * that takes no part in them. A trace that begins here says that nobody has recorded its beginning.
 */
export function passingTracer(random: Random): Tracer {
  return {
    enabled: false,
    below: (parent) => parent ?? { ...startTrace(random), sampled: false },
    named: (parent) => parent,
    record: () => undefined,
  };
}
