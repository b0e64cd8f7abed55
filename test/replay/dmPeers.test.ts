import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { FakeClock } from "../../src/base/testing/fakeClock.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { CLEAR_LOG_INTERVAL_MS, SWEEP_INTERVAL_MS } from "../../src/dm/sweeper.js";
import { openBidi } from "../../src/rpc/clients/openBidi.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { reasonError } from "../../src/rpc/rpcError.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { readDelivery } from "../../src/store/deliveries/readDelivery.js";
import { readDestination } from "../../src/store/deliveries/destinations.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { deliverRequest, ended, get, refusal, send, stateName } from "../dm/calls.js";
import { makeReceipt, type PeerScript } from "../dm/scriptedPeer.js";
import { freshHome, inputsOf, introduce, type TestGateway, type TestGatewayOptions } from "../dm/testGateway.js";
import { facingPeer } from "../dm/facingPeer.js";
import { useGateways } from "../dm/useGateways.js";
import { filesBelow } from "../kit/secretsHidden.js";
import { useScriptedPeers } from "../dm/useScriptedPeers.js";

const DAY_MS = 24 * 60 * 60_000;
const { use, one, pair } = useGateways();
const usePeer = useScriptedPeers();

const facing = (script: PeerScript, options?: Partial<TestGatewayOptions>) =>
  facingPeer({ use, usePeer }, script, options);
const told = (north: TestGateway, id: string): readonly string[] =>
  inputsOf(north, "alice").flatMap(({ inReplyTo, text }) => (inReplyTo === id ? [text] : []));
const claimed = (north: TestGateway, count: number): Promise<true> =>
  north.until(`${String(count)} are accepted`, () =>
    readDeliveryTotals(north.store.reader).states.claimed === count ? true : undefined,
  );

test("AG-2 an agent that has left its peer's roster makes a message to it fail with the reason, not wait for ever", async () => {
  const { north } = await pair();
  const { delivery } = await send(north.client, { target: "south/left", onBehalfOf: "alice" });
  const end = await ended(north.client, delivery.deliveryId);
  expect([stateName(end), end.failure?.reason]).toEqual(["FAILED", 300]);
  expect(told(north, delivery.deliveryId)).toHaveLength(1);
});

test("DM-R07 SL-4 a peer that takes a message and stalls is asked by key, and what it had is the outcome", async () => {
  let stalls = true;
  const { north, peer } = await facing(
    { beforeAnswer: () => (stalls ? new Promise(() => undefined) : Promise.resolve()) },
    { budgets: { unaryDeadlineMs: 300 } },
  );
  const { deliveryId } = (await send(north.client, { target: "south/bob", onBehalfOf: "alice" })).delivery;
  const undecided = await north.until("it is undecided", () => {
    const row = readDelivery(north.store.reader, deliveryId);
    return row?.lastError === undefined ? undefined : row;
  });
  // In doubt, never unreachable and never over: why, and when the next look is.
  expect(undecided).toMatchObject({ state: "queued", failure: undefined, nextAttemptAt: expect.any(Number) as number });
  stalls = false;
  await claimed(north, 1);
  expect(peer.kept).toHaveLength(1);
  expect(new Set(peer.keys)).toEqual(new Set([deliveryId]));
  peer.tell({
    $case: "receipts",
    value: { receipts: [makeReceipt(deliveryId, { state: DeliveryState.DELIVERY_STATE_SILENT })] },
  });
  expect(stateName(await ended(north.client, deliveryId))).toBe("SILENT");
  expect(told(north, deliveryId)).toHaveLength(1);
});

test("DM-R09 a body that ends in a mark of truncation arrives as it is, and both sides have one digest of it", async () => {
  const { north, south } = await pair();
  const body = `${"the whole of it ".repeat(100)}… [truncated]`;
  const { delivery } = await send(north.client, { target: "south/bob", body });
  await ended(north.client, delivery.deliveryId);
  expect(inputsOf(south, "bob").map(({ text }) => text)).toEqual([body]);
  const sent = north.store.reader.get<{ points: number }>("SELECT body_code_points AS points FROM deliveries");
  const came = south.store.reader.get<{ points: number }>("SELECT body_code_points AS points FROM deliveries");
  expect(came).toEqual(sent);
  const damaged = deliverRequest("k", { body, bodySha256: Buffer.alloc(32, 1) });
  const caller = await south.callerAs(north.identity);
  expect(await refusal(unaryCall(caller, PeerServiceService.deliverDm, damaged))).toMatchObject({
    reason: "BODY_DIGEST_MISMATCH",
  });
});

