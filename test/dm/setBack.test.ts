import { cpSync } from "node:fs";
import { expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { homePaths } from "../../src/base/home.js";
import { FakeClock } from "../../src/base/testing/fakeClock.js";
import { reasonError } from "../../src/rpc/rpcError.js";
import { failureOf } from "../../src/rpc/wire/failure.js";
import { markRestored } from "../../src/store/backup/markRestored.js";
import { recordFailedAttempt } from "../../src/store/deliveries/attemptCommands.js";
import { readDelivery } from "../../src/store/deliveries/readDelivery.js";
import { ended, get, send, stateName } from "./calls.js";
import { freshHome, introduce, type TestGateway, type TestGatewayOptions } from "./testGateway.js";
import { useGateways } from "./useGateways.js";
import { useScriptedPeers } from "./useScriptedPeers.js";

const DAY_MS = 24 * 60 * 60_000;
const { use, two } = useGateways();
const usePeer = useScriptedPeers();

const stateOf = ({ store }: TestGateway, id: string) => readDelivery(store.reader, id)?.state;
const claimed = (north: TestGateway, id: string): Promise<true> =>
  north.until(`${id} is claimed`, () => stateOf(north, id) === "claimed" || undefined);

test.each([
  ["restored from a backup", (home: string) => markRestored(homePaths(home).database, { now: 0, reason: "test" })],
  ["set back with its disk", () => undefined],
])(
  "a peer whose store was %s is asked again: what it forgot is UNKNOWN, and no reply is missed",
  async (_how, after) => {
    const answer: TestGatewayOptions["answer"] = ({ text }) =>
      text === "long" ? undefined : { outcome: "completed", text };
    const { north, south } = await two({}, { answer });
    introduce(north, south);
    const kept = await send(north.client, { target: "south/bob", body: "long" });
    await claimed(north, kept.delivery.deliveryId);
    await south.close();
    const home = freshHome();
    cpSync(south.home, home, { recursive: true });

    const later = await use({ name: "south", home: south.home, identity: south.identity, answer });
    introduce(north, later);
    await later.start();
    for (let n = 0; n < 3; n++)
      await ended(north.client, (await send(north.client, { target: "south" })).delivery.deliveryId);
    const forgotten = (await send(north.client, { target: "south/bob", body: "long" })).delivery.deliveryId;
    await claimed(north, forgotten);
    await later.close();

    after(home);
    const back = await use({ name: "south", home, identity: south.identity, running: false });
    introduce(north, back);
    await back.start();
    await north.until("what was forgotten is unknown", () => stateOf(north, forgotten) === "unknown" || undefined);
    expect(stateName(await get(north.client, kept.delivery.deliveryId))).toBe("CLAIMED");
    const fresh = (await send(north.client, { target: "south" })).delivery.deliveryId;
    await claimed(north, fresh);
    back.run();
    expect(await ended(north.client, fresh)).toMatchObject({ reply: { text: "HELLO" } });
  },
);

test("a wait that was written before the clock was set back holds up neither a peer nor a lane", async () => {
  const clock = new FakeClock(systemClock.now());
  const peer = await usePeer({});
  const north = await use({ name: "north", clock });
  north.peers.set("south", { name: "south", address: peer.address, pin: peer.pin });
  const { deliveryId } = (await send(north.client, { target: "south/bob" })).delivery;
  const now = clock.now();
  const failed = { gateway: "south", error: failureOf(reasonError("UNAVAILABLE")), nextAttemptAt: now + DAY_MS, now };
  await north.store.writer.execute(recordFailedAttempt, {
    ...failed,
    deliveryId,
    undecided: false,
    destinationFailed: true,
  });
  await north.start();
  await claimed(north, deliveryId);
});
