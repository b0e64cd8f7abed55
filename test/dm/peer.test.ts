import { describe, expect, test } from "vitest";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { systemClock } from "../../src/base/clock.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { openBidi } from "../../src/rpc/clients/openBidi.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { toTimestamp } from "../../src/rpc/wire/times.js";
import { deliverRequest, ended, get, refusal, send, stateName } from "./calls.js";
import { freshHome, inputsOf, introduce, type TestGatewayOptions } from "./testGateway.js";
import { useGateways } from "./useGateways.js";

const { use, pair } = useGateways();

describe("a message to a peer", () => {
  test("DM104 reaches its agent, and the reply comes back through a receipt, once", async () => {
    const { north, south } = await pair();
    const { delivery } = await send(north.client, { target: "south/bob", body: "ping", onBehalfOf: "alice" });
    const end = await ended(north.client, delivery.deliveryId);
    expect(stateName(end)).toBe("REPLIED");
    expect(end).toMatchObject({
      body: "",
      bodyRemoved: true,
      reply: { text: "PING" },
      recipient: { gateway: "south", agent: "bob" },
    });
    expect(end.hops.map(({ gateway }) => gateway)).toEqual(["north", "south"]);
    expect(inputsOf(south, "bob")).toMatchObject([
      { text: "ping", author: "agent:north/alice", attribution: "Message from alice (@north/alice):" },
    ]);
    await north.until("alice has answered her notice", () =>
      inputsOf(north, "alice").every(({ state }) => state === "ended") ? true : undefined,
    );
    expect(inputsOf(north, "alice")).toMatchObject([
      { text: "PING", author: "agent:south/bob", inReplyTo: delivery.deliveryId },
    ]);
  });

  test("DM101 by the peer's bare name means its main agent", async () => {
    const { north, south } = await pair();
    const { delivery } = await send(north.client, { target: "South" });
    expect(stateName(await ended(north.client, delivery.deliveryId))).toBe("REPLIED");
    expect(inputsOf(south, "alice")).toHaveLength(1);
  });

  test("waits while the peer is down, and arrives once it is back at another address", async () => {
    const home = freshHome();
    const first = await use({ name: "south", home });
    const { identity } = first;
    const north = await use({ name: "north" });
    introduce(north, first);
    await first.close();
    await north.start();
    const { delivery } = await send(north.client, { target: "south/bob", body: "late" });
    await north.until("the peer was found away", () => {
      const row = north.store.reader.get<{ failures: number }>(
        "SELECT failures FROM destinations WHERE gateway = 'south'",
      );
      return (row?.failures ?? 0) >= 2 ? true : undefined;
    });
    expect(stateName(await get(north.client, delivery.deliveryId))).toBe("QUEUED");
    const second = await use({ name: "south", home, identity });
    introduce(north, second);
    await second.start();
    expect(stateName(await ended(north.client, delivery.deliveryId))).toBe("REPLIED");
    expect(inputsOf(second, "bob")).toHaveLength(1);
  });

  test("DM066 accepted before the receiver restarts ends REPLIED once", async () => {
    const home = freshHome();
    const first = await use({ name: "south", home, running: false });
    const north = await use({ name: "north" });
    introduce(north, first);
    await Promise.all([north.start(), first.start()]);
    const { delivery } = await send(north.client, { target: "south/bob", onBehalfOf: "alice" });
    await north.until("the peer has accepted", () =>
      readDeliveryTotals(north.store.reader).states.claimed === 1 ? true : undefined,
    );
    await first.close();
    const second = await use({ name: "south", home, identity: first.identity });
    introduce(north, second);
    await second.start();
    const end = await ended(north.client, delivery.deliveryId);
    expect(stateName(end)).toBe("REPLIED");
    expect(inputsOf(second, "bob")).toHaveLength(1);
    expect(inputsOf(north, "alice")).toHaveLength(1);
  });

  test("tells its sender after the sending gateway has restarted", async () => {
    const home = freshHome();
    const south = await use({ name: "south", running: false });
    const first = await use({ name: "north", home });
    introduce(first, south);
    await Promise.all([first.start(), south.start()]);
    const { delivery } = await send(first.client, { target: "south/bob", onBehalfOf: "alice" });
    await south.until("the message is here", () => inputsOf(south, "bob")[0]);
    await first.close();
    south.run();
    await south.until("the turn has ended", () =>
      readDeliveryTotals(south.store.reader).states.replied === 1 ? true : undefined,
    );
    const second = await use({ name: "north", home, identity: first.identity });
    introduce(second, south);
    await second.start();
    expect(stateName(await ended(second.client, delivery.deliveryId))).toBe("REPLIED");
    expect(inputsOf(second, "alice")).toHaveLength(1);
  });

  test("DM086 that the peer refuses for good ends at once with the peer's reason", async () => {
    const { north } = await pair();
    const { delivery } = await send(north.client, { target: "south/nobody", onBehalfOf: "alice" });
    const end = await ended(north.client, delivery.deliveryId);
    expect(stateName(end)).toBe("FAILED");
    expect(end.failure).toMatchObject({ reason: 300, message: 'There is nobody at the address "nobody".' });
    expect(inputsOf(north, "alice")[0]?.text).toContain("was not delivered");
  });

  test("DM029 that fails there can be sent again, in the next epoch of the same delivery", async () => {
    let fail = true;
    const { north, south } = await pair(
      {},
      { answer: () => (fail ? { outcome: "failed", text: "" } : { outcome: "completed", text: "ok" }) },
    );
    const { delivery } = await send(north.client, { target: "south/bob", body: "try", onBehalfOf: "alice" });
    expect(stateName(await ended(north.client, delivery.deliveryId))).toBe("FAILED");
    fail = false;
    const { deliveryId } = delivery;
    await unaryCall(north.client, DirectMessageServiceService.redriveDelivery, { requestId: "r", deliveryId });
    const end = await ended(north.client, deliveryId);
    expect(end).toMatchObject({ attemptEpoch: 2, reply: { text: "ok" } });
    expect(readDeliveryTotals(south.store.reader).accepted).toBe(1);
    expect(inputsOf(south, "bob").map(({ text, author }) => `${author} ${text}`)).toEqual([
      "agent:north/alice try",
      "agent:north/alice try",
    ]);
  });

  test("DM108 is withdrawn where the peer confirms that it has not started", async () => {
    const { north, south } = await pair({}, { running: false });
    const { delivery } = await send(north.client, { target: "south/bob" });
    const { deliveryId } = delivery;
    await south.until("the message is here", () => inputsOf(south, "bob")[0]);
    await north.until("the peer has accepted", () =>
      readDeliveryTotals(north.store.reader).states.claimed === 1 ? true : undefined,
    );
    const answer = await unaryCall(north.client, DirectMessageServiceService.cancelDelivery, {
      requestId: "c",
      deliveryId,
    });
    expect(answer.pending).toBe(false);
    expect(stateName(await get(north.client, deliveryId))).toBe("CANCELLED");
    expect(inputsOf(south, "bob")).toMatchObject([{ state: "ended" }]);
  });
});