test("LG-3 a recipient that is held gets what comes by every door as its next turns, one at a time and in order", async () => {
  const began: string[] = [];
  const running = (): unknown[] => south.store.reader.all("SELECT 1 FROM inputs WHERE state = 'started'");
  const most: number[] = [];
  const { north, south } = await pair(
    {},
    {
      running: false,
      answer: ({ text }) => {
        began.push(text);
        most.push(running().length);
        return { outcome: "completed", text: `re ${text}` };
      },
    },
  );
  const message = (n: number) => ({
    requestId: `t${String(n)}`,
    target: "bob",
    body: "by a turn",
    inReplyTo: "",
    trace: undefined,
  });
  const turn = { agent: "alice", sessionId: "ses_x", title: "Bot Chat", depth: 0, inputAuthorId: "client:cli" };
  await send(south.client, { body: "by a client" });
  await south.dm.workerMessages.sendFromTurn(turn, message(1));
  await send(north.client, { target: "south/bob", body: "by a peer" });
  await south.until("the peer's message is there", () => inputsOf(south, "bob")[2]);
  const caller = await south.callerAs(north.identity);
  const batch = openBidi(caller, PeerServiceService.deliverDMs);
  await batch.send({ items: [deliverRequest("b1", { body: "in a batch" })] });
  batch.end();
  for await (const { results } of batch.responses) expect(results[0]?.result?.$case).toBe("accepted");
  const doors = ["by a client", "by a turn", "by a peer", "in a batch"];
  expect(inputsOf(south, "bob").map(({ text, state }) => [text, state])).toEqual(doors.map((text) => [text, "queued"]));
  south.run();
  await south.until("all have ended", () =>
    inputsOf(south, "bob").every(({ state }) => state === "ended") ? true : undefined,
  );
  expect(began.filter((text) => doors.includes(text))).toEqual(doors);
  expect(Math.max(...most)).toBeLessThanOrEqual(2);
  // The same shape is refused alike by each of them, and counts for nothing.
  const { accepted } = readDeliveryTotals(south.store.reader);
  const empty = { body: " " };
  expect(await refusal(send(south.client, empty))).toMatchObject({ reason: "EMPTY_BODY" });
  expect(await refusal(south.dm.workerMessages.sendFromTurn(turn, { ...message(2), ...empty }))).toMatchObject({
    reason: "EMPTY_BODY",
  });
  expect(await refusal(unaryCall(caller, PeerServiceService.deliverDm, deliverRequest("k2", empty)))).toMatchObject({
    reason: "EMPTY_BODY",
  });
  expect(readDeliveryTotals(south.store.reader).accepted).toBe(accepted);
});

test("DM-R43 every lane has an author of its own, and none can be made to say another", async () => {
  const { north, south } = await pair();
  const turn = { agent: "alice", sessionId: "ses_x", title: "Bot Chat", depth: 0, inputAuthorId: "client:cli" };
  await ended(south.client, (await send(south.client, { body: "client" })).delivery.deliveryId);
  await ended(south.client, (await send(south.client, { body: "behalf", onBehalfOf: "alice" })).delivery.deliveryId);
  const own = { requestId: "own", target: "bob", body: "turn", inReplyTo: "", trace: undefined };
  await ended(south.client, (await south.dm.workerMessages.sendFromTurn(turn, own)).delivery.deliveryId);
  await ended(
    north.client,
    (await send(north.client, { target: "south/bob", body: "peer", onBehalfOf: "alice" })).delivery.deliveryId,
  );
  const caller = await south.callerAs(north.identity);
  // A peer that calls its agent by a name of the receiver's does not become that one.
  await unaryCall(caller, PeerServiceService.deliverDm, deliverRequest("k", { senderAgent: "bob", body: "forged" }));
  await south.until("all are there", () => inputsOf(south, "bob")[4]);
  expect(inputsOf(south, "bob").map(({ text, author }) => `${text} ${author}`)).toEqual([
    "client client:cli",
    "behalf agent:alice",
    "turn agent:alice",
    "peer agent:north/alice",
    "forged agent:north/bob",
  ]);
});

