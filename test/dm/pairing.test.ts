import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { FakeClock } from "../../src/base/testing/fakeClock.js";
import { FREE_ATTEMPTS } from "../../src/dm/pairing/pairAttempts.js";
import { formatInvite, parseInvite } from "../../src/rpc/inviteCode.js";
import { gatewayInfo } from "../../src/dm/gatewayInfo.js";
import { DEFAULT_BUDGETS } from "../../src/base/budgets.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { revokePeer } from "../../src/store/peers/changePeer.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { deliverRequest, ended, get, refusal, send, stateName } from "./calls.js";
import { cutIn, inviteOf, join, linked, request } from "./invites.js";
import { freshHome, inputsOf } from "./testGateway.js";
import { useGateways } from "./useGateways.js";

const { use, two } = useGateways();

describe("an invite", () => {
  test("makes two gateways that knew nothing of one another exchange messages, both ways", async () => {
    const { north, south } = await two();
    expect(await join(south, await inviteOf(north))).toMatchObject({ name: "north", address: north.peerAddress });
    expect(north.book.list()).toMatchObject([{ name: "south", pin: south.identity.pin, address: south.peerAddress }]);
    const there = await send(south.client, { target: "north/bob", body: "ping" });
    expect(await ended(south.client, there.delivery.deliveryId)).toMatchObject({ reply: { text: "PING" } });
    const back = await send(north.client, { target: "south/bob", body: "pong" });
    expect(await ended(north.client, back.delivery.deliveryId)).toMatchObject({ reply: { text: "PONG" } });
  });

  test("outlives a restart on both sides", async () => {
    const homesOf = [freshHome(), freshHome()] as const;
    const { north, south } = await two({ home: homesOf[0] }, { home: homesOf[1] });
    await join(south, await inviteOf(north));
    await Promise.all([north.close(), south.close()]);
    const again = await two(
      { home: homesOf[0], identity: north.identity },
      { home: homesOf[1], identity: south.identity },
    );
    await again.south.dm.registry.update({ name: "north", address: again.north.peerAddress });
    const { delivery } = await send(again.south.client, { target: "north/bob", body: "still" });
    expect(await ended(again.south.client, delivery.deliveryId)).toMatchObject({ reply: { text: "STILL" } });
  });

  test("serves one key once; that key may repeat the call", async () => {
    const { north, south } = await two();
    const code = await inviteOf(north);
    await join(south, code);
    await join(south, code);
    const west = await use({ name: "west" });
    expect(await refusal(join(west, code))).toMatchObject({ reason: "INVITE_EXPIRED" });
    expect(north.book.list()).toHaveLength(1);
    expect(west.book.list()).toEqual([]);
  });

  test("that two keys redeem at once serves one of them", async () => {
    const north = await use({ name: "north" });
    const [west, east] = await Promise.all([use({ name: "west" }), use({ name: "east" })]);
    const code = await inviteOf(north);
    const outcomes = await Promise.allSettled([join(west, code), join(east, code)]);
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused).toMatchObject([{ reason: { reason: "INVITE_EXPIRED" } }]);
    expect(north.book.list()).toHaveLength(1);
  });

  test("redeemed by a gateway that cannot be dialled lets it write, and refuses what cannot reach it", async () => {
    const { north, south } = await two();
    const code = await inviteOf(north);
    await south.dm.registry.join({ requestId: request(), code, name: "", ownAddress: "" });
    const { delivery } = await send(south.client, { target: "north/bob", body: "hi" });
    expect(await ended(south.client, delivery.deliveryId)).toMatchObject({ reply: { text: "HI" } });
    expect(await refusal(send(north.client, { target: "south/bob" }))).toMatchObject({ reason: "TARGET_OFFLINE" });
    await north.dm.registry.update({ name: "south", address: south.peerAddress });
    const back = await send(north.client, { target: "south/bob", body: "ho" });
    expect(await ended(north.client, back.delivery.deliveryId)).toMatchObject({ reply: { text: "HO" } });
  });

  test("makes no code twice for one request, and keeps no secret", async () => {
    const { north } = await two();
    const invite = { principal: "client:cli", requestId: "same", name: "", address: "x:1", grants: undefined };
    const { code } = await north.dm.registry.invite({ ...invite, connector: false });
    expect(await refusal(north.dm.registry.invite({ ...invite, connector: false }))).toMatchObject({
      reason: "ALREADY_EXISTS",
    });
    const parsed = parseInvite(code);
    if (parsed.kind !== "invite") throw new Error("no invite");
    const secret = Buffer.from(parsed.invite.secret);
    for (const file of ["state.db", "state.db-wal"]) {
      expect(readFileSync(resolve(north.home, file)).includes(secret)).toBe(false);
    }
  });

  test("is good for ten minutes", async () => {
    const clock = new FakeClock(systemClock.now());
    const north = await use({ name: "north", clock });
    const south = await use({ name: "south" });
    const code = await inviteOf(north);
    clock.jumpWallTime(DEFAULT_BUDGETS.inviteMs);
    expect(await refusal(join(south, code))).toMatchObject({ reason: "INVITE_EXPIRED" });
    expect(north.book.list()).toEqual([]);
  });

  test("is not spent by a stranger's wrong secrets, who has to wait longer with each", async () => {
    const clock = new FakeClock(systemClock.now());
    const north = await use({ name: "north", clock });
    const south = await use({ name: "south" });
    const code = await inviteOf(north);
    const parsed = parseInvite(code);
    if (parsed.kind !== "invite") throw new Error("no invite");
    const wrong = (byte: number): string => formatInvite({ ...parsed.invite, secret: Buffer.alloc(16, byte) });
    for (let attempt = 1; attempt <= FREE_ATTEMPTS; attempt++) {
      expect(await refusal(join(south, wrong(attempt)))).toMatchObject({ reason: "INVITE_INVALID" });
    }
    expect(await refusal(join(south, code))).toMatchObject({ reason: "OVERLOADED", details: { retryAfterMs: 1_000 } });
    expect(north.book.list()).toEqual([]);
    clock.advance(1_000);
    await join(south, code);
    expect(north.book.list()).toHaveLength(1);
  });

  test("DM110 of a gateway with another key sends nothing to it", async () => {
    const { north, south } = await two();
    const parsed = parseInvite(await inviteOf(north));
    if (parsed.kind !== "invite") throw new Error("no invite");
    const { pin } = await ephemeralIdentity(systemClock.now());
    expect(await refusal(join(south, formatInvite({ ...parsed.invite, pin })))).toMatchObject({
      reason: "PEER_PIN_MISMATCH",
    });
    // The secret has not been spent.
    await join(south, formatInvite(parsed.invite));
  });

  test("that nobody answers, that is mistyped, or that is one's own says so", async () => {
    const { north, south } = await two();
    const code = await inviteOf(north);
    const parsed = parseInvite(code);
    if (parsed.kind !== "invite") throw new Error("no invite");
    const nowhere = formatInvite({ ...parsed.invite, address: "127.0.0.1:1" });
    expect(await refusal(join(south, nowhere))).toMatchObject({ reason: "PEER_UNREACHABLE" });
    const mistyped = code.slice(0, 20) + (code[20] === "A" ? "B" : "A") + code.slice(21);
    expect(await refusal(join(south, mistyped))).toMatchObject({
      reason: "INVITE_INVALID",
      message: "The code is damaged: a character was lost or changed.",
    });
    expect(await refusal(join(north, code))).toMatchObject({ reason: "INVITE_INVALID" });
  });

  test("does not take a name from another key, and a configured peer stays as it is", async () => {
    const { north, south } = await two();
    const { pin } = await ephemeralIdentity(systemClock.now());
    north.peers.set("south", { name: "south", address: "127.0.0.1:1", pin });
    expect(await refusal(join(south, await inviteOf(north)))).toMatchObject({ reason: "PEER_EXISTS" });
    expect(await refusal(inviteOf(north, { name: "south" }))).toMatchObject({ reason: "PEER_EXISTS" });
    await join(south, await inviteOf(north, { name: "other" }));
    expect(north.book.list().map(({ name }) => name)).toEqual(["other", "south"]);
    expect(await refusal(north.dm.registry.revoke("south", () => 0))).toMatchObject({ reason: "FAILED_PRECONDITION" });
    expect(await refusal(north.dm.registry.update({ name: "south" }))).toMatchObject({ reason: "FAILED_PRECONDITION" });
  });

  test("for a key that is paired updates its address and grants, under its name", async () => {
    const { north, south } = await two();
    await join(south, await inviteOf(north, { name: "friend" }));
    await join(south, await inviteOf(north, { grants: ["bob"] }), "north");
    expect(north.book.list()).toMatchObject([{ name: "friend", grants: ["bob"] }]);
    expect(await refusal(join(south, await inviteOf(north), "elsewhere"))).toMatchObject({ reason: "PEER_EXISTS" });
  });
});

