import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";

import { DEFAULT_BUDGETS } from "../../src/base/budgets.js";
import { startScriptedModel } from "../kit/scriptedModel.js";
import { saying } from "../kit/scriptedModelReplies.js";
import { useTestGateway } from "../kit/useTestGateway.js";
import { waitFor } from "../kit/waitFor.js";

/** How long a worker may go without a sign of life here, milliseconds. */
const HEARTBEAT_MISSED_MS = 1_200;
/** How long the model says nothing at all, milliseconds: longer than any bound that is not meant for it. */
const SILENT_MS = 3_000;

const model = await startScriptedModel();
afterAll(() => model.close());
const gateway = useTestGateway({
  agents: { slow: model.agent("slow") },
  budgets: { heartbeatMissedMs: HEARTBEAT_MISSED_MS, storeCallMs: 1_000, finishWaitMs: 2_000, unaryDeadlineMs: 1_500 },
});

test("LE-3 a model that is slow with its first word is waited for, whether or not its client is still there", async () => {
  const { client, connect } = gateway();
  model.otherwise("slow", async (response, request) => {
    await pause(SILENT_MS);
    await saying("at last")(response, request);
  });
  const leaving = connect();
  const left = leaving.run("slow", "left alone");
  const { inputId = "" } = (await left.next("inputQueued")).turn ?? {};
  const run = client.run("slow", "waited for");
  await model.asked("slow", 2);
  left.cancel();
  leaving.close();
  expect(await run.outcome()).toMatchObject({ outcome: "COMPLETED", answer: "at last" });
  expect(model.of("slow")).toHaveLength(2);
  const alone = await waitFor("the turn that was left alone has ended", async () => {
    const turn = await client.turn(inputId);
    return turn.outcome === "UNSPECIFIED" ? { state: turn.turn.phase } : { found: turn };
  });
  expect(alone).toMatchObject({ outcome: "COMPLETED", answer: "at last" });
});

test("LE-3 by default nothing gives a turn up before a model's first word in a minute and a half", () => {
  const firstWordMs = 90_000;
  const { turnLimitMs, noProgressMs, dmTurnLimitMs, dmNoProgressMs } = DEFAULT_BUDGETS;
  // 0 is no bound at all.
  expect([turnLimitMs, noProgressMs]).toEqual([0, 0]);
  expect(dmNoProgressMs).toBeGreaterThan(firstWordMs);
  expect(dmTurnLimitMs).toBeGreaterThan(dmNoProgressMs);
});