test("DM-R41 of messages that were sent on, however they ended, no file of the sending home keeps a word", async () => {
  const clock = new FakeClock(systemClock.now());
  const north = await use({ name: "north", clock });
  const outcomes = [
    { outcome: "completed", text: "answered" },
    { outcome: "completed", text: "[SILENT]" },
    { outcome: "failed", text: "" },
  ] as const;
  let turns = 0;
  const south = await use({ name: "south", answer: () => outcomes[turns++ % outcomes.length] });
  introduce(north, south);
  await Promise.all([north.start(), south.start()]);
  await north.until("the sweep waits for the clock", () => (clock.pending > 0 ? true : undefined));
  const ends: string[] = [];
  for (let n = 0; n < 30; n++) {
    const { delivery } = await send(north.client, { target: "south/bob", body: `plaintext-${String(n)}-of-a-message` });
    ends.push(stateName(await ended(north.client, delivery.deliveryId)));
  }
  expect(new Set(ends)).toEqual(new Set(["REPLIED", "SILENT", "FAILED"]));
  // What failed may be sent again for a day.
  clock.jumpWallTime(DAY_MS + 1);
  clock.advance(SWEEP_INTERVAL_MS);
  await north.until("no body is left", () =>
    readDeliveryTotals(north.store.reader).bodyBytes === 0 ? true : undefined,
  );
  clock.advance(CLEAR_LOG_INTERVAL_MS);
  clock.advance(SWEEP_INTERVAL_MS);
  const holding = (): string[] =>
    filesBelow(north.home).filter((file) => readFileSync(file, "latin1").includes("-of-a-message"));
  await north.until("nothing holds one", () => (holding().length === 0 ? true : undefined));
});

test("SL-2 DA-2 a peer that was away at the start and comes back at another address under its own key gets each message once, by the same key", async () => {
  const home = freshHome();
  const first = await use({ name: "south", home });
  const north = await use({ name: "north" });
  introduce(north, first);
  await first.close();
  await north.start();
  const { deliveryId } = (await send(north.client, { target: "south/bob", body: "late" })).delivery;
  const down = await north.until("the peer was found away", () => {
    const known = readDestination(north.store.reader, "south");
    return known.failures >= 2 ? known : undefined;
  });
  expect(down.lastError).toBeDefined();
  const second = await use({ name: "south", home, identity: first.identity });
  introduce(north, second);
  await second.start();
  expect(stateName(await ended(north.client, deliveryId))).toBe("REPLIED");
  expect(second.store.reader.all("SELECT key FROM deliveries")).toEqual([{ key: deliveryId }]);
  expect(inputsOf(second, "bob")).toHaveLength(1);
});

test("SL-8 OC-21 a message whose peer is away for its whole life ends EXPIRED, never delivered, and its sender is told", async () => {
  const clock = new FakeClock(systemClock.now());
  const { north, peer } = await facing({ judge: () => reasonError("UNAVAILABLE") }, { clock });
  const { delivery } = await send(north.client, { target: "south/bob", onBehalfOf: "alice" });
  const { deliveryId } = delivery;
  expect(stateName(delivery)).toBe("QUEUED");
  await north.until("an attempt has failed", () => readDelivery(north.store.reader, deliveryId)?.lastError);
  clock.jumpWallTime(DAY_MS + 1);
  clock.advance(SWEEP_INTERVAL_MS);
  const end = await ended(north.client, deliveryId);
  expect(stateName(end)).toBe("EXPIRED");
  expect(end.attempts).toBeGreaterThanOrEqual(1);
  expect(end.lastError).toBeDefined();
  expect(end.reply).toBeUndefined();
  expect(told(north, deliveryId)).toEqual([expect.stringContaining("was not delivered")]);
  expect(peer.kept).toEqual([]);
});

