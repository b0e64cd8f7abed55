import { StopCause } from "../../gen/talaria/owner/v1/owner_service.js";
import type { Reason } from "../../rpc/reasons.js";

/** The reason that a turn's record gives for having been stopped. */
export function stopReason(cause: StopCause): Reason {
  switch (cause) {
    case StopCause.STOP_CAUSE_TURN_LIMIT:
      return "TURN_LIMIT";
    case StopCause.STOP_CAUSE_IDLE:
      return "TURN_IDLE";
    case StopCause.STOP_CAUSE_MEMORY:
      return "WORKER_MEMORY";
    case StopCause.STOP_CAUSE_DRAINING:
      return "DRAINING";
    case StopCause.STOP_CAUSE_MESSAGE_CANCELLED:
      return "CANCELLED_BY_SENDER";
    case StopCause.STOP_CAUSE_PARENT_ENDED:
      return "PARENT_ENDED";
    default:
      return "TURN_STOPPED";
  }
}

/** The reason of a turn that did not end when it was stopped: why it was stopped, where that was not a person's wish. */
export function forcedReason(cause: StopCause): Reason {
  const reason = stopReason(cause);
  return reason === "TURN_STOPPED" ? "TURN_STOP_TIMEOUT" : reason;
}
