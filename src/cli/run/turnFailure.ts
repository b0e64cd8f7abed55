import type { Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";
import { type Reason, reasonOfNumber } from "../../rpc/reasons.js";
import { CliError } from "../cliError.js";
import { localTime } from "../render/names.js";

/** What kind of failure a reason is, for people. */
const CLASSES: Partial<Record<Reason, string>> = {
  PROVIDER_QUOTA: "quota wall",
  PROVIDER_RATE_LIMIT: "rate limit",
  PROVIDER_AUTH: "credentials",
  PROVIDER_SERVER: "provider's server",
  PROVIDER_UNREACHABLE: "provider's server",
  MODEL_UNAVAILABLE: "model",
  CONTEXT_OVERFLOW: "context too long",
  RUNTIME_CONFIG: "configuration",
  AGENT_INVALID: "configuration",
  OUTCOME_UNKNOWN: "unknown outcome",
  OWNER_LOST: "unknown outcome",
  TURN_LIMIT: "out of time",
  TURN_IDLE: "out of time",
  WORKER_MEMORY: "memory limit",
};

/** The class of a failure: of the provider, of the worker, of configuration, of time. */
export function failureClass(reason: Reason | undefined): string {
  if (reason === undefined) return "unknown";
  return CLASSES[reason] ?? (reason.startsWith("WORKER_") || reason === "HEARTBEAT_MISSED" ? "lost worker" : "failure");
}

/**
 * Why a turn did not complete, as an error that is reported: class, when its limit resets, where billing is settled, and the ids
 * that lead to it.
 * @param nowMs the current time, milliseconds since the Unix epoch
 */
export function turnFailure(turn: Turn, nowMs: number): CliError {
  const { failure, result } = turn;
  const reason = failure === undefined ? undefined : reasonOfNumber(failure.reason);
  const billing = result?.billingBlock;
  const facts = {
    class: failureClass(reason),
    resets: resetText(failure?.resetsAt, nowMs),
    billing: billing?.billingUrl ?? "",
    provider: billing?.providerLabel ?? result?.provider ?? "",
    model: billing?.model ?? result?.model ?? "",
    session: turn.sessionId,
    execution: turn.executionId,
  };
  return new CliError(
    reason ?? "UNKNOWN_ERROR",
    failure?.message ?? "The turn did not complete.",
    failure?.hint ?? "",
    {
      facts: Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== "")),
      ...(failure === undefined || failure.foreignReason === "" ? {} : { foreignReason: failure.foreignReason }),
    },
  );
}

function resetText(at: Timestamp | undefined, nowMs: number): string {
  if (at === undefined) return "";
  const seconds = Number(at.seconds) - nowMs / 1_000;
  const iso = new Date(Number(at.seconds) * 1_000).toISOString();
  return seconds <= 0 ? `${iso}, which is past` : `${iso}, in ${spanText(seconds)} (${localTime(at)} here)`;
}

/** A span of time in its two largest units. */
export function spanText(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  const units = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "min"],
    [1, "s"],
  ] as const;
  const parts: string[] = [];
  let left = whole;
  for (const [size, unit] of units) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${String(count)} ${unit}`);
  }
  return parts.slice(0, 2).join(" ");
}