test("AR-2 a receiver that restarts with three answered and two waiting runs exactly the two, in their order", async () => {
  const home = freshHome();
  const began: string[] = [];
  const answer = ({ text }: { text: string }) => {
    began.push(text);
    return { outcome: "completed", text } as const;
  };
  const first = await use({ name: "south", home, answer });
  await first.start();
  for (const body of ["1", "2", "3"])
    await ended(first.client, (await send(first.client, { body })).delivery.deliveryId);
  await first.close();
  const held = await use({ name: "south", home, running: false });
  await held.start();
  const waiting = [await send(held.client, { body: "4" }), await send(held.client, { body: "5" })];
  await held.close();
  began.length = 0;
  const again = await use({ name: "south", home, answer });
  await again.start();
  for (const { delivery } of waiting) expect(stateName(await ended(again.client, delivery.deliveryId))).toBe("REPLIED");
  expect(began).toEqual(["4", "5"]);
});

test("AR-5 a destination that is held says who did it, when and why, and so does nothing else change", async () => {
  const { north, south } = await pair({}, { running: false });
  const before = systemClock.now();
  await north.dm.registry.hold("south", "client:ops", "moving house");
  const { deliveryId } = (await send(north.client, { target: "south/bob" })).delivery;
  const { hold } = readDestination(north.store.reader, "south");
  expect(hold).toMatchObject({ by: "client:ops", reason: "moving house" });
  expect(hold?.at).toBeGreaterThanOrEqual(before);
  expect(stateName(await get(north.client, deliveryId))).toBe("QUEUED");
  expect(inputsOf(south, "bob")).toEqual([]);
  await north.dm.registry.release("south", "client:ops");
  await claimed(north, 1);
  expect(readDestination(north.store.reader, "south").hold).toBeUndefined();
});

test("MF-6 a network that brings every message twice makes one delivery of each, alone and in batches", async () => {
  const south = await use({ name: "south" });
  const identity = await ephemeralIdentity(systemClock.now());
  south.peers.set("north", { name: "north", address: "127.0.0.1:1", pin: identity.pin });
  const caller = await south.callerAs(identity);
  const twice = await Promise.all(
    [1, 2].map(() => unaryCall(caller, PeerServiceService.deliverDm, deliverRequest("k1"))),
  );
  expect(twice.map(({ replayed }) => replayed).sort()).toEqual([false, true]);
  const batch = openBidi(caller, PeerServiceService.deliverDMs);
  const items = [deliverRequest("k1"), deliverRequest("k2", { body: "two" }), deliverRequest("k2", { body: "two" })];
  await batch.send({ items });
  await batch.send({ items });
  batch.end();
  const accepted: boolean[] = [];
  for await (const { results } of batch.responses) {
    for (const { result } of results) accepted.push(result?.$case === "accepted");
  }
  expect(accepted).toEqual(Array.from({ length: 6 }, () => true));
  expect(inputsOf(south, "bob").map(({ text }) => text)).toEqual(["hello", "two"]);
});

test("DA-5 what is said of a message that nobody knows any more is refused or passed over, and not repeated", async () => {
  const { north, peer } = await facing({});
  const { deliveryId } = (await send(north.client, { target: "south/bob", onBehalfOf: "alice" })).delivery;
  await claimed(north, 1);
  const said = { state: DeliveryState.DELIVERY_STATE_SILENT };
  peer.tell({
    $case: "receipts",
    value: { receipts: [makeReceipt("del_purged", said), makeReceipt(deliveryId, said)] },
  });
  expect(stateName(await ended(north.client, deliveryId))).toBe("SILENT");
  expect(await refusal(get(north.client, "del_purged"))).toMatchObject({ reason: "UNKNOWN_DELIVERY" });
  const redrive = { requestId: "r", deliveryId: "del_purged" };
  expect(await refusal(unaryCall(north.client, DirectMessageServiceService.redriveDelivery, redrive))).toMatchObject({
    reason: "UNKNOWN_DELIVERY",
    retryable: false,
  });
  expect(readDeliveryTotals(north.store.reader).accepted).toBe(1);
  expect(peer.asked).not.toContain("del_purged");
});

test("DA-6 a peer that there is no way to is refused at the door, and nothing waits for it", async () => {
  const north = await one();
  const { pin } = await ephemeralIdentity(systemClock.now());
  north.peers.set("south", { name: "south", address: "", pin });
  expect(await refusal(send(north.client, { target: "south/bob" }))).toMatchObject({ reason: "TARGET_OFFLINE" });
  expect(readDeliveryTotals(north.store.reader).accepted).toBe(0);
});
