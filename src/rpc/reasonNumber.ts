import { Reason as WireReason } from "../gen/talaria/reason/v1/reason.js";
import type { Reason } from "./reasons.js";

/** The value of the protobuf enum for a reason. Its inverse is `reasonOfNumber`. */
export function reasonNumber(reason: Reason): WireReason {
  return WireReason[`REASON_${reason}`];
}
