import { expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { FakeClock } from "../../src/base/testing/fakeClock.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { DeliveryState } from "../../src/gen/talaria/dm/v1/delivery.js";
import type { Receipt } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import { failureOf, toFailure } from "../../src/rpc/wire/failure.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { readDelivery } from "../../src/store/deliveries/readDelivery.js";
import { ended, get, refusal, send, stateName } from "../dm/calls.js";
import { inputsOf, type TestGateway } from "../dm/testGateway.js";
import { ScriptedConnector } from "../relay/scriptedConnector.js";
import { useHub } from "../relay/useHub.js";

const stateOf = (hub: TestGateway, id: string, wanted: string) =>
  hub.until(`${id} is ${wanted}`, () => (readDelivery(hub.store.reader, id)?.state === wanted ? true : undefined));
const key = () => ephemeralIdentity(systemClock.now());

test("DM-R02 a sender that could not follow its message finds it under its key, and it is handed out once", async () => {
  const { hub, laptop } = await useHub();
  const connector = await ScriptedConnector.connect(hub, laptop);
  connector.publish({ name: "dana" });
  const message = { requestId: "relayed", target: "dana@laptop", body: "ping" };
  const first = await send(hub.client, message);
  const { leaseId } = await connector.lease();
  const request = { deliveryId: "del_of-nobody", cursor: undefined };
  const follow = async (): Promise<void> => {
    const watch = readStream(hub.client, DirectMessageServiceService.watchDelivery, request);
    for await (const step of watch) expect(step).toBeUndefined();
  };
  expect(await refusal(follow())).toMatchObject({ reason: "UNKNOWN_DELIVERY" });
  const again = await send(hub.client, message);
  expect(again).toMatchObject({ replayed: true, delivery: { deliveryId: first.delivery.deliveryId } });
  expect(stateName(again.delivery)).toBe("QUEUED");
  connector.accept(leaseId, first.delivery.deliveryId);
  await stateOf(hub, first.delivery.deliveryId, "claimed");
  expect(connector.untaken).not.toContain("lease");
});

test("DM-R05 SL-7 a recipient that is busy is no reply, its answer is; what comes for an ended message changes nothing", async () => {
  const { hub, laptop } = await useHub();
  const connector = await ScriptedConnector.connect(hub, laptop);
  connector.publish({ name: "dana" });
  const { deliveryId } = (await send(hub.client, { target: "dana@laptop", onBehalfOf: "alice" })).delivery;
  const { leaseId } = await connector.lease();
  connector.accept(leaseId, deliveryId);
  await stateOf(hub, deliveryId, "claimed");
  const waiting = await get(hub.client, deliveryId);
  expect([stateName(waiting), waiting.reply, waiting.failure]).toEqual(["CLAIMED", undefined, undefined]);
  expect(inputsOf(hub, "alice")).toEqual([]);
  connector.receipt(deliveryId);
  await connector.next("receiptsStored");
  const end = await ended(hub.client, deliveryId);
  expect(end.reply?.text).toBe("PONG");
  // The acceptance and the receipt come again, after the end.
  connector.accept(leaseId, deliveryId);
  connector.receipt(deliveryId);
  expect(await connector.next("receiptsStored")).toEqual({ keys: [deliveryId] });
  expect(await get(hub.client, deliveryId)).toEqual(end);
  expect(inputsOf(hub, "alice").filter(({ inReplyTo }) => inReplyTo === deliveryId)).toHaveLength(1);
});

test("DM088 DM-R05 every end that a connector reports is one input of the sending session, in its own words", async () => {
  const { hub, laptop } = await useHub();
  const connector = await ScriptedConnector.connect(hub, laptop);
  connector.publish({ name: "dana" }, { name: "emil" }, { name: "fay" });
  const failure = toFailure(failureOf(new RpcError("TURN_FAILED")));
  const ends: readonly [string, Partial<Receipt>, string, RegExp][] = [
    ["dana", { state: DeliveryState.DELIVERY_STATE_SILENT, reply: undefined }, "SILENT", /chose not to answer/],
    ["emil", { state: DeliveryState.DELIVERY_STATE_FAILED, reply: undefined, failure }, "FAILED", /was not delivered/],
    [
      "fay",
      { state: DeliveryState.DELIVERY_STATE_UNKNOWN, reply: undefined },
      "UNKNOWN",
      /do not send it again blindly/,
    ],
  ];
  for (const [name, receipt, state, words] of ends) {
    const { deliveryId } = (await send(hub.client, { target: `${name}@laptop`, onBehalfOf: "alice" })).delivery;
    const { leaseId } = await connector.lease();
    connector.accept(leaseId, deliveryId);
    await stateOf(hub, deliveryId, "claimed");
    connector.receipt(deliveryId, receipt);
    await connector.next("receiptsStored");
    expect(stateName(await ended(hub.client, deliveryId))).toBe(state);
    const told = inputsOf(hub, "alice").filter(({ inReplyTo }) => inReplyTo === deliveryId);
    expect(told.map(({ author }) => author)).toEqual(["gateway"]);
    expect(told[0]?.text).toMatch(words);
  }
});

test("DM-R28 SL-5 a turn of eight minutes is waited for, and its reply arrives over another connection than its message went", async () => {
  const clock = new FakeClock(systemClock.now());
  const { hub, laptop } = await useHub({ clock });
  const first = await ScriptedConnector.connect(hub, laptop);
  first.publish({ name: "dana" });
  const { deliveryId } = (await send(hub.client, { target: "dana@laptop", onBehalfOf: "alice" })).delivery;
  const { leaseId } = await first.lease();
  first.accept(leaseId, deliveryId);
  await stateOf(hub, deliveryId, "claimed");
  await first.leave();
  clock.advance(8 * 60_000);
  expect(stateName(await get(hub.client, deliveryId))).toBe("CLAIMED");
  const back = await ScriptedConnector.connect(hub, laptop);
  back.receipt(deliveryId);
  await back.next("receiptsStored");
  expect(stateName(await ended(hub.client, deliveryId))).toBe("REPLIED");
  expect(back.untaken).not.toContain("lease");
});

test("DM082 DM-R23 is handed out again after its lease has lapsed: once, and only after its connector was asked", async () => {
  const { hub, laptop } = await useHub({ budgets: { relayLeaseMs: 150, relayTtlMs: 20_000 } });
  const connector = await ScriptedConnector.connect(hub, laptop);
  connector.publish({ name: "dana" });
  const { delivery } = await send(hub.client, { target: "dana@laptop" });
  const first = await connector.lease();
  expect(await connector.next("ask")).toEqual({ key: delivery.deliveryId });
  expect(connector.untaken).not.toContain("lease");
  connector.send({ $case: "askAnswer", value: { key: delivery.deliveryId, receipt: undefined } });
  const again = await connector.lease();
  expect(again.item).toMatchObject({ requestId: delivery.deliveryId, envelope: { attempt: 2 } });
  expect(again.leaseId).not.toBe(first.leaseId);
  await connector.next("ask");
  connector.send({ $case: "askAnswer", value: { key: delivery.deliveryId, receipt: undefined } });
  const end = await ended(hub.client, delivery.deliveryId);
  expect(stateName(end)).toBe("FAILED");
  expect(end.failure?.message).toContain("did not accept it in time");
  expect(connector.untaken).not.toContain("lease");
});

test("DM-R30 of another connector has a namespace of its own, and never gets the other's mail", async () => {
  const { hub, keys } = await useHub({}, { laptop: await key(), desktop: await key() });
  const a = await ScriptedConnector.connect(hub, keys["laptop"]!);
  const b = await ScriptedConnector.connect(hub, keys["desktop"]!);
  a.publish({ name: "dana", title: "A" });
  b.publish({ name: "dana", title: "B" });
  const one = (await send(hub.client, { target: "dana@laptop" })).delivery;
  const two = (await send(hub.client, { target: "dana@desktop" })).delivery;
  const leased = await a.lease();
  expect(leased.item.requestId).toBe(one.deliveryId);
  expect((await b.lease()).item.requestId).toBe(two.deliveryId);
  b.accept(leased.leaseId, one.deliveryId);
  b.receipt(one.deliveryId);
  await b.next("receiptsStored");
  expect(stateName(await get(hub.client, one.deliveryId))).toBe("QUEUED");
});

test("DM-R31 replaces the whole roster: what it no longer holds is gone", async () => {
  const { hub, laptop } = await useHub();
  const first = await ScriptedConnector.connect(hub, laptop);
  first.publish({ name: "dana" }, { name: "emil" });
  await first.leave();
  const second = await ScriptedConnector.connect(hub, laptop);
  second.publish({ name: "emil" });
  second.send({ $case: "ask", value: { key: "nothing" } });
  await second.next("askAnswer");
  expect(hub.dm.relays()[0]?.rows.map(({ name }) => name)).toEqual(["emil"]);
});
