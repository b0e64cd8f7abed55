import type { z } from "zod";

import { cutToCodePoints } from "../../base/codePoints.js";
import { leavesDoubt } from "../../rpc/leavesDoubt.js";
import type { Reason } from "../../rpc/reasons.js";
import { RpcError } from "../../rpc/rpcError.js";

/** What a model can put right by itself, by calling with other arguments. */
const CORRECTABLE: ReadonlySet<Reason> = new Set<Reason>([
  "INVALID_FIELD",
  "UNKNOWN_TARGET",
  "AMBIGUOUS_TARGET",
  "UNKNOWN_PEER",
  "TARGET_SELF",
  "EMPTY_BODY",
  "BODY_TOO_LONG",
  "IN_REPLY_TO_UNKNOWN",
  "UNKNOWN_DELIVERY",
]);

/** Facts of an error that help to choose another target: lists of forms that work. */
const HELPFUL = ["agents", "peers", "relays", "forms"] as const;
/** Longest of them, code points. */
const HELPFUL_CODE_POINTS = 1_024;

/** What was asked for: a send may have taken effect where its answer is missing, a look is repeated freely. */
export type MessageToolCall = "send" | "look";

/**
 * The text that a model reads where a message tool refused. `retry` is `never`, `after_change` (with other arguments), `later`, or
 * `no` where nobody knows whether the message was taken; `status` is then `unknown`, otherwise `refused`.
 */
export function refusalText(error: RpcError, call: MessageToolCall): string {
  const { reason, message, hint, wireReason, details } = error;
  const doubtful = call === "send" && leavesDoubt(error);
  const helpful = HELPFUL.flatMap((name) => {
    const value = details.metadata?.[name];
    return value === undefined || value === "" ? [] : [[name, cutToCodePoints(value, HELPFUL_CODE_POINTS)] as const];
  });
  return JSON.stringify({
    status: doubtful ? "unknown" : "refused",
    error: message,
    reason: wireReason ?? reason,
    retry: doubtful ? "no" : retryOf(error),
    ...(details.retryAfterMs === undefined || doubtful
      ? {}
      : { retry_after_seconds: Math.ceil(details.retryAfterMs / 1_000) }),
    hint,
    ...Object.fromEntries(helpful),
    detail: detailOf(call, doubtful),
  });
}

/** The text for arguments that are not what the tool takes. */
export function argumentRefusal(error: z.ZodError, call: MessageToolCall): string {
  const fieldViolations = error.issues.slice(0, 5).map(({ path, message }) => ({
    field: path.length === 0 ? "arguments" : path.join("."),
    description: message,
  }));
  const message = fieldViolations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  return refusalText(new RpcError("INVALID_FIELD", { message, fieldViolations }), call);
}

function retryOf(error: RpcError): "never" | "after_change" | "later" {
  if (error.details.metadata?.["retry"] === "never") return "never";
  if (error.retryable || leavesDoubt(error)) return "later";
  return CORRECTABLE.has(error.reason) ? "after_change" : "never";
}

function detailOf(call: MessageToolCall, doubtful: boolean): string {
  if (call === "look") return "Nothing was learned about the message.";
  return doubtful
    ? "It is not known whether the gateway took the message: say so, do not claim that it was delivered, and do not repeat it."
    : "The message was not delivered, and nobody has read it.";
}
