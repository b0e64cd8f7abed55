import { describe, expect, test } from "vitest";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { DeliveryRoute, DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import { Liveness } from "../../src/gen/talaria/dm/v1/roster.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { failureOf, toFailure } from "../../src/rpc/wire/failure.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import { readDelivery } from "../../src/store/deliveries/readDelivery.js";
import { deliverRequest, ended, get, refusal, send, stateName } from "../dm/calls.js";
import { inputsOf, type TestGateway } from "../dm/testGateway.js";
import { receipt, ScriptedConnector } from "./scriptedConnector.js";
import { useHub } from "./useHub.js";

const stateOf = (hub: TestGateway, id: string, wanted: string) =>
  hub.until(`${id} is ${wanted}`, () => (readDelivery(hub.store.reader, id)?.state === wanted ? true : undefined));

describe("a message to an agent behind a connector", () => {
  test("DM034 DM088 DM-R05 is leased, accepted and answered; the sender is told once", async () => {
    const { hub, laptop } = await useHub();
    const connector = await ScriptedConnector.connect(hub, laptop);
    connector.publish({ name: "dana", title: "Dana the Great" });
    const { delivery } = await send(hub.client, { target: "dana@laptop", body: "ping", onBehalfOf: "alice" });
    expect(delivery.route).toBe(DeliveryRoute.DELIVERY_ROUTE_RELAY_OUTBOUND);
    const { leaseId, item } = await connector.lease();
    expect(item).toMatchObject({
      requestId: delivery.deliveryId,
      envelope: { senderAgent: "alice", recipientAgent: "dana", body: "ping", attemptEpoch: 1, attempt: 1 },
    });
    connector.accept(leaseId, item.requestId);
    await stateOf(hub, delivery.deliveryId, "claimed");
    connector.receipt(item.requestId);
    expect(await connector.next("receiptsStored")).toEqual({ keys: [item.requestId] });
    const end = await ended(hub.client, delivery.deliveryId);
    expect(stateName(end)).toBe("REPLIED");
    expect(end).toMatchObject({ body: "", bodyRemoved: true, reply: { text: "PONG" } });
    expect(end.hops.map(({ gateway }) => gateway)).toEqual(["hub", "laptop"]);
    // Again: nothing changes, and it is confirmed again, or a connector would send it for ever.
    connector.receipt(item.requestId);
    await connector.next("receiptsStored");
    await hub.until("alice has answered her notice", () =>
      inputsOf(hub, "alice").every(({ state }) => state === "ended") ? true : undefined,
    );
    expect(inputsOf(hub, "alice")).toMatchObject([
      { text: "PONG", author: "agent:laptop/dana", attribution: "Reply from Dana the Great (@dana@laptop):" },
    ]);
  });

  test("DM093 keeps its order for each recipient, and a slow one holds nobody else's mail", async () => {
    const { hub, laptop } = await useHub();
    const connector = await ScriptedConnector.connect(hub, laptop);
    connector.publish({ name: "dana" }, { name: "emil" });
    const first = (await send(hub.client, { target: "dana@laptop", body: "1" })).delivery;
    const lease = await connector.lease();
    const second = (await send(hub.client, { target: "dana@laptop", body: "2" })).delivery;
    const other = (await send(hub.client, { target: "emil@laptop", body: "3" })).delivery;
    const others = await connector.lease();
    expect(others.item.requestId).toBe(other.deliveryId);
    expect(connector.untaken).not.toContain("lease");
    connector.accept(lease.leaseId, first.deliveryId);
    expect((await connector.lease()).item.requestId).toBe(second.deliveryId);
  });

  test("DM090 is refused up front where its machine is known to be away, and nothing is written", async () => {
    const { hub, laptop } = await useHub();
    const connector = await ScriptedConnector.connect(hub, laptop);
    connector.publish({ name: "dana", liveness: Liveness.LIVENESS_OFFLINE });
    connector.send({ $case: "ask", value: { key: "nothing" } });
    await connector.next("askAnswer");
    expect(await refusal(send(hub.client, { target: "dana@laptop" }))).toMatchObject({ reason: "TARGET_OFFLINE" });
    expect(await refusal(send(hub.client, { target: "nobody@laptop" }))).toMatchObject({ reason: "TARGET_OFFLINE" });
    expect(await refusal(send(hub.client, { target: "dana@desktop" }))).toMatchObject({ reason: "UNKNOWN_TARGET" });
    expect(hub.store.reader.get("SELECT 1 FROM deliveries")).toBeUndefined();
  });

  test("DM091 waits where nothing is known of its machine, and goes out when that connects", async () => {
    const { hub, laptop } = await useHub();
    const { delivery } = await send(hub.client, { target: "dana@laptop" });
    expect(stateName(delivery)).toBe("QUEUED");
    const connector = await ScriptedConnector.connect(hub, laptop);
    expect((await connector.lease()).item.requestId).toBe(delivery.deliveryId);
  });

  test("that was accepted before its connection broke is not handed out again", async () => {
    const { hub, laptop } = await useHub();
    const first = await ScriptedConnector.connect(hub, laptop);
    first.publish({ name: "dana" });
    const { delivery } = await send(hub.client, { target: "dana@laptop" });
    await first.lease();
    first.cut();
    const second = await ScriptedConnector.connect(hub, laptop);
    expect(await second.next("ask")).toEqual({ key: delivery.deliveryId });
    second.receipt(delivery.deliveryId, { state: DeliveryState.DELIVERY_STATE_CLAIMED, reply: undefined });
    await second.next("receiptsStored");
    expect(stateName(await get(hub.client, delivery.deliveryId))).toBe("CLAIMED");
    second.receipt(delivery.deliveryId);
    expect(stateName(await ended(hub.client, delivery.deliveryId))).toBe("REPLIED");
    expect(second.untaken).not.toContain("lease");
  });

  test("handed out before the gateway was restarted is asked for first, and an answer to the old lease counts for nothing", async () => {
    const { hub: first, laptop } = await useHub();
    const before = await ScriptedConnector.connect(first, laptop);
    before.publish({ name: "dana" });
    const { deliveryId } = (await send(first.client, { target: "dana@laptop", onBehalfOf: "alice" })).delivery;
    const old = await before.lease();
    await first.close();
    const { hub } = await useHub({ home: first.home, identity: first.identity }, { laptop });
    const connector = await ScriptedConnector.connect(hub, laptop);
    expect(await connector.next("ask")).toEqual({ key: deliveryId });
    expect(connector.untaken).not.toContain("lease");
    connector.accept(old.leaseId, deliveryId);
    expect(await connector.next("ask")).toEqual({ key: deliveryId });
    expect(stateName(await get(hub.client, deliveryId))).toBe("QUEUED");
    connector.send({ $case: "askAnswer", value: { key: deliveryId, receipt: undefined } });
    const { leaseId } = await connector.lease();
    expect(leaseId).toBeGreaterThan(old.leaseId);
    connector.accept(leaseId, deliveryId);
    connector.receipt(deliveryId);
    expect(stateName(await ended(hub.client, deliveryId))).toBe("REPLIED");
    expect(inputsOf(hub, "alice")).toHaveLength(1);
  });

  test("accepted by a machine whose store is another one now, which does not know it, ends UNKNOWN", async () => {
    const { hub, laptop } = await useHub();
    const before = await ScriptedConnector.connect(hub, laptop);
    before.publish({ name: "dana" });
    const { deliveryId } = (await send(hub.client, { target: "dana@laptop" })).delivery;
    const { leaseId } = await before.lease();
    before.accept(leaseId, deliveryId);
    await stateOf(hub, deliveryId, "claimed");
    await before.leave();
    const same = await ScriptedConnector.connect(hub, laptop);
    same.send({ $case: "ask", value: { key: "nothing" } });
    await same.next("askAnswer");
    expect(same.untaken).not.toContain("ask");
    await same.leave();
    const other = await ScriptedConnector.connect(hub, laptop, { info: { storeId: "store-2" } });
    expect(await other.next("ask")).toEqual({ key: deliveryId });
    other.send({ $case: "askAnswer", value: { key: deliveryId, receipt: undefined } });
    expect(stateName(await ended(hub.client, deliveryId))).toBe("UNKNOWN");
  });

  test("that was dead is sent again in the next epoch, and a receipt of the one before changes nothing", async () => {
    const { hub, laptop } = await useHub();
    const connector = await ScriptedConnector.connect(hub, laptop);
    connector.publish({ name: "dana" });
    const { deliveryId } = (await send(hub.client, { target: "dana@laptop" })).delivery;
    const first = await connector.lease();
    const failure = toFailure(failureOf(new RpcError("TURN_FAILED")));
    connector.accept(first.leaseId, deliveryId);
    connector.receipt(deliveryId, { state: DeliveryState.DELIVERY_STATE_FAILED, reply: undefined, failure });
    await connector.next("receiptsStored");
    await unaryCall(hub.client, DirectMessageServiceService.redriveDelivery, { requestId: "again", deliveryId });
    const second = await connector.lease();
    expect(second.item.envelope).toMatchObject({ attemptEpoch: 2, attempt: 1, body: "hello" });
    connector.accept(first.leaseId, deliveryId);
    connector.receipt(deliveryId, { attemptEpoch: 1 });
    await connector.next("receiptsStored");
    expect(stateName(await get(hub.client, deliveryId))).toBe("QUEUED");
    connector.cut();
    const back = await ScriptedConnector.connect(hub, laptop);
    await back.next("ask");
    back.send({ $case: "askAnswer", value: { key: deliveryId, receipt: receipt(deliveryId) } });
    const third = await back.lease();
    expect(third.item.envelope).toMatchObject({ attemptEpoch: 2, attempt: 2 });
    back.accept(third.leaseId, deliveryId);
    back.receipt(deliveryId, { attemptEpoch: 2 });
    expect(stateName(await ended(hub.client, deliveryId))).toBe("REPLIED");
  });

  test("whose connector never returns ends UNKNOWN at its expiry; evidence that comes later resolves it", async () => {
    const { hub, laptop } = await useHub({ budgets: { relayLeaseMs: 100, relayTtlMs: 300 } });
    const connector = await ScriptedConnector.connect(hub, laptop);
    connector.publish({ name: "dana" }, { name: "emil" });
    const { delivery } = await send(hub.client, { target: "dana@laptop", onBehalfOf: "alice" });
    const accepted = (await send(hub.client, { target: "emil@laptop" })).delivery;
    await connector.lease();
    const { leaseId } = await connector.lease();
    connector.accept(leaseId, accepted.deliveryId);
    await stateOf(hub, accepted.deliveryId, "claimed");
    connector.cut();
    const waiting = (await send(hub.client, { target: "dana@laptop", body: "never handed out" })).delivery;
    expect(stateName(await ended(hub.client, delivery.deliveryId))).toBe("UNKNOWN");
    expect(stateName(await ended(hub.client, accepted.deliveryId))).toBe("UNKNOWN");
    expect(stateName(await ended(hub.client, waiting.deliveryId))).toBe("EXPIRED");
    const back = await ScriptedConnector.connect(hub, laptop);
    back.receipt(delivery.deliveryId);
    await back.next("receiptsStored");
    expect(stateName(await get(hub.client, delivery.deliveryId))).toBe("REPLIED");
  });

  test("DM074 DM086 that is refused for good ends with the connector's reason; one refused for now waits", async () => {
    const { hub, laptop } = await useHub();
    const connector = await ScriptedConnector.connect(hub, laptop);
    connector.publish({ name: "dana" });
    const { delivery } = await send(hub.client, { target: "dana@laptop" });
    const refuse = async (reason: "RECIPIENT_QUOTA" | "DEPTH_EXCEEDED"): Promise<void> => {
      const { leaseId, item } = await connector.lease();
      const failure = toFailure(failureOf(new RpcError(reason)));
      connector.send({ $case: "refused", value: { leaseId, key: item.requestId, failure } });
    };
    await refuse("RECIPIENT_QUOTA");
    await refuse("RECIPIENT_QUOTA");
    await refuse("DEPTH_EXCEEDED");
    const end = await ended(hub.client, delivery.deliveryId);
    expect(stateName(end)).toBe("FAILED");
    expect(end.failure?.message).toContain("deeper than 16");
  });

  test("is withdrawn where the connector confirms it, and not where it has started", async () => {
    const { hub, laptop } = await useHub();
    const connector = await ScriptedConnector.connect(hub, laptop);
    connector.publish({ name: "dana" }, { name: "emil" });
    const cancel = (deliveryId: string) =>
      unaryCall(hub.client, DirectMessageServiceService.cancelDelivery, { requestId: deliveryId, deliveryId });
    const held = (await send(hub.client, { target: "dana@laptop" })).delivery;
    await connector.lease();
    const cancelled = cancel(held.deliveryId);
    const { key: asked } = await connector.next("cancel");
    connector.send({ $case: "cancelAnswer", value: { key: asked, receipt: undefined, failure: undefined } });
    expect(stateName((await cancelled).delivery!)).toBe("CANCELLED");
    const started = (await send(hub.client, { target: "emil@laptop" })).delivery;
    const { leaseId } = await connector.lease();
    connector.accept(leaseId, started.deliveryId);
    await stateOf(hub, started.deliveryId, "claimed");
    const refused = refusal(cancel(started.deliveryId));
    await connector.next("cancel");
    const failure = toFailure(failureOf(new RpcError("DELIVERY_NOT_CANCELLABLE")));
    connector.send({ $case: "cancelAnswer", value: { key: started.deliveryId, receipt: undefined, failure } });
    expect(await refused).toMatchObject({ reason: "DELIVERY_NOT_CANCELLABLE" });
  });
});

describe("a message from an agent behind a connector", () => {
  test("DM025 passes the same door under the connector's name, and its receipts go down", async () => {
    const { hub, laptop } = await useHub();
    const connector = await ScriptedConnector.connect(hub, laptop);
    const item = deliverRequest("k1", { senderAgent: "dana", senderTitle: "Dana", body: "from below" });
    connector.send({ $case: "deliver", value: { items: [item, deliverRequest("k2", { recipientAgent: "nobody" })] } });
    const { results } = await connector.next("delivered");
    expect(results.map(({ requestId, result }) => [requestId, result?.$case])).toEqual([
      ["k1", "accepted"],
      ["k2", "refused"],
    ]);
    const replied = async (): Promise<string> => {
      for (;;) {
        const { receipts } = await connector.next("receipts");
        const last = receipts.find(({ state }) => state === DeliveryState.DELIVERY_STATE_REPLIED);
        if (last !== undefined) return last.reply?.text ?? "";
      }
    };
    expect(await replied()).toBe("FROM BELOW");
    expect(inputsOf(hub, "bob")).toMatchObject([
      { text: "from below", author: "agent:laptop/dana", attribution: "Message from Dana (@dana@laptop):" },
    ]);
    const stored = hub.store.reader.get<{ route: string }>("SELECT route FROM deliveries WHERE key = 'k1'");
    expect(stored?.route).toBe("relay_inbound");
    connector.send({ $case: "ask", value: { key: "k1" } });
    expect((await connector.next("askAnswer")).receipt?.state).toBe(DeliveryState.DELIVERY_STATE_REPLIED);
    connector.send({ $case: "ask", value: { key: "k9" } });
    expect((await connector.next("askAnswer")).receipt).toBeUndefined();
    connector.send({ $case: "cancel", value: { key: "k1" } });
    expect((await connector.next("cancelAnswer")).failure?.message).toContain("has ended");
  });

  test("waiting here can be withdrawn", async () => {
    const { hub, laptop } = await useHub({ running: false });
    const connector = await ScriptedConnector.connect(hub, laptop);
    connector.send({ $case: "deliver", value: { items: [deliverRequest("k1")] } });
    await connector.next("delivered");
    connector.send({ $case: "cancel", value: { key: "k1" } });
    const answer = await connector.next("cancelAnswer");
    expect(answer).toMatchObject({ key: "k1", failure: undefined });
    expect(answer.receipt?.state).toBe(DeliveryState.DELIVERY_STATE_CANCELLED);
  });
});
