import { expect, test } from "vitest";
import { FakeClock } from "../../src/base/testing/fakeClock.js";
import { systemClock } from "../../src/base/clock.js";
import { DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { SWEEP_INTERVAL_MS } from "../../src/dm/sweeper.js";
import { doubtOutbound } from "../../src/store/deliveries/attemptCommands.js";
import { readDelivery } from "../../src/store/deliveries/readDelivery.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { deliverRequest, ended, get, refusal, send, stateName } from "./calls.js";
import { facingPeer } from "./facingPeer.js";
import { makeReceipt } from "./scriptedPeer.js";
import { inputsOf, introduce, type TestGateway } from "./testGateway.js";
import { useGateways } from "./useGateways.js";
import { useScriptedPeers } from "./useScriptedPeers.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
const { use } = useGateways();
const usePeer = useScriptedPeers();

/** Waits for the sweep that start brings, so that later ones are the clock's. */
async function started(gateway: TestGateway, clock: FakeClock): Promise<void> {
  await gateway.start();
  await gateway.until("the sweep waits for the clock", () => (clock.pending > 0 ? true : undefined));
}

test("DM092 a message that no turn started in time ends EXPIRED, its input with it, and its sender is told", async () => {
  const clock = new FakeClock(systemClock.now());
  const gateway = await use({ name: "home", clock, running: false });
  await started(gateway, clock);
  const { delivery } = await send(gateway.client, { onBehalfOf: "alice" });
  clock.jumpWallTime(DAY_MS + 1);
  clock.advance(SWEEP_INTERVAL_MS);
  expect(stateName(await ended(gateway.client, delivery.deliveryId))).toBe("EXPIRED");
  expect(inputsOf(gateway, "bob")).toMatchObject([{ state: "ended" }]);
  expect(inputsOf(gateway, "alice")).toMatchObject([{ author: "gateway", inReplyTo: delivery.deliveryId }]);
});

test("a turn that would start too late does not, without any sweep", async () => {
  const clock = new FakeClock(systemClock.now());
  const gateway = await use({ name: "home", clock, running: false });
  const { delivery } = await send(gateway.client, {});
  clock.jumpWallTime(DAY_MS + 1);
  gateway.run();
  expect(stateName(await ended(gateway.client, delivery.deliveryId))).toBe("EXPIRED");
  expect(inputsOf(gateway, "bob")).toMatchObject([{ state: "ended" }]);
});

test("DM049 the body of a dead letter goes after a day, and with it the way back", async () => {
  const clock = new FakeClock(systemClock.now());
  const gateway = await use({ name: "home", clock, answer: () => ({ outcome: "failed", text: "" }) });
  await started(gateway, clock);
  const { delivery } = await send(gateway.client, { body: "kept" });
  const { deliveryId } = delivery;
  expect((await ended(gateway.client, deliveryId)).body).toBe("kept");
  clock.jumpWallTime(DAY_MS + 1);
  clock.advance(SWEEP_INTERVAL_MS);
  await gateway.until("the body is gone", () =>
    readDeliveryTotals(gateway.store.reader).bodyBytes === 0 ? true : undefined,
  );
  expect(await get(gateway.client, deliveryId)).toMatchObject({ body: "", bodyRemoved: true });
  const redrive = { requestId: "r", deliveryId };
  expect(await refusal(unaryCall(gateway.client, DirectMessageServiceService.redriveDelivery, redrive))).toMatchObject({
    reason: "DELIVERY_NOT_DEAD",
    message: expect.stringContaining("not kept") as string,
  });
});

test("after a start the peer is asked about what has expired: never taken is EXPIRED, taken runs to its end", async () => {
  const clock = new FakeClock(systemClock.now());
  const north = await use({ name: "north", clock });
  const south = await use({ name: "south" });
  introduce(north, south);
  const never = await send(north.client, { target: "south/bob" });
  const taken = await send(north.client, { target: "south/alice" });
  const key = taken.delivery.deliveryId;
  // The answer to this call is what the sender has never seen.
  const caller = await south.callerAs(north.identity);
  await unaryCall(caller, PeerServiceService.deliverDm, deliverRequest(key, { recipientAgent: "alice" }));
  clock.jumpWallTime(DAY_MS + 1);
  await Promise.all([north.start(), south.start()]);
  expect(stateName(await ended(north.client, never.delivery.deliveryId))).toBe("EXPIRED");
  expect(stateName(await ended(north.client, key))).toBe("REPLIED");
  expect(inputsOf(south, "bob")).toEqual([]);
  expect(inputsOf(south, "alice")).toHaveLength(1);
});

test.each([
  ["an earlier attempt epoch's end is EXPIRED in its own", 1, "EXPIRED"],
  ["an epoch that was never opened here is UNKNOWN", 3, "UNKNOWN"],
])("a dead letter that was sent again, expired in doubt and is answered for with %s", async (_what, said, end) => {
  const clock = new FakeClock(systemClock.now());
  const { DELIVERY_STATE_FAILED: state } = DeliveryState;
  const { north, peer } = await facingPeer(
    { use, usePeer },
    { receiptOf: () => ({ state, attemptEpoch: said }) },
    { clock },
  );
  const { deliveryId } = (await send(north.client, { target: "south/bob" })).delivery;
  await peer.received("hello");
  await north.until(
    "it is accepted",
    () => readDelivery(north.store.reader, deliveryId)?.state === "claimed" || undefined,
  );
  peer.tell({ $case: "receipts", value: { receipts: [makeReceipt(deliveryId, { state })] } });
  await ended(north.client, deliveryId);
  await north.dm.registry.hold("south", "client:cli", "to let it expire");
  await unaryCall(north.client, DirectMessageServiceService.redriveDelivery, { requestId: "again", deliveryId });
  // What a start says of every message that waits.
  await north.store.writer.execute(doubtOutbound, { gateway: "south" });
  clock.jumpWallTime(DAY_MS + 1);
  await north.dm.registry.release("south", "client:cli");
  expect(stateName(await ended(north.client, deliveryId))).toBe(end);
  expect(peer.asked).toEqual([deliveryId]);
});

test("DM094 a reply is kept for its retention, a delivery until its key may be forgotten too; totals go on counting", async () => {
  const clock = new FakeClock(systemClock.now());
  const gateway = await use({ name: "home", clock, budgets: { replyRetentionMs: DAY_MS } });
  await started(gateway, clock);
  const { delivery } = await send(gateway.client, { body: "kept", requestId: "once" });
  const { deliveryId } = delivery;
  const { reply } = await ended(gateway.client, deliveryId);
  expect(reply?.text).toBe("KEPT");
  const sweepAfter = async (ms: number, what: string, done: () => boolean): Promise<void> => {
    clock.jumpWallTime(ms);
    clock.advance(SWEEP_INTERVAL_MS);
    await gateway.until(what, () => (done() ? true : undefined));
    await gateway.until("the sweep waits for the clock", () => (clock.pending > 0 ? true : undefined));
  };
  const replies = (): number =>
    gateway.store.reader.all("SELECT 1 FROM deliveries WHERE reply_text IS NOT NULL").length;
  const rows = (): number => gateway.store.reader.all("SELECT 1 FROM deliveries").length;

  await sweepAfter(DAY_MS, "the reply is gone", () => replies() === 0);
  const without = await get(gateway.client, deliveryId);
  expect([stateName(without), without.reply]).toEqual(["REPLIED", undefined]);
  expect((await send(gateway.client, { body: "kept", requestId: "once" })).replayed).toBe(true);

  await sweepAfter(DAY_MS, "the delivery is forgotten", () => rows() === 0);
  expect(await refusal(get(gateway.client, deliveryId))).toMatchObject({ reason: "UNKNOWN_DELIVERY" });
  const totals = readDeliveryTotals(gateway.store.reader);
  expect([totals.accepted, totals.states.replied]).toEqual([1, 1]);
  expect((await send(gateway.client, { body: "kept", requestId: "once" })).replayed).toBe(false);
});