describe("a revoked peer", () => {
  test("is cut at once and known no more; what waits for it ends, and a later message has no target", async () => {
    const { north, south } = await two({}, { running: false });
    await join(south, await inviteOf(north));
    await Promise.all([linked(north, "south"), linked(south, "north")]);
    const claimed = await send(north.client, { target: "south/bob" });
    await south.until("the message is there", () => inputsOf(south, "bob")[0]);
    await north.until("it is claimed", () =>
      readDeliveryTotals(north.store.reader).states.claimed === 1 ? true : undefined,
    );
    await north.dm.registry.hold("south", "client:cli", "before the end");
    const waiting = await send(north.client, { target: "south/alice" });
    const pin = south.identity.pin;
    const caller = await north.callerAs(south.identity);
    const roster = { caller: undefined, fingerprint: "" };
    await unaryCall(caller, PeerServiceService.listRoster, roster);

    expect(await north.dm.registry.revoke("south", cutIn(north))).toBeGreaterThanOrEqual(3);
    expect(
      north.listeners.flatMap(({ connections }) => connections.list()).filter((c) => c.identity?.pin === pin),
    ).toEqual([]);
    expect(await refusal(unaryCall(caller, PeerServiceService.listRoster, roster))).toMatchObject({
      reason: expect.stringMatching(/^(PEER_REVOKED|PEER_KEY_UNKNOWN|UNAVAILABLE)$/) as string,
    });
    const end = await get(north.client, waiting.delivery.deliveryId);
    expect([stateName(end), end.failure?.reason]).toEqual(["FAILED", 330]);
    expect(stateName(await get(north.client, claimed.delivery.deliveryId))).toBe("UNKNOWN");
    expect(await refusal(send(north.client, { target: "south/bob" }))).toMatchObject({ reason: "UNKNOWN_PEER" });
    const again = { requestId: "again", deliveryId: waiting.delivery.deliveryId };
    expect(await refusal(unaryCall(north.client, DirectMessageServiceService.redriveDelivery, again))).toMatchObject({
      reason: "UNKNOWN_PEER",
    });
    expect(await north.dm.registry.revoke("south", cutIn(north))).toBe(0);
    expect(await refusal(north.dm.registry.revoke("nobody", cutIn(north)))).toMatchObject({ reason: "UNKNOWN_PEER" });
  });

  test("has its messages ended by the next start, where the gateway was killed in between", async () => {
    const home = freshHome();
    const { north, south } = await two({ home });
    await join(south, await inviteOf(north));
    await north.dm.registry.hold("south", "client:cli", "to keep it here");
    const { delivery } = await send(north.client, { target: "south/bob" });
    await north.store.writer.execute(revokePeer, { name: "south", now: systemClock.now() });
    await north.close();
    const again = await use({ name: "north", home, identity: north.identity });
    await again.start();
    expect(await ended(again.client, delivery.deliveryId)).toMatchObject({ failure: { reason: 330 } });
  });

  test("keeps what it sends waiting, and a fresh pairing lets it through", async () => {
    const { north, south } = await two();
    await join(south, await inviteOf(north));
    await linked(south, "north");
    await north.dm.registry.revoke("south", cutIn(north));
    await south.until("the way is down", () => (south.dm.wayTo("north")?.connected === true ? undefined : true));
    const { delivery } = await send(south.client, { target: "north/bob", body: "again" });
    expect(stateName(await get(south.client, delivery.deliveryId))).toBe("QUEUED");
    await join(south, await inviteOf(north));
    expect(await ended(south.client, delivery.deliveryId)).toMatchObject({ reply: { text: "AGAIN" } });
  });

  test("leaves its name to another key only where an operator gives it", async () => {
    const { north, south } = await two();
    await join(south, await inviteOf(north));
    await north.dm.registry.revoke("south", cutIn(north));
    const other = await use({ name: "south" });
    // The hint leads on: to revoke the name once more would change nothing.
    expect(await refusal(join(other, await inviteOf(north)))).toMatchObject({
      reason: "PEER_EXISTS",
      hint: expect.stringContaining("--name south") as string,
    });
    await join(other, await inviteOf(north, { name: "south" }));
    expect(north.book.list()).toMatchObject([{ name: "south", pin: other.identity.pin }]);
  });
});

