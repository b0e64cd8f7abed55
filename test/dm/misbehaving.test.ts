import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { createDeferred } from "../../src/base/deferred.js";
import { FakeClock } from "../../src/base/testing/fakeClock.js";
import { Delivery, DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import { PeerServiceService, type Receipt } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { openBidi } from "../../src/rpc/clients/openBidi.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { reasonError } from "../../src/rpc/rpcError.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { readDelivery } from "../../src/store/deliveries/readDelivery.js";
import { readDestination } from "../../src/store/deliveries/destinations.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { deliverRequest, ended, get, refusal, send, stateName } from "./calls.js";
import { inviteOf, join, linked } from "./invites.js";
import { makeReceipt, type PeerScript } from "./scriptedPeer.js";
import { freshHome, inputsOf, introduce, type TestGateway, type TestGatewayOptions } from "./testGateway.js";
import { facingPeer } from "./facingPeer.js";
import { useGateways } from "./useGateways.js";
import { useScriptedPeers } from "./useScriptedPeers.js";

const DAY_MS = 24 * 60 * 60_000;
const { DELIVERY_STATE_REPLIED, DELIVERY_STATE_FAILED, DELIVERY_STATE_SILENT } = DeliveryState;
const { use, two } = useGateways();
const usePeer = useScriptedPeers();

/** A started gateway whose peer `south` does as the script says. */
const facing = (script: PeerScript, options?: Partial<TestGatewayOptions>) =>
  facingPeer({ use, usePeer }, script, options);

/** Sends a message of alice's and waits until the peer has accepted it. @returns its id */
async function accepted(north: TestGateway, target = "south/bob"): Promise<string> {
  const { delivery } = await send(north.client, { target, onBehalfOf: "alice" });
  await reaches(north, delivery.deliveryId, "claimed");
  return delivery.deliveryId;
}

function reaches(north: TestGateway, id: string, state: string): Promise<true> {
  return north.until(`${id} is ${state}`, () =>
    readDelivery(north.store.reader, id)?.state === state ? true : undefined,
  );
}

const told = (north: TestGateway, id: string): readonly string[] =>
  inputsOf(north, "alice").flatMap(({ inReplyTo, text }) => (inReplyTo === id ? [text] : []));

function lastError(north: TestGateway): Promise<string> {
  return north.until("the failure is stored", () => readDestination(north.store.reader, "south").lastError?.reason);
}

const reply = (text: string, more: Partial<NonNullable<Receipt["reply"]>> = {}): Receipt["reply"] => ({
  text,
  truncated: false,
  sha256: createHash("sha256").update(text, "utf8").digest(),
  codePoints: BigInt(text.length),
  repliedAt: undefined,
  ...more,
});

describe("a peer that is slow", () => {
  test("holds the mail of no other", async () => {
    const gate = createDeferred<void>();
    const { north, peer } = await facing({ beforeAnswer: () => gate.promise });
    const quick = await usePeer();
    north.peers.set("west", { name: "west", address: quick.address, pin: quick.pin });
    const slow = await send(north.client, { target: "south/bob", body: "slow" });
    await peer.received("slow");
    for (let n = 0; n < 3; n++) await accepted(north, "west/bob");
    expect(stateName(await get(north.client, slow.delivery.deliveryId))).toBe("QUEUED");
    gate.resolve();
    await reaches(north, slow.delivery.deliveryId, "claimed");
  });
});

describe("a peer that is wedged", () => {
  test("which takes connections and says nothing is given up after its time, and its mail waits", async () => {
    const clock = new FakeClock(systemClock.now());
    const { north, peer } = await facing({ greets: false }, { clock });
    const { delivery } = await send(north.client, { target: "south/bob" });
    await peer.watched();
    clock.advance(10_000);
    expect(await lastError(north)).toBe("CONNECT_TIMEOUT");
    expect(await get(north.client, delivery.deliveryId)).toMatchObject({ attempts: 0, bodyRemoved: false });
    expect(peer.singles).toEqual([]);
  });

  test("which stores a message and never answers is called again under the same key", async () => {
    let answers = 0;
    const { north, peer } = await facing(
      { beforeAnswer: () => (answers++ === 0 ? new Promise(() => undefined) : Promise.resolve()) },
      { budgets: { unaryDeadlineMs: 300 } },
    );
    const id = await accepted(north);
    expect(peer.kept).toHaveLength(1);
    expect(new Set(peer.keys)).toEqual(new Set([id]));
    expect((await get(north.client, id)).attempts).toBeGreaterThanOrEqual(2);
  });
});

describe("a peer of another version", () => {
  test.each([
    ["newer", { protocolMin: 2, protocolMax: 3 }, "PEER_PROTOCOL_UNSUPPORTED"],
    ["older", { protocolMin: 0, protocolMax: 0 }, "PEER_PROTOCOL_UNSUPPORTED"],
    ["forgetful", { dedupeHorizon: { seconds: 3_600n, nanos: 0 } }, "HORIZON_TOO_SHORT"],
  ])("that is %s is sent nothing and says why, until it is another", async (_what, said, reason) => {
    let info: object = said;
    const { north, peer } = await facing({ info: () => info });
    const { delivery } = await send(north.client, { target: "south/bob" });
    expect(await lastError(north)).toBe(reason);
    expect(stateName(await get(north.client, delivery.deliveryId))).toBe("QUEUED");
    expect([...peer.singles, ...peer.batches]).toEqual([]);
    info = {};
    await reaches(north, delivery.deliveryId, "claimed");
  });

  test("may know revisions that this gateway does not", async () => {
    const { north } = await facing({ info: () => ({ protocolMin: 0, protocolMax: 9 }) });
    await accepted(north);
  });
});

describe("a peer that lies", () => {
  test("which accepts a message and then does not know it makes it UNKNOWN, and late evidence resolves it once", async () => {
    const { north, peer } = await facing({ receiptOf: () => reasonError("UNKNOWN_DELIVERY") });
    const id = await accepted(north);
    peer.tell({ $case: "gap", value: { requested: undefined, oldestKept: undefined } });
    await reaches(north, id, "unknown");
    expect(told(north, id)).toHaveLength(1);
    const late = (state: DeliveryState) =>
      peer.tell({ $case: "receipts", value: { receipts: [makeReceipt(id, { state, reply: reply("late") })] } });
    late(DELIVERY_STATE_REPLIED);
    await reaches(north, id, "replied");
    late(DELIVERY_STATE_FAILED);
    late(DELIVERY_STATE_REPLIED);
    await cursorAt(north, 4);
    expect(told(north, id)).toEqual([expect.stringContaining("not known"), "late"]);
    expect(stateName(await get(north.client, id))).toBe("REPLIED");
  });

  test("about messages that it was never sent, about states nobody knows and about other epochs changes nothing", async () => {
    const { north, peer } = await facing({});
    const west = await usePeer();
    north.peers.set("west", { name: "west", address: west.address, pin: west.pin });
    const id = await accepted(north);
    const elsewhere = await accepted(north, "west/bob");
    const local = (await send(north.client, { target: "bob" })).delivery.deliveryId;
    await ended(north.client, local);
    const before = [elsewhere, local, id].map((each) => readDelivery(north.store.reader, each));
    const said = { state: DELIVERY_STATE_REPLIED, reply: reply("a lie") };
    peer.tell({
      $case: "receipts",
      value: {
        receipts: [
          makeReceipt("del_nothing", said),
          makeReceipt("'; DROP TABLE deliveries; --", said),
          makeReceipt("", said),
          makeReceipt(elsewhere, said),
          makeReceipt(local, said),
          makeReceipt(id, { ...said, attemptEpoch: 2 }),
          makeReceipt(id, { ...said, attemptEpoch: 0 }),
          makeReceipt(id, { ...said, state: 99 as DeliveryState }),
          makeReceipt(id, { ...said, state: DeliveryState.DELIVERY_STATE_UNSPECIFIED }),
        ],
      },
    });
    await cursorAt(north, 1);
    expect([elsewhere, local, id].map((each) => readDelivery(north.store.reader, each))).toEqual(before);
    expect(told(north, id)).toEqual([]);
  });

  test("with an end and then another one is believed once", async () => {
    const { north, peer } = await facing({});
    const id = await accepted(north);
    for (const state of [DELIVERY_STATE_SILENT, DELIVERY_STATE_REPLIED, DELIVERY_STATE_FAILED]) {
      peer.tell({ $case: "receipts", value: { receipts: [makeReceipt(id, { state, reply: reply("second") })] } });
    }
    await cursorAt(north, 3);
    const end = await get(north.client, id);
    expect([stateName(end), end.reply]).toEqual(["SILENT", undefined]);
    expect(told(north, id)).toHaveLength(1);
  });

  test("about the whole of a reply has it marked as not whole, and a reply over the bound is cut", async () => {
    const { north, peer } = await facing({});
    const [cut, huge] = [await accepted(north), await accepted(north)];
    const state = DELIVERY_STATE_REPLIED;
    peer.tell({
      $case: "receipts",
      value: {
        receipts: [
          makeReceipt(cut, {
            state,
            reply: reply("only the beg", { sha256: createHash("sha256").update("all").digest() }),
          }),
          makeReceipt(huge, { state, reply: reply("x".repeat(20_000)) }),
        ],
      },
    });
    expect((await ended(north.client, cut)).reply).toMatchObject({ text: "only the beg", truncated: true });
    const { reply: long } = await ended(north.client, huge);
    expect([long?.text.length, long?.truncated, long?.codePoints]).toEqual([18_000, true, 20_000n]);
  });

  test("about figures and times that nobody can hold is passed over or cut, and nothing else suffers", async () => {
    const { north, peer } = await facing({});
    const id = await accepted(north);
    const receipts = [
      makeReceipt(id, {
        state: DELIVERY_STATE_REPLIED,
        reply: reply("counted", { codePoints: 2n ** 64n - 1n }),
        updatedAt: { seconds: 2n ** 53n, nanos: 999_999_999 },
      }),
    ];
    peer.tell({ $case: "receipts", value: { receipts } }, 2n ** 64n - 1n);
    expect(await lastError(north)).toBe("MALFORMED_MESSAGE");
    expect(readDestination(north.store.reader, "south").receiptCursor).toBe(0);
    await linked(north, "south");
    peer.tell({ $case: "receipts", value: { receipts } }, 7n);
    const end = await ended(north.client, id);
    expect(end.reply).toMatchObject({ text: "counted", codePoints: BigInt(Number.MAX_SAFE_INTEGER) });
    expect(JSON.stringify(Delivery.toJSON(end))).toContain("counted");
    await accepted(north);
  });

  test("in its answer to a batch is asked by key", async () => {
    const { north, peer } = await facing({ answersBatchesWith: "nothing" });
    await linked(north, "south");
    await north.dm.registry.hold("south", "client:cli", "to gather a batch");
    const sends = Array.from({ length: 12 }, (_, n) => send(north.client, { target: `south/z${String(n)}` }));
    const ids = (await Promise.all(sends)).map(({ delivery }) => delivery.deliveryId);
    await north.dm.registry.release("south", "client:ops");
    await north.until("all are accepted", () =>
      readDeliveryTotals(north.store.reader).states.claimed === 12 ? true : undefined,
    );
    expect(peer.kept).toHaveLength(12);
    expect(new Set(peer.keys)).toEqual(new Set(ids));
  });
});

/** Waits until receipts up to a place are stored. */
function cursorAt(north: TestGateway, place: number): Promise<true> {
  return north.until(`receipts up to ${String(place)} are stored`, () =>
    readDestination(north.store.reader, "south").receiptCursor >= place ? true : undefined,
  );
}

test("a peer whose database was replaced makes what it had accepted UNKNOWN, and takes what comes", async () => {
  const { north, south } = await two({}, { running: false });
  introduce(north, south);
  const lost = await accepted(north);
  await south.close();
  const empty = await use({ name: "south", home: freshHome(), identity: south.identity });
  introduce(north, empty);
  await empty.start();
  await reaches(north, lost, "unknown");
  expect(told(north, lost)).toHaveLength(1);
  const next = await send(north.client, { target: "south/bob", body: "next" });
  expect(await ended(north.client, next.delivery.deliveryId)).toMatchObject({ reply: { text: "NEXT" } });
});

test("another gateway at a peer's address is sent nothing, and the peer gets its mail where it is", async () => {
  const budgets = { peerRetryMinMs: 5, peerRetryMaxMs: 20 };
  const [north, south] = [await use({ name: "north", budgets }), await use({ name: "south" })];
  const usurper = await use({ name: "south" });
  north.peers.set("south", { name: "south", address: usurper.peerAddress, pin: south.identity.pin });
  usurper.peers.set("north", { name: "north", address: north.peerAddress, pin: north.identity.pin });
  south.peers.set("north", { name: "north", address: north.peerAddress, pin: north.identity.pin });
  await Promise.all([north.start(), south.start(), usurper.start()]);
  const { delivery } = await send(north.client, { target: "south/bob", body: "for one" });
  expect(await lastError(north)).toBe("PEER_PIN_MISMATCH");
  north.peers.set("south", { name: "south", address: south.peerAddress, pin: south.identity.pin });
  expect(await ended(north.client, delivery.deliveryId)).toMatchObject({ reply: { text: "FOR ONE" } });
  expect(readDeliveryTotals(usurper.store.reader).accepted).toBe(0);
});

test("a peer that drains is left alone for as long as it asks", async () => {
  const clock = new FakeClock(systemClock.now());
  let drains = true;
  const { north, peer } = await facing(
    { judge: () => (drains ? reasonError("DRAINING", {}, { retryAfterMs: 7_000 }) : "accept") },
    { clock, budgets: { peerRetryMinMs: 20, peerRetryMaxMs: 60_000 } },
  );
  const { delivery } = await send(north.client, { target: "south/bob" });
  const { deliveryId } = delivery;
  const { nextAttemptAt, lastError: error } = await north.until("it was refused", () => {
    const row = readDelivery(north.store.reader, deliveryId);
    return row?.attempts === 1 ? row : undefined;
  });
  expect(nextAttemptAt).toBe(clock.now() + 7_000);
  expect(error?.reason).toBe("DRAINING");
  drains = false;
  clock.advance(6_999);
  await new Promise((resolve) => setImmediate(resolve));
  expect(peer.singles).toHaveLength(1);
  // The lane's wait begins a moment after the refusal is stored.
  await north.until("the wait has begun", () => (clock.pending > 0 ? true : undefined));
  clock.advance(7_000);
  await reaches(north, deliveryId, "claimed");
  expect(peer.singles).toHaveLength(2);
});

test("a gateway that drains says when to come back, for a single message and in a batch", async () => {
  const south = await use({ name: "south", running: false });
  const identity = await ephemeralIdentity(systemClock.now());
  south.peers.set("north", { name: "north", address: "127.0.0.1:1", pin: identity.pin });
  const north = await south.callerAs(identity);
  await south.dm.drain();
  const refused = { reason: "DRAINING", retryable: true, details: { retryAfterMs: 5_000 } };
  expect(await refusal(unaryCall(north, PeerServiceService.deliverDm, deliverRequest("k1")))).toMatchObject(refused);
  const batch = openBidi(north, PeerServiceService.deliverDMs);
  await batch.send({ items: [deliverRequest("k2")] });
  batch.end();
  const answers = [];
  for await (const { results } of batch.responses) answers.push(...results);
  expect(answers).toMatchObject([{ result: { $case: "refused", value: { reason: 13 } } }]);
  expect(readDeliveryTotals(south.store.reader).accepted).toBe(0);
});

describe.each([
  ["ahead", DAY_MS],
  ["behind", -DAY_MS],
])("a peer whose clock is a day %s", (_what, ahead) => {
  test("pairs, exchanges messages both ways and lets none expire for it", async () => {
    const clock = { ...systemClock, now: () => systemClock.now() + ahead };
    const identity = await ephemeralIdentity(clock.now());
    const { north, south } = await two({}, { clock, tlsClock: clock, identity });
    await join(south, await inviteOf(north));
    const there = await send(north.client, { target: "south/bob", body: "ping" });
    expect(await ended(north.client, there.delivery.deliveryId)).toMatchObject({ reply: { text: "PING" } });
    const back = await send(south.client, { target: "north/bob", body: "pong" });
    expect(await ended(south.client, back.delivery.deliveryId)).toMatchObject({ reply: { text: "PONG" } });
  });

  test("holds a message to the sender's day and not longer", async () => {
    const clock = { ...systemClock, now: () => systemClock.now() + ahead };
    const { north, south } = await two({}, { clock, running: false });
    introduce(north, south);
    const id = await accepted(north);
    const [here, there] = [
      readDelivery(north.store.reader, id),
      south.store.reader.get<{ at: number }>("SELECT expires_at AS at FROM deliveries WHERE key = ?", id),
    ];
    expect(Math.abs((there?.at ?? 0) - (here?.expiresAt ?? 0) - ahead)).toBeLessThan(60_000);
  });
});
