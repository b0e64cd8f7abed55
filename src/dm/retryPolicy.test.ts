import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { RpcError } from "../rpc/rpcError.js";
import { backoffMs, judgeAttempt } from "./retryPolicy.js";

describe("a failed attempt", () => {
  test.each([
    ["UNAVAILABLE", "undecided"],
    ["DEADLINE_EXCEEDED", "undecided"],
    ["CANCELLED", "undecided"],
    ["INTERNAL", "undecided"],
    ["DRAINING", "notYet"],
    ["STORAGE_FULL", "notYet"],
    ["RECIPIENT_QUOTA", "notYet"],
    ["UNKNOWN_TARGET", "refused"],
    ["PEER_REVOKED", "refused"],
    ["MESSAGE_EXPIRED", "refused"],
    ["KEY_CONFLICT", "refused"],
  ] as const)("for %s is %s", (reason, kind) => {
    expect(judgeAttempt(new RpcError(reason)).kind).toBe(kind);
  });

  test("blames the destination only for what concerns all of its recipients", () => {
    expect(judgeAttempt(new RpcError("RECIPIENT_QUOTA", { retryAfterMs: 7 }))).toEqual({
      kind: "notYet",
      destination: false,
      retryAfterMs: 7,
    });
    expect(judgeAttempt(new RpcError("DRAINING"))).toMatchObject({ destination: true });
  });
});

test("a wait stays below its doubling bound and above what was asked for", () => {
  const fraction = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(60), fraction, fc.nat(400_000), (failures, chance, retryAfterMs) => {
      const wait = backoffMs({ failures, minMs: 1_000, maxMs: 300_000, fraction: chance, retryAfterMs });
      const bound = Math.min(300_000, 1_000 * 2 ** Math.max(0, failures - 1));
      expect(wait).toBeGreaterThanOrEqual(Math.min(retryAfterMs, 300_000));
      expect(wait).toBeLessThanOrEqual(Math.max(bound, Math.min(retryAfterMs, 300_000)));
    }),
  );
});