describe("a stranger", () => {
  test("may pair and nothing else, and a hostile name or address is refused before the invite is looked at", async () => {
    const { north } = await two();
    const stranger = await north.callerAs(await ephemeralIdentity(systemClock.now()));
    expect(await refusal(unaryCall(stranger, PeerServiceService.deliverDm, deliverRequest("k")))).toMatchObject({
      reason: "PEER_KEY_UNKNOWN",
    });
    const caller = gatewayInfo({ name: "x", version: "1", storeId: "s" }, DEFAULT_BUDGETS);
    const pair = { requestId: "r", secret: Buffer.alloc(16), caller, address: "", connector: false };
    for (const name of ["", "a'b", "a\nb", "$(x)", "\u202Eabc", "x".repeat(65), "a\u0000b"]) {
      const call = unaryCall(stranger, PeerServiceService.pair, { ...pair, caller: { ...caller, name } });
      expect(await refusal(call)).toMatchObject({ reason: "INVALID_FIELD" });
    }
    for (const bad of [
      { address: "unix:/x" },
      { secret: Buffer.alloc(15) },
      { caller: undefined },
      { requestId: "" },
    ]) {
      expect(await refusal(unaryCall(stranger, PeerServiceService.pair, { ...pair, ...bad }))).toMatchObject({
        reason: "INVALID_FIELD",
      });
    }
    expect(await refusal(unaryCall(stranger, PeerServiceService.pair, pair))).toMatchObject({
      reason: "INVITE_INVALID",
    });
  });
});
