import { RpcError } from "../rpc/rpcError.js";
import { StopCause } from "../gen/talaria/owner/v1/owner_service.js";

/** Holds the first Stop of the turn, in whatever phase it came. Later ones change nothing. */
export interface StopLatch {
  /** Aborts with the first Stop; its reason is an RpcError TURN_STOPPED. */
  readonly signal: AbortSignal;
  /** Why the turn is stopped; undefined while it is not. */
  readonly cause: StopCause | undefined;
  /** Whether Stop has come; a function, because it may come during any wait. */
  isStopped(): boolean;
  /** Latches. @returns whether this was the first Stop. */
  stop(cause: StopCause): boolean;
}

/** Makes a latch that is open. */
export function createStopLatch(): StopLatch {
  const controller = new AbortController();
  let latched: StopCause | undefined;
  return {
    signal: controller.signal,
    get cause() {
      return latched;
    },
    isStopped: () => latched !== undefined,
    stop(cause) {
      if (latched !== undefined) return false;
      latched = cause;
      controller.abort(new RpcError("TURN_STOPPED", { metadata: { cause: stopCauseName(cause) } }));
      return true;
    },
  };
}

/** A cause as a word for logs and texts: `client`, `turn limit`, `draining` and so on. */
export function stopCauseName(cause: StopCause): string {
  switch (cause) {
    case StopCause.STOP_CAUSE_CLIENT:
      return "client";
    case StopCause.STOP_CAUSE_TURN_LIMIT:
      return "turn limit";
    case StopCause.STOP_CAUSE_IDLE:
      return "no progress";
    case StopCause.STOP_CAUSE_MEMORY:
      return "memory";
    case StopCause.STOP_CAUSE_DRAINING:
      return "draining";
    case StopCause.STOP_CAUSE_MESSAGE_CANCELLED:
      return "message cancelled";
    case StopCause.STOP_CAUSE_PARENT_ENDED:
      return "parent ended";
    default:
      return "unknown";
  }
}
