import { expect, test } from "vitest";

import { notBefore, retryOf, RETRY_WAIT_MAX_MS, type EndedTurn } from "./turnRetry.js";

const NOW = 1_780_000_000_000;

const ended = (reason: string, more: Partial<EndedTurn> = {}): EndedTurn => ({
  outcome: "failed",
  failure: { reason, message: "", hint: "", retryable: true },
  stopped: false,
  retried: false,
  now: NOW,
  ...more,
});

test.each([
  ["PROVIDER_RATE_LIMIT", "resume"],
  ["PROVIDER_SERVER", "resume"],
  ["WORKER_LOST", "resume"],
  ["WORKER_EXITED", "resume"],
  ["HEARTBEAT_MISSED", "resume"],
  ["WORKER_HELLO_TIMEOUT", "resume"],
  ["CONTEXT_OVERFLOW", "compress_then_resume"],
] as const)("DM075 a turn that failed for %s is run again: %s", (reason, mode) => {
  expect(retryOf(ended(reason))).toBe(mode);
});

test.each([
  "PROVIDER_AUTH",
  "PROVIDER_QUOTA",
  "RUNTIME_CONFIG",
  "AGENT_INVALID",
  "MODEL_UNAVAILABLE",
  "WORKER_SPAWN_FAILED",
  "TURN_LIMIT",
  "TURN_STOPPED",
  "TURN_STOP_TIMEOUT",
  "WORKER_MEMORY",
  "MESSAGE_EXPIRED",
  "CANCELLED_BY_SENDER",
  "RUNTIME_FAILED",
  "SOMETHING_ELSE",
  "",
])("DM075 a turn that failed for %j is not", (reason) => {
  expect(retryOf(ended(reason))).toBeUndefined();
});

test.each([
  ["has reset", NOW - 1, "resume", undefined],
  ["resets within the bound", NOW + RETRY_WAIT_MAX_MS, "resume", NOW + RETRY_WAIT_MAX_MS],
  ["resets later", NOW + RETRY_WAIT_MAX_MS + 1, undefined, NOW + RETRY_WAIT_MAX_MS + 1],
])("a limit that %s decides whether its turn is run again, and not before when", (_when, resetsAt, mode, at) => {
  const failure = { reason: "PROVIDER_RATE_LIMIT", message: "", hint: "", retryable: true, resetsAt };
  expect(retryOf(ended("", { failure }))).toBe(mode);
  expect(notBefore(failure, NOW)).toBe(at);
});

test("no turn is run again twice, after a stop, in doubt, without a reason, or against its runtime's word", () => {
  for (const reason of ["PROVIDER_SERVER", "CONTEXT_OVERFLOW", "WORKER_LOST"]) {
    expect(retryOf(ended(reason, { retried: true }))).toBeUndefined();
    expect(retryOf(ended(reason, { stopped: true }))).toBeUndefined();
    for (const outcome of ["completed", "interrupted", "unknown"] as const) {
      expect(retryOf(ended(reason, { outcome }))).toBeUndefined();
    }
  }
  expect(retryOf(ended("PROVIDER_SERVER", { failure: undefined }))).toBeUndefined();
  const failure = { reason: "PROVIDER_SERVER", message: "", hint: "", retryable: false };
  expect(retryOf(ended("", { failure }))).toBeUndefined();
});
