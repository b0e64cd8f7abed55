import fc from "fast-check";
import { expect, test } from "vitest";
import { countCodePoints } from "../base/codePoints.js";
import { TurnExit, TurnResult } from "../gen/talaria/types/v1/result.js";
import { makeReceipt, splitText, type ReceiptFacts } from "./resultReceipt.js";
import { addUsage, NO_USAGE } from "./usageTally.js";

function facts(changes: Partial<ReceiptFacts>): ReceiptFacts {
  return {
    answer: { text: "ok" },
    stopped: false,
    usage: NO_USAGE,
    sessionId: "ses_x",
    redact: (text) => text,
    ...changes,
  };
}

test("a plain answer is completed and carries no usage of its own", () => {
  const { result, pieces } = makeReceipt(facts({}));
  expect(result).toMatchObject({ finalResponse: "ok", completed: true, turnExitReason: TurnExit.TURN_EXIT_ANSWERED });
  expect(result.turnInputTokens).toBeUndefined();
  expect(pieces).toEqual([]);
});

test("OW43 F35 stop wins over failure, and a failure is never completed", () => {
  const failure = { reason: "PROVIDER_QUOTA", message: "no", resetsAtMs: Number.NaN } as const;
  expect(makeReceipt(facts({ stopped: true, answer: { text: "a", failure } })).result).toMatchObject({
    interrupted: true,
    completed: false,
    partial: true,
    turnExitReason: TurnExit.TURN_EXIT_STOPPED,
  });
  const { result } = makeReceipt(facts({ answer: { text: "", failure } }));
  expect(result).toMatchObject({ failed: true, completed: false, error: "no" });
  expect(result.failureResetsAt).toBeUndefined();
});

test("numbers that are none never reach the receipt", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ n: fc.double(), m: fc.double(), cost: fc.double() })), (reports) => {
      const usage = reports.reduce(
        (sum, { n, m, cost }) => addUsage(sum, { inputTokens: n, outputTokens: m, costUsd: cost, apiCalls: n }),
        NO_USAGE,
      );
      const { result } = makeReceipt(facts({ usage }));
      for (const count of [result.promptTokens, result.completionTokens, result.totalTokens]) {
        expect(count >= 0n && count <= 2n ** 53n).toBe(true);
      }
      if (result.estimatedCostUsd !== undefined) {
        expect(result.estimatedCostUsd >= 0 && result.estimatedCostUsd <= 1e12).toBe(true);
      }
      expect(TurnResult.decode(TurnResult.encode(result).finish())).toEqual(result);
    }),
  );
});

test("OW45 every text is cut to its bound in code points", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", minLength: 4_000, maxLength: 9_000 }), (text) => {
      const { result } = makeReceipt(
        facts({
          answer: {
            text,
            failure: { reason: "RUNTIME_FAILED", message: text },
            provider: text,
            model: text,
            billing: {
              provider: text,
              providerLabel: text,
              model: text,
              billingUrl: "http://plain",
              isOwnAccount: false,
              message: text,
              unverified: true,
            },
          },
        }),
      );
      expect(countCodePoints(result.error ?? "")).toBeLessThanOrEqual(4_096);
      expect(countCodePoints(result.model ?? "")).toBeLessThanOrEqual(256);
      expect(countCodePoints(result.provider ?? "")).toBeLessThanOrEqual(64);
      expect(countCodePoints(result.billingBlock?.providerLabel ?? "")).toBeLessThanOrEqual(128);
      expect(result.billingBlock?.billingUrl).toBe("");
    }),
    { numRuns: 20 },
  );
});

test("F26 an answer of exactly 1 MiB stays inline, one byte more goes in pieces", () => {
  expect(makeReceipt(facts({ answer: { text: "x".repeat(1_048_576) } })).pieces).toEqual([]);
  const { result, pieces } = makeReceipt(facts({ answer: { text: "x".repeat(1_048_577) } }));
  expect(pieces.map((piece) => piece.length)).toEqual([1_048_576, 1]);
  expect(result).toMatchObject({ finalResponse: "", partial: false });
  expect(result.answer?.sizeBytes).toBe(1_048_577n);
});

test("pieces join to the text and never split a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.integer({ min: 4, max: 50 }), (text, bytes) => {
      const pieces = splitText(text, bytes);
      expect(pieces.join("")).toBe(text);
      expect(pieces.every((piece) => piece !== "" && Buffer.byteLength(piece) <= bytes)).toBe(true);
    }),
  );
});
