import type { Failure } from "../../gen/talaria/types/v1/failure.js";
import { reasonOfNumber } from "../../rpc/reasons.js";

/** A failure on one line: its reason and what happened; empty for none. */
export function failureText(failure: Failure | undefined): string {
  if (failure === undefined) return "";
  return `${reasonOfNumber(failure.reason) ?? failure.foreignReason} ${failure.message}`;
}
