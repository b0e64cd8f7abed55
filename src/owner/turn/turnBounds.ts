import type { Budgets } from "../../base/budgets.js";
import { Policy } from "../../gen/talaria/types/v1/policy.js";
import { fromDuration } from "../../rpc/wire/times.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import type { TurnBounds } from "./turnWatch.js";

/** The bounds of a turn: its agent's, else the home's; a turn that a message started has always some. */
export function turnBounds(claimed: ClaimedInput, budgets: Budgets): TurnBounds {
  const limits = Policy.decode(claimed.policy).limits;
  const message = claimed.input.delivery_id !== null;
  return {
    turnMs: fromDuration(limits?.turn) ?? (message ? budgets.dmTurnLimitMs : budgets.turnLimitMs),
    idleMs: fromDuration(limits?.idle) ?? (message ? budgets.dmNoProgressMs : budgets.noProgressMs),
    heartbeatMissedMs: budgets.heartbeatMissedMs,
  };
}
