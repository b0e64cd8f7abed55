import { afterAll, beforeAll, expect, test } from "vitest";

import { checkMessage, checkTotals, endOf, killAndServe } from "./peerInvariants.js";
import { PeerPair, type Side } from "./peerPair.js";
import { sendTo, standAt, STEPS, type PeerStep } from "./peerSteps.js";

let pair: PeerPair;
let sent = 0;

beforeAll(async () => {
  pair = await PeerPair.start();
  // Makes bob's Bot Chat, which is watched below.
  await endOf(pair, await sendTo(pair, "bob", "first"));
  sent += 1;
});

afterAll(() => pair.close());

/** Where a turn had begun in the killed gateway and left no evidence. */
const isLost = (step: PeerStep, killed: Side): boolean => killed === "south" && step === "turn started";

const cases = STEPS.flatMap((step) => (["north", "south"] as const).map((killed) => [step, killed] as const));

test.each(cases)(
  "a message that is %s when %s is killed ends once, and its sender is told once",
  async (step, killed) => {
    const message = await standAt(pair, step, killed);
    sent += 1;
    await killAndServe(pair, killed);
    await message.release();
    expect(await endOf(pair, message.id)).toBe(isLost(step, killed) ? "unknown" : "replied");
    checkMessage(pair, message.id);
    checkTotals(pair, sent);
  },
);
