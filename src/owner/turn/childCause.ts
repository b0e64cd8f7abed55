import { StopCause } from "../../gen/talaria/owner/v1/owner_service.js";

/** What a turn's children are stopped for when it is stopped. */
export function childCause(cause: StopCause): StopCause {
  return cause === StopCause.STOP_CAUSE_DRAINING ? cause : StopCause.STOP_CAUSE_PARENT_ENDED;
}
