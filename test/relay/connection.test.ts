import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { RelayCloseReason } from "../../src/gen/talaria/dm/v1/relay_service.js";
import { parseInvite } from "../../src/rpc/inviteCode.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { toDuration } from "../../src/rpc/wire/times.js";
import { readDeliveryByKey } from "../../src/store/deliveries/readDelivery.js";
import { deliverRequest, ended, refusal, send, stateName } from "../dm/calls.js";
import { waitUntil } from "../kit/waitFor.js";
import { info, ScriptedConnector } from "./scriptedConnector.js";
import { useHub } from "./useHub.js";

const key = () => ephemeralIdentity(systemClock.now());

describe("a connection", () => {
  test("of an unpaired key, and of a peer's, is refused", async () => {
    const { hub } = await useHub();
    const stranger = await ScriptedConnector.open(hub, await key());
    expect(await stranger.ended).toMatchObject({ reason: "PEER_KEY_UNKNOWN" });
    const peer = await key();
    hub.peers.set("south", { name: "south", address: "127.0.0.1:1", pin: peer.pin });
    expect(await (await ScriptedConnector.open(hub, peer)).ended).toMatchObject({ reason: "PEER_KEY_UNKNOWN" });
  });

  test("DM089 whose far side forgets keys too soon, or speaks another protocol, is refused with the reason", async () => {
    const { hub, laptop } = await useHub();
    const short = await ScriptedConnector.open(hub, laptop);
    const hello = (more: object) =>
      ({ $case: "hello", value: { info: { ...info(), ...more }, connectionEpoch: 1n } }) as const;
    short.send(hello({ dedupeHorizon: toDuration(1_000) }));
    expect((await short.next("close")).reason).toBe(RelayCloseReason.RELAY_CLOSE_REASON_PROTOCOL);
    expect(await short.ended).toMatchObject({ reason: "HORIZON_TOO_SHORT" });
    const future = await ScriptedConnector.open(hub, laptop);
    future.send(hello({ protocolMin: 9, protocolMax: 9 }));
    expect(await future.ended).toMatchObject({ reason: "PEER_PROTOCOL_UNSUPPORTED" });
  });

  test("that does not begin with hello, or sends a second, is ended", async () => {
    const { hub, laptop } = await useHub();
    const rude = await ScriptedConnector.open(hub, laptop);
    rude.publish({ name: "dana" });
    expect(await rude.ended).toMatchObject({ reason: "FRAME_OUT_OF_PHASE" });
    const twice = await ScriptedConnector.connect(hub, laptop);
    twice.send({ $case: "hello", value: { info: info(), connectionEpoch: 9n } });
    expect(await twice.ended).toMatchObject({ reason: "FRAME_OUT_OF_PHASE" });
  });

  test("newest proven one of a connector wins; the older is told, an earlier one that comes late is refused", async () => {
    const { hub, laptop } = await useHub();
    const older = await ScriptedConnector.connect(hub, laptop, { epoch: 10n });
    const newer = await ScriptedConnector.connect(hub, laptop, { epoch: 11n });
    expect((await older.next("close")).reason).toBe(RelayCloseReason.RELAY_CLOSE_REASON_REPLACED);
    expect(await older.ended).toMatchObject({ reason: "CONNECTOR_REPLACED" });
    const late = await ScriptedConnector.open(hub, laptop);
    late.send({ $case: "hello", value: { info: info(), connectionEpoch: 9n } });
    expect(await late.ended).toMatchObject({ reason: "CONNECTOR_REPLACED" });
    newer.publish({ name: "dana" });
    const { delivery } = await send(hub.client, { target: "dana@laptop" });
    expect((await newer.lease()).item.requestId).toBe(delivery.deliveryId);
  });

  test("is told that the gateway drains", async () => {
    const { hub, laptop } = await useHub();
    const connector = await ScriptedConnector.connect(hub, laptop);
    await hub.dm.drain();
    expect((await connector.next("close")).reason).toBe(RelayCloseReason.RELAY_CLOSE_REASON_DRAINING);
    expect(await connector.ended).toMatchObject({ reason: "DRAINING" });
  });

  test("of a key that was paired by invite works until the pairing is ended; then what waits for it ends", async () => {
    const { hub } = await useHub();
    const phone = await key();
    const { code } = await hub.dm.registry.invite({
      address: hub.peerAddress,
      principal: "cli",
      requestId: "invite-1",
      name: "phone",
      grants: ["bob"],
      connector: true,
    });
    const invite = parseInvite(code);
    if (invite.kind !== "invite") throw new Error(invite.kind);
    const pairing = { secret: Buffer.from(invite.invite.secret), caller: info(), address: "", connector: true };
    const client = await hub.callerAs(phone);
    const paired = await unaryCall(client, PeerServiceService.pair, { requestId: "pair-1", ...pairing });
    expect(paired.callerName).toBe("phone");
    const connector = await ScriptedConnector.connect(hub, phone);
    expect((await connector.next("roster")).entries.map(({ name }) => name)).toEqual(["bob"]);
    const granted = { recipientAgent: "bob" };
    const kept = { recipientAgent: "alice" };
    connector.send({
      $case: "deliver",
      value: { items: [deliverRequest("k1", granted), deliverRequest("k2", kept)] },
    });
    const { results } = await connector.next("delivered");
    expect(results.map(({ result }) => result?.$case)).toEqual(["accepted", "refused"]);
    expect(hub.dm.wayTo("phone")).toMatchObject({ connected: true, info: { name: "elsewhere" } });
    const { delivery } = await send(hub.client, { target: "dana@phone" });
    await connector.lease();
    const waiting = (await send(hub.client, { target: "dana@phone", body: "behind it" })).delivery;
    await hub.dm.registry.revoke("phone", () => 0);
    expect((await connector.next("close")).reason).toBe(RelayCloseReason.RELAY_CLOSE_REASON_REVOKED);
    expect(await connector.ended).toMatchObject({ reason: "PEER_REVOKED" });
    expect(stateName(await ended(hub.client, delivery.deliveryId))).toBe("UNKNOWN");
    expect(stateName(await ended(hub.client, waiting.deliveryId))).toBe("FAILED");
    expect(await refusal(send(hub.client, { target: "dana@phone" }))).toMatchObject({ reason: "UNKNOWN_TARGET" });
  });

  test("that does not read is cut off, and its messages are not lost", async () => {
    const { hub, laptop } = await useHub({ budgets: { heartbeatMissedMs: 2_000, heartbeatIntervalMs: 50 } });
    const deaf = await ScriptedConnector.open(hub, laptop, false);
    deaf.send({ $case: "hello", value: { info: info(), connectionEpoch: 1n } });
    await waitUntil("it is connected", () => hub.dm.wayTo("laptop")?.connected === true);
    const { delivery } = await send(hub.client, { target: "dana@laptop" });
    deaf.send({ $case: "deliver", value: { items: [deliverRequest("k1", { body: "x".repeat(16_000) })] } });
    await hub.until("it is answered", () => readDeliveryByKey(hub.store.reader, "relay:laptop", "k1")?.reply);
    // Some are taken by its transport, some wait here; each carries the reply of 16,000 characters.
    for (let n = 0; n < 80; n++) deaf.send({ $case: "ask", value: { key: "k1" } });
    // It reads no status either: its connection is dropped.
    expect(await deaf.ended).toMatchObject({ reason: "UNAVAILABLE" });
    const back = await ScriptedConnector.connect(hub, laptop, { epoch: 2n });
    expect(await back.next("ask")).toEqual({ key: delivery.deliveryId });
  });

  test("that falls silent is ended", async () => {
    const { hub, laptop } = await useHub({ budgets: { heartbeatMissedMs: 150, heartbeatIntervalMs: 50 } });
    const connector = await ScriptedConnector.connect(hub, laptop);
    expect((await connector.next("close")).reason).toBe(RelayCloseReason.RELAY_CLOSE_REASON_PROTOCOL);
    expect(await connector.ended).toMatchObject({ reason: "UNAVAILABLE" });
  });

  test("DM080 drops bad rows of a roster, keeps the first of two, and cuts texts", async () => {
    const { hub, laptop } = await useHub();
    const connector = await ScriptedConnector.connect(hub, laptop);
    connector.publish(
      { name: "dana", title: "One\n$(reboot)\u202E", description: "x".repeat(500) },
      { name: "dana", title: "Two" },
      { name: "../../etc" },
      { name: "a".repeat(65) },
      { name: "quo'te" },
      { name: "", handle: "x" },
      { name: "emil", handle: "two words" },
    );
    connector.send({ $case: "ask", value: { key: "nothing" } });
    await connector.next("askAnswer");
    const [namespace] = hub.dm.relays();
    expect(namespace?.rows).toMatchObject([{ name: "dana", title: "One$(reboot)" }]);
    expect(namespace?.rows[0]?.description).toHaveLength(160);
    expect(await refusal(send(hub.client, { target: "emil@laptop" }))).toMatchObject({ reason: "TARGET_OFFLINE" });
  });
});
