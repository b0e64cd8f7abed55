import { generalReasons } from "./reasons/generalReasons.js";
import { messageReasons } from "./reasons/messageReasons.js";
import type { ReasonEntry } from "./reasons/reasonEntry.js";
import { turnReasons } from "./reasons/turnReasons.js";
import { workerReasons } from "./reasons/workerReasons.js";

/**
 * The one registry of reasons: why a call was refused, a turn ended or a delivery failed. The protobuf enum and the page
 * `docs/errors.md` are written from it; a reason that is in use is never renumbered or renamed.
 */
export const reasons = { ...generalReasons, ...turnReasons, ...workerReasons, ...messageReasons };

/** Name of a reason, as it travels in `google.rpc.ErrorInfo.reason`. */
export type Reason = keyof typeof reasons;

/** Names of the `{placeholders}` in a message. */
type PlaceholderOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholderOf<Rest>
  : never;

/** Names of the parameters that the message of a reason needs. */
export type ReasonParameter<R extends Reason> = PlaceholderOf<(typeof reasons)[R]["message"]>;

/** The fixed facts of a reason. */
export function reasonEntry(reason: Reason): ReasonEntry {
  return reasons[reason];
}

/** Whether a text, for example one from the wire, names a reason of this registry. */
export function isReason(text: string): text is Reason {
  return Object.hasOwn(reasons, text);
}

const byNumber = new Map<number, Reason>(
  Object.entries(reasons).map(([name, entry]): [number, Reason] => [entry.number, name as Reason]),
);

/** The reason with a number of the protobuf enum; undefined for 0 and for numbers of later versions. */
export function reasonOfNumber(number: number): Reason | undefined {
  return byNumber.get(number);
}
