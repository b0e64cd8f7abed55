import { CloseReason } from "../../gen/talaria/owner/v1/owner_service.js";
import type { ExecutionPhase } from "../phase/executionPhase.js";

/** What a worker is told of why the stream of its lost turn is closed. @param phase how the turn has ended. */
export function closeReason(phase: ExecutionPhase): CloseReason {
  return phase === "interrupted" ? CloseReason.CLOSE_REASON_STOPPED : CloseReason.CLOSE_REASON_PROTOCOL;
}
