import type { StoredFailure } from "../storedFailure.js";

/** The recipient's turn ended badly and said nothing more. Names of reasons are those of the registry. */
export const TURN_FAILED: StoredFailure = {
  reason: "TURN_FAILED",
  message: "The recipient's turn failed.",
  hint: "A dead letter can be sent again.",
  retryable: false,
};

/** Nobody can tell whether the turn did its work. */
export const OUTCOME_UNKNOWN: StoredFailure = {
  reason: "OUTCOME_UNKNOWN",
  message: "Nobody can tell whether the message's turn did its work.",
  hint: "Look at the recipient's transcript before sending it again.",
  retryable: false,
};

/** The message's time ran out. */
export const MESSAGE_EXPIRED: StoredFailure = {
  reason: "MESSAGE_EXPIRED",
  message: "The message expired before its turn started.",
  hint: "Send it again with a later expiry.",
  retryable: false,
};

/** The sender or an operator withdrew the message. */
export const CANCELLED_BY_SENDER: StoredFailure = {
  reason: "CANCELLED_BY_SENDER",
  message: "The sender cancelled the message.",
  hint: "Nothing needs doing.",
  retryable: false,
};

/** A connector was handed the message and never accepted it. */
export const LEASE_LAPSED: StoredFailure = {
  reason: "LEASE_LOST",
  message: "The connector was given the message and did not accept it in time.",
  hint: "Check the recipient's machine; a dead letter can be sent again.",
  retryable: true,
};
