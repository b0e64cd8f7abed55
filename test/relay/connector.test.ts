import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { silentLogger } from "../../src/base/logger.js";
import { startConnector, type Connector, type ConnectorOptions } from "../../src/connector/connector.js";
import { DirectMessageServiceService } from "../../src/gen/talaria/dm/v1/direct_message_service.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import { readDelivery } from "../../src/store/deliveries/readDelivery.js";
import { ended, refusal, send, stateName } from "../dm/calls.js";
import {
  agentEntry,
  inputsOf,
  removeHome,
  testGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../dm/testGateway.js";
import { waitFor } from "../kit/waitFor.js";
import { useHub } from "./useHub.js";

const connectors: Connector[] = [];
const locals: TestGateway[] = [];
/** Waits that a test does not sit through: the shortest of a schedule. */
const random = { bytes: (length: number) => Buffer.alloc(length, 7), fraction: () => 0 };

afterEach(async () => {
  await Promise.all(connectors.splice(0).map((connector) => connector.stop()));
  const gateways = locals.splice(0);
  await Promise.all(gateways.map((gateway) => gateway.close()));
  for (const { home } of gateways) removeHome(home);
});

const now = () => systemClock.now();

/** The machine behind NAT: a gateway named `nook`, which knows its own key as the peer `hub`, at its connector. */
async function useNook(
  hub: TestGateway,
  options: Partial<TestGatewayOptions> = {},
  more: Partial<ConnectorOptions> = {},
): Promise<{ readonly nook: TestGateway; readonly connector: Connector }> {
  const agents = [agentEntry("dana", { main: true, title: "Dana" }), agentEntry("emil")];
  const nook = await testGateway({ name: "nook", agents, ...options });
  locals.push(nook);
  const connector = await joinHub(hub, nook, more);
  nook.peers.set("hub", { name: "hub", address: connector.address, pin: nook.identity.pin });
  await nook.start();
  return { nook, connector };
}

async function joinHub(hub: TestGateway, nook: TestGateway, more: Partial<ConnectorOptions> = {}): Promise<Connector> {
  const connector = await startConnector({
    hub: { address: hub.peerAddress, pin: hub.identity.pin },
    localAddress: nook.peerAddress,
    listen: { host: "127.0.0.1", port: 0 },
    leaves: await leafSource(nook.identity, now),
    placeFile: join(nook.home, "relay", "hub.json"),
    log: silentLogger(),
    random,
    ...more,
  });
  connectors.push(connector);
  return connector;
}

/** Resolves when the hub has the roster of the connector. */
function rosterAt(hub: TestGateway, names: readonly string[]): Promise<true> {
  return poll(`the roster ${names.join(", ")}`, () => hub.dm.relays()[0]?.rows.map(({ name }) => name), names);
}

async function poll(what: string, read: () => unknown, wanted: unknown): Promise<true> {
  return waitFor(what, () => {
    const state = read();
    return JSON.stringify(state) === JSON.stringify(wanted) ? { found: true as const } : { state };
  });
}

describe("a connector", () => {
  test("brings a message to an agent of its machine, and the reply back, once", async () => {
    const { hub, laptop } = await useHub();
    const { nook } = await useNook(hub, { identity: laptop });
    await rosterAt(hub, ["dana", "emil"]);
    const { delivery } = await send(hub.client, { target: "dana@laptop", body: "ping", onBehalfOf: "alice" });
    const end = await ended(hub.client, delivery.deliveryId);
    expect(stateName(end)).toBe("REPLIED");
    expect(end).toMatchObject({ body: "", bodyRemoved: true, reply: { text: "PING" } });
    expect(end.hops.map(({ gateway }) => gateway)).toEqual(["hub", "laptop"]);
    expect(inputsOf(nook, "dana")).toMatchObject([
      { text: "ping", author: "agent:hub/alice", attribution: "Message from alice (@hub/alice):" },
    ]);
    await hub.until("alice has answered her notice", () =>
      inputsOf(hub, "alice").every(({ state }) => state === "ended") ? true : undefined,
    );
    expect(inputsOf(hub, "alice")).toMatchObject([{ text: "PING", author: "agent:laptop/dana" }]);
  });

  test("brings a message of its machine up, and the reply back, once", async () => {
    const { hub, laptop } = await useHub();
    const { nook } = await useNook(hub, { identity: laptop });
    await rosterAt(hub, ["dana", "emil"]);
    const { delivery } = await send(nook.client, { target: "hub/bob", body: "pong", onBehalfOf: "dana" });
    const end = await ended(nook.client, delivery.deliveryId);
    expect(stateName(end)).toBe("REPLIED");
    expect(end.hops.map(({ gateway }) => gateway)).toEqual(["nook", "hub"]);
    expect(inputsOf(hub, "bob")).toMatchObject([
      { text: "pong", author: "agent:laptop/dana", attribution: "Message from Dana (@dana@laptop):" },
    ]);
    expect(inputsOf(nook, "dana")).toMatchObject([{ text: "PONG", author: "agent:hub/bob" }]);
  });

  test("passes refusals on in both directions, with their reasons", async () => {
    const { hub, laptop } = await useHub();
    const { nook } = await useNook(hub, { identity: laptop });
    await rosterAt(hub, ["dana", "emil"]);
    const up = (await send(nook.client, { target: "hub/nobody" })).delivery;
    const end = await ended(nook.client, up.deliveryId);
    expect(stateName(end)).toBe("FAILED");
    expect(end.failure?.message).toContain("nobody");
    expect(await refusal(send(hub.client, { target: "zoe@laptop" }))).toMatchObject({ reason: "TARGET_OFFLINE" });
  });

  test("withdraws what has not started, in both directions", async () => {
    const { hub, laptop } = await useHub({ running: false });
    const { nook } = await useNook(hub, { identity: laptop, running: false });
    await rosterAt(hub, ["dana", "emil"]);
    const cancel = async (gateway: TestGateway, target: string) => {
      const { deliveryId } = (await send(gateway.client, { target })).delivery;
      await gateway.until("accepted", () =>
        readDelivery(gateway.store.reader, deliveryId)?.state === "claimed" ? 1 : undefined,
      );
      return unaryCall(gateway.client, DirectMessageServiceService.cancelDelivery, {
        requestId: deliveryId,
        deliveryId,
      });
    };
    expect(stateName((await cancel(hub, "dana@laptop")).delivery!)).toBe("CANCELLED");
    expect(stateName((await cancel(nook, "hub/bob")).delivery!)).toBe("CANCELLED");
  });

  test("that was away brings what happened meanwhile when it is back", async () => {
    const { hub, laptop } = await useHub();
    const { nook, connector } = await useNook(hub, { identity: laptop, running: false });
    await rosterAt(hub, ["dana", "emil"]);
    const { deliveryId } = (await send(hub.client, { target: "dana@laptop", onBehalfOf: "alice" })).delivery;
    await hub.until("accepted", () =>
      readDelivery(hub.store.reader, deliveryId)?.state === "claimed" ? 1 : undefined,
    );
    await connector.stop();
    nook.run();
    await nook.until("the turn has ended", () => (inputsOf(nook, "dana")[0]?.state === "ended" ? 1 : undefined));
    const up = (await send(nook.client, { target: "hub/bob", body: "up" })).delivery;
    const down = (await send(hub.client, { target: "emil@laptop", body: "down" })).delivery;
    const again = await joinHub(hub, nook);
    nook.peers.set("hub", { name: "hub", address: again.address, pin: nook.identity.pin });
    expect(stateName(await ended(hub.client, deliveryId))).toBe("REPLIED");
    expect(stateName(await ended(hub.client, down.deliveryId))).toBe("REPLIED");
    expect(inputsOf(nook, "dana")).toHaveLength(1);
    expect(inputsOf(nook, "emil")).toHaveLength(1);
    expect(stateName(await ended(nook.client, up.deliveryId))).toBe("REPLIED");
    expect(inputsOf(hub, "bob")).toHaveLength(1);
  });

  test("reconnects for ever: its gateway restarts, and messages flow again", async () => {
    const first = await useHub();
    const { nook } = await useNook(first.hub, { identity: first.laptop });
    await rosterAt(first.hub, ["dana", "emil"]);
    const { home, identity } = first.hub;
    const port = Number(first.hub.peerAddress.split(":").at(-1));
    await first.hub.close();
    const second = await useHub({ home, identity, peerPort: port }, { laptop: first.laptop });
    await rosterAt(second.hub, ["dana", "emil"]);
    const { delivery } = await send(second.hub.client, { target: "dana@laptop", body: "again" });
    expect(stateName(await ended(second.hub.client, delivery.deliveryId))).toBe("REPLIED");
    expect(inputsOf(nook, "dana")).toHaveLength(1);
  });

  test("whose machine's gateway is down says that its agents are away, until it is back", async () => {
    const { hub, laptop } = await useHub();
    const { nook, connector } = await useNook(hub, { identity: laptop });
    await rosterAt(hub, ["dana", "emil"]);
    const port = Number(nook.peerAddress.split(":").at(-1));
    const liveness = () => hub.dm.relays()[0]?.rows.map((row) => row.liveness);
    await nook.close();
    await poll("its agents are away", liveness, ["offline", "offline"]);
    expect(await refusal(send(hub.client, { target: "dana@laptop" }))).toMatchObject({ reason: "TARGET_OFFLINE" });
    const { home } = nook;
    const back = await testGateway({
      name: "nook",
      home,
      identity: laptop,
      peerPort: port,
      agents: [agentEntry("dana")],
    });
    locals.push(back);
    back.peers.set("hub", { name: "hub", address: connector.address, pin: laptop.pin });
    await back.start();
    await rosterAt(hub, ["dana"]);
    const { delivery } = await send(hub.client, { target: "dana@laptop" });
    expect(stateName(await ended(hub.client, delivery.deliveryId))).toBe("REPLIED");
  });

  test("with a wrong pin, or an unpaired key, never gets in and never stops trying", async () => {
    const { hub, laptop } = await useHub();
    const other = await ephemeralIdentity(now());
    const { connector } = await useNook(
      hub,
      { identity: laptop },
      { hub: { address: hub.peerAddress, pin: other.pin } },
    );
    const stranger = await useNook(hub, { identity: other });
    expect(connector.connected).toBe(false);
    expect(stranger.connector.connected).toBe(false);
    expect(hub.dm.wayTo("laptop")?.connected === true).toBe(false);
    hub.peers.set("stranger", { name: "stranger", address: "", pin: other.pin, connector: true });
    await poll("paired at last", () => hub.dm.wayTo("stranger")?.connected === true, true);
    expect(hub.dm.wayTo("laptop")?.connected === true).toBe(false);
  });

  test("ends where a later connection under its key takes over", async () => {
    const { hub, laptop } = await useHub();
    const { nook, connector } = await useNook(hub, { identity: laptop });
    await rosterAt(hub, ["dana", "emil"]);
    const later = await joinHub(hub, nook);
    expect(await connector.ended).toMatchObject({ reason: "CONNECTOR_REPLACED" });
    await poll("the later one is connected", () => later.connected, true);
  });

  test("takes over from its earlier connection although the machine's clock was set back meanwhile", async () => {
    const { hub, laptop } = await useHub();
    const { nook, connector } = await useNook(hub, { identity: laptop });
    await poll("the first is connected", () => connector.connected, true);
    const clock = { ...systemClock, now: () => systemClock.now() - 3_600_000 };
    const later = await joinHub(hub, nook, { clock });
    expect(await connector.ended).toMatchObject({ reason: "CONNECTOR_REPLACED" });
    await poll("the later one is connected", () => later.connected, true);
  });
});
