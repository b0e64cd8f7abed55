import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";

import { seededRandom } from "../../src/base/testing/seededRandom.js";
import { checkMessage, checkTotals, endOf, killAndServe } from "../crash/peerInvariants.js";
import { PeerPair, type Side } from "../crash/peerPair.js";
import { sendTo, standAt, STEPS } from "../crash/peerSteps.js";

/** Messages of one seed. */
const MESSAGES = 4;
/** Longest time between a release and a kill that comes on top, milliseconds. */
const EXTRA_WITHIN_MS = 1_500;

/** Seeds tried: 20, or as many as CI has time for. */
const SEEDS = Number(process.env["TALARIA_KILL_SEEDS"] ?? 20);

test.each(Array.from({ length: SEEDS }, (_, seed) => seed + 1))(
  "seed %i: messages between gateways that are killed at any step and at any moment end once, each told once",
  async (seed) => {
    const random = seededRandom(seed);
    const pick = <T>(from: readonly [T, ...T[]]): T => from[Math.floor(random.fraction() * from.length)] ?? from[0];
    const pair = await PeerPair.start();
    try {
      const ids = [await sendTo(pair, "bob", "first")];
      await endOf(pair, ids[0] ?? "");
      for (let n = 0; n < MESSAGES; n++) {
        const killed = pick<Side>(["north", "south"]);
        const message = await standAt(pair, pick(STEPS), killed);
        ids.push(message.id);
        await killAndServe(pair, killed);
        await message.release();
        if (random.fraction() < 0.7) {
          // No event is waited for: this kill may come at any moment.
          await pause(random.fraction() * EXTRA_WITHIN_MS);
          await killAndServe(pair, pick<Side>(["north", "south"]));
        }
        // A turn that was killed in south leaves nothing, or a worker's word that its owner was gone.
        expect(["replied", "unknown", "failed"]).toContain(await endOf(pair, message.id));
      }
      for (const id of ids) checkMessage(pair, id);
      checkTotals(pair, ids.length);
    } finally {
      await pair.close();
    }
  },
);
