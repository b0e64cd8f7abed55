import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import type { Random } from "../../base/random.js";
import type { Tracer } from "../tracing/tracer.js";
import type { CallObserver } from "./callObserver.js";

/** What a listener lends to the methods that it serves. */
export interface HarnessRuntime {
  /** Source of deadlines. */
  readonly clock: Clock;
  /** Source of request ids. */
  readonly random: Random;
  /** Parent of each call's logger. */
  readonly log: Logger;
  /** Aborts when the listener starts to drain. */
  readonly draining: AbortSignal;
  /** Deadline of unary and client-streaming calls that bring none, milliseconds. */
  readonly defaultDeadlineMs: number;
  /** Looks on; none where undefined. */
  readonly observe: CallObserver | undefined;
  /** Takes the spans of the calls. */
  readonly tracer: Tracer;
}
