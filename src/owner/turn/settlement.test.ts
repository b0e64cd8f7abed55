import { expect, test } from "vitest";

import { createDeferred } from "../../base/deferred.js";
import { silentLogger } from "../../base/logger.js";
import { StorageError } from "../../base/storageError.js";
import { FakeClock } from "../../base/testing/fakeClock.js";
import { TurnResult } from "../../gen/talaria/types/v1/result.js";
import { RpcError } from "../../rpc/rpcError.js";
import { noEffects } from "../../store/deliveries/deliveryEffects.js";
import type { ClaimedInput } from "../../store/turns/claimInput.js";
import { type JudgedReceipt, Settlement, type SettlementParts } from "./settlement.js";
import type { Loss } from "./settleLoss.js";

const EFFECTS = { ...noEffects(), wake: ["ses_1"] };
const COMMITTED = { kind: "committed", effects: EFFECTS, answer: "" };
const LOST = { kind: "lost", effects: EFFECTS, paused: false };
const RECEIPT: JudgedReceipt = {
  result: TurnResult.create(),
  judgement: {
    outcome: "completed",
    failure: undefined,
    usage: {
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
      apiCalls: 0,
      costUsd: 0,
    },
  },
  stopped: false,
};

/** A settlement over a store whose answers are given by hand, and what happened in order. */
function settling() {
  const happened: string[] = [];
  const answers: ReturnType<typeof createDeferred<object>>[] = [];
  const parts = {
    clock: new FakeClock(),
    hub: { publish: () => undefined },
    store: {
      reader: { get: () => undefined },
      writer: {
        execute: ({ name }: { readonly name: string }) => {
          happened.push(name);
          const answer = createDeferred<object>();
          answers.push(answer);
          return answer.promise;
        },
      },
    },
    listeners: {
      effects: () => void happened.push("effects"),
      unknownOutcome: () => void happened.push("unknown told"),
    },
  } as unknown as SettlementParts;
  const settlement = new Settlement(parts, silentLogger(), {
    claimed: { agent: "agent", input: { input_id: "inp_1", session_id: "ses_1" } } as ClaimedInput,
    fence: { executionId: "exe_1", epoch: 1, generation: 1 },
    stored: () => void happened.push("stored"),
  });
  void settlement.settled.then((how) => happened.push(`settled: ${how}`));
  const lose = (outcome: Loss["outcome"]) =>
    settlement.lose(() => {
      happened.push(`lost: ${outcome}`);
      const error = new RpcError("WORKER_LOST");
      return { executionId: "exe_1", outcome, error, stopped: false, usage: { uncounted: undefined } };
    });
  return { settlement, happened, answers, lose };
}

test("a loss that comes while the receipt is on its way waits for it, and the receipt stands", async () => {
  const { settlement, happened, answers, lose } = settling();
  expect([settlement.open, settlement.fixed]).toEqual([true, false]);
  const kept = settlement.keep(RECEIPT);
  expect([settlement.open, settlement.fixed]).toEqual([false, false]);
  const lost = lose("failed");
  answers[0]?.resolve(COMMITTED);
  await kept;
  expect(await lost).toBe("receipt");
  expect([settlement.open, settlement.fixed]).toEqual([false, true]);
  expect(happened).toEqual([expect.any(String), "stored", "effects", "settled: stored"]);
});

test("a loss behind a receipt that is refused is the outcome", async () => {
  const { settlement, happened, answers, lose } = settling();
  const kept = settlement.keep(RECEIPT);
  const lost = lose("failed");
  answers[0]?.resolve({ kind: "answer_mismatch" });
  await expect(kept).rejects.toMatchObject({ reason: "WORKER_RESULT_INVALID" });
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.resolve(LOST);
  expect(await lost).toBe("stored");
  expect(happened).toEqual([
    expect.any(String),
    "lost: failed",
    expect.any(String),
    "stored",
    "effects",
    "settled: stored",
  ]);
});

test("the first loss stands, fixed at once although it is not stored yet, and an unknown outcome is told after it", async () => {
  const { settlement, happened, answers, lose } = settling();
  const lost = lose("unknown");
  expect(settlement.fixed).toBe(true);
  expect(await lose("failed")).toBe("earlier_loss");
  expect(happened).not.toContain("settled: stored");
  answers[0]?.resolve(LOST);
  expect(await lost).toBe("stored");
  expect(happened).toEqual([
    "lost: unknown",
    expect.any(String),
    "stored",
    "effects",
    "unknown told",
    "settled: stored",
  ]);
});

test("a loss that the store was closed before is left to the next start, and nobody is told of it", async () => {
  const { happened, answers, lose } = settling();
  const lost = lose("failed");
  answers[0]?.reject(new StorageError("closed", "closed"));
  expect(await lost).toBe("left");
  expect(happened).toEqual(["lost: failed", expect.any(String), "settled: left"]);
});