describe("the peer listener", () => {
  /** A gateway and a caller that it has paired as `north`. */
  async function receiver(options: Partial<TestGatewayOptions> = {}) {
    const south = await use({ name: "south", running: false, ...options });
    const identity = await ephemeralIdentity(systemClock.now());
    south.peers.set("north", { name: "north", address: "127.0.0.1:1", pin: identity.pin });
    return { south, north: await south.callerAs(identity) };
  }

  test("DM111 gives the same delivery for the same key, and refuses other content under it", async () => {
    const { south, north } = await receiver();
    const { deliverDm } = PeerServiceService;
    const first = await unaryCall(north, deliverDm, deliverRequest("k1"));
    const again = await unaryCall(north, deliverDm, deliverRequest("k1", { attempt: 2, depth: 5 }));
    expect(first).toMatchObject({ replayed: false, position: 1, hop: { gateway: "south" } });
    expect(again).toMatchObject({ replayed: true, hop: { deliveryId: first.hop?.deliveryId } });
    expect(await refusal(unaryCall(north, deliverDm, deliverRequest("k1", { body: "other" })))).toMatchObject({
      reason: "KEY_CONFLICT",
    });
    expect(inputsOf(south, "bob")).toHaveLength(1);
  });

  test("lets an unknown key do nothing", async () => {
    const { south } = await receiver();
    const stranger = await south.callerAs(await ephemeralIdentity(systemClock.now()));
    const calls = [
      unaryCall(stranger, PeerServiceService.deliverDm, deliverRequest("k1")),
      unaryCall(stranger, PeerServiceService.getReceipt, { key: "k1" }),
      unaryCall(stranger, PeerServiceService.cancelDm, { requestId: "k1" }),
      unaryCall(stranger, PeerServiceService.listRoster, { caller: undefined, fingerprint: "" }),
    ];
    for (const call of calls) expect(await refusal(call)).toMatchObject({ reason: "PEER_KEY_UNKNOWN" });
    expect(readDeliveryTotals(south.store.reader).accepted).toBe(0);
  });

  test.each([
    ["16,001 code points", { body: "x".repeat(16_001) }, "BODY_TOO_LONG"],
    ["an empty body", { body: " " }, "EMPTY_BODY"],
    ["DM056 DM-R09 a damaged body", { bodySha256: Buffer.alloc(32) }, "BODY_DIGEST_MISMATCH"],
    ["a message that has expired", { expiresAt: toTimestamp(systemClock.now() - 1) }, "MESSAGE_EXPIRED"],
    ["a chain that is too deep", { depth: 17 }, "DEPTH_EXCEEDED"],
    ["DM105 a forged sender", { senderAgent: "x/../y" }, "INVALID_FIELD"],
    ["DM096 a recipient that does not exist", { recipientAgent: "nobody" }, "UNKNOWN_TARGET"],
    ["a way on to a third gateway", { recipientAgent: "north/carol" }, "UNKNOWN_TARGET"],
  ])("%s is refused and nothing is kept", async (_what, envelope, reason) => {
    const { south, north } = await receiver();
    const call = unaryCall(north, PeerServiceService.deliverDm, deliverRequest("k1", envelope));
    expect(await refusal(call)).toMatchObject({ reason });
    expect(readDeliveryTotals(south.store.reader).accepted).toBe(0);
  });

  test("DM045 refuses text that is not UTF-8", async () => {
    const { south, north } = await receiver();
    const { deliverDm } = PeerServiceService;
    const broken = {
      ...deliverDm,
      requestSerialize: (request: ReturnType<typeof deliverRequest>): Buffer => {
        const bytes = deliverDm.requestSerialize(request);
        bytes[bytes.indexOf("hello")] = 0xff;
        return bytes;
      },
    };
    expect(await refusal(unaryCall(north, broken, deliverRequest("k1")))).toMatchObject({ reason: "INVALID_UTF8" });
    expect(readDeliveryTotals(south.store.reader).accepted).toBe(0);
  });

  test("holds back later items of a batch for the same recipient, and no others", async () => {
    const { north } = await receiver();
    const call = openBidi(north, PeerServiceService.deliverDMs);
    await call.send({
      items: [
        deliverRequest("b1", { body: "first" }),
        deliverRequest("b2", { bodySha256: Buffer.alloc(32) }),
        deliverRequest("b3", { body: "third" }),
        deliverRequest("b4", { recipientAgent: "alice" }),
        deliverRequest("b1", { body: "other" }),
      ],
    });
    call.end();
    const outcomes: string[] = [];
    for await (const { results } of call.responses) {
      for (const { requestId, result } of results) {
        const reason = result?.$case === "refused" ? String(result.value.reason) : "accepted";
        outcomes.push(`${requestId} ${reason}`);
      }
    }
    expect(outcomes).toEqual(["b1 accepted", "b2 307", "b3 324", "b4 accepted", "b1 324"]);
  });

  test("DM114 says what became of a key, and follows receipts from a place", async () => {
    const { south, north } = await receiver();
    await unaryCall(north, PeerServiceService.deliverDm, deliverRequest("k1"));
    await unaryCall(north, PeerServiceService.deliverDm, deliverRequest("k2"));
    expect(await refusal(unaryCall(north, PeerServiceService.getReceipt, { key: "k9" }))).toMatchObject({
      reason: "UNKNOWN_DELIVERY",
    });
    const watch = async (after: bigint | undefined, enough: (keys: string[]) => boolean) => {
      const cursor = after === undefined ? undefined : { epoch: 0n, sequence: after };
      const kinds: string[] = [];
      const seen: string[] = [];
      let place = 0n;
      const stream = readStream(
        north,
        PeerServiceService.watchReceipts,
        { caller: undefined, cursor },
        { timeoutMs: 10_000 },
      );
      for await (const step of stream) {
        kinds.push(step.update?.$case ?? "");
        place = step.cursor?.sequence ?? 0n;
        if (step.update?.$case === "receipts") {
          seen.push(...step.update.value.receipts.map((receipt) => `${receipt.key} ${stateName(receipt)}`));
        }
        if (enough(seen)) break;
      }
      return { kinds, seen, place };
    };
    const { receipt: queued } = await unaryCall(north, PeerServiceService.getReceipt, { key: "k1" });
    expect(queued && stateName(queued)).toBe("QUEUED");
    // The answers have said that both are accepted; a watch tells what changes afterwards.
    const first = await watch(undefined, () => true);
    expect([first.kinds, first.seen]).toEqual([["info"], []]);
    const replied = watch(first.place, (seen) => seen.filter((line) => line.endsWith("REPLIED")).length === 2);
    south.run();
    const second = await replied;
    expect(second.seen.filter((line) => line.endsWith("REPLIED")).sort()).toEqual(["k1 REPLIED", "k2 REPLIED"]);
    expect((await watch(undefined, (seen) => seen.length >= 2)).seen.sort()).toEqual(["k1 REPLIED", "k2 REPLIED"]);
    const receipt = await unaryCall(north, PeerServiceService.getReceipt, { key: "k1" });
    expect(receipt.receipt?.reply?.text).toBe("HELLO");
    // A place that was never given here is of a later state of the store than it has.
    for (const place of [second.place + 1n, 2n ** 64n - 1n]) {
      const beyond = await watch(place, (seen) => seen.length >= 2);
      expect(beyond.kinds.slice(0, 3)).toEqual(["info", "gap", "receipts"]);
      expect(beyond.place).toBe(second.place);
    }
  });

  test("lists its reachable agents, and leaves them out while the fingerprint is current", async () => {
    const { north } = await receiver();
    const { listRoster } = PeerServiceService;
    const first = await unaryCall(north, listRoster, { caller: undefined, fingerprint: "" });
    expect(first.entries.map(({ name, handle }) => `${name} ${handle}`)).toEqual(["alice main", "bob bob"]);
    expect(first.info).toMatchObject({ name: "south", maxBodyCodePoints: 16_000 });
    const second = await unaryCall(north, listRoster, { caller: undefined, fingerprint: first.fingerprint });
    expect(second.entries).toEqual([]);
  });
});
