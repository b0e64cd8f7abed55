import type { Client } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { reasonError } from "../../src/rpc/rpcError.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { ended, get, send, stateName } from "./calls.js";
import type { PeerScript, ScriptedPeer } from "./scriptedPeer.js";
import { agentEntry, inputsOf, introduce, type TestGateway } from "./testGateway.js";
import { useGateways } from "./useGateways.js";
import { useScriptedPeers } from "./useScriptedPeers.js";

const { use } = useGateways();
const usePeer = useScriptedPeers();

/** A gateway whose only peer does as the script says, not started. */
async function useScripted(script: PeerScript): Promise<{ north: TestGateway; peer: ScriptedPeer }> {
  const peer = await usePeer(script);
  const north = await use({ name: "north" });
  north.peers.set("south", { name: "south", address: peer.address, pin: peer.pin });
  return { north, peer };
}

const NAMES = ["a", "b", "c", "d"];

/** Queues messages to each agent of `south` in turn. @returns the deliveries' ids */
async function queue(
  client: Client,
  each: number,
  body = (name: string, number: number) => `${name} ${String(number)}`,
) {
  const ids: string[] = [];
  for (let number = 0; number < each; number++) {
    for (const name of NAMES) {
      const { delivery } = await send(client, { target: `south/${name}`, body: body(name, number) });
      ids.push(delivery.deliveryId);
    }
  }
  return ids;
}

const allClaimed = (gateway: TestGateway, count: number): Promise<true> =>
  gateway.until("everything is accepted", () =>
    readDeliveryTotals(gateway.store.reader).states.claimed === count ? true : undefined,
  );
const ofLane = (name: string, bodies: readonly string[]): string[] => bodies.filter((body) => body.startsWith(name));
const inOrder = (name: string, length: number): string[] =>
  Array.from({ length }, (_, number) => `${name} ${String(number)}`);

test("DM-R15 a backlog drains, in the order of each recipient's lane, and every message is answered once", async () => {
  const agents = [agentEntry("main", { main: true }), ...NAMES.map((name) => agentEntry(name))];
  const north = await use({ name: "north", agents });
  const south = await use({ name: "south", agents });
  introduce(north, south);
  const ids = await queue(north.client, 20);
  await Promise.all([north.start(), south.start()]);
  for (const id of ids) expect(stateName(await ended(north.client, id))).toBe("REPLIED");
  for (const name of NAMES) expect(inputsOf(south, name).map(({ text }) => text)).toEqual(inOrder(name, 20));
  expect(readDeliveryTotals(south.store.reader).accepted).toBe(80);
});

test("a backlog goes in batches, a single message in a call of its own", async () => {
  const { north, peer } = await useScripted({});
  await queue(north.client, 40);
  await north.start();
  await allClaimed(north, 160);
  expect(peer.batches.length).toBeLessThanOrEqual(4);
  for (const name of NAMES) expect(ofLane(name, peer.kept)).toEqual(inOrder(name, 40));
  const singles = peer.singles.length;
  await send(north.client, { target: "south/a", body: "alone" });
  await allClaimed(north, 161);
  expect(peer.singles.slice(singles)).toEqual(["alone"]);
});

test("DM113 DM-R07 after a broken call the peer is asked by key: what it has is not sent again, the rest in its order", async () => {
  let keptAtBreak: readonly string[] = [];
  const { north, peer } = await useScripted({
    // In the first batch one lane gets no further than its fourth message.
    judge: (body) =>
      body === "b 3" && peer.batches.length === 1 && peer.singles.length === 0
        ? reasonError("STORAGE_UNAVAILABLE")
        : "accept",
    breaksAfter(batch) {
      if (batch === 1) keptAtBreak = [...peer.kept];
      return batch === 1;
    },
  });
  const ids = await queue(north.client, 10);
  await north.start();
  await allClaimed(north, 40);
  expect([...peer.asked].sort()).toEqual([...ids].sort());
  expect(ofLane("b", keptAtBreak)).toEqual(inOrder("b", 3));
  const sentAgain = [...peer.batches.slice(1).flat(), ...peer.singles];
  expect(new Set(sentAgain)).toEqual(new Set(inOrder("b", 10).slice(3)));
  for (const name of NAMES) expect(ofLane(name, peer.kept)).toEqual(inOrder(name, 10));
});

test("a message that is not taken yet holds its own lane and no other, and one refused for good ends alone", async () => {
  let full = 3;
  const { north, peer } = await useScripted({
    judge(body) {
      if (body === "c 1") return reasonError("BODY_TOO_LONG");
      if (body !== "a 2" || full === 0) return "accept";
      full -= 1;
      return reasonError("RECIPIENT_QUOTA");
    },
  });
  const ids = await queue(north.client, 10);
  await north.start();
  await allClaimed(north, 39);
  for (const name of ["a", "b", "d"]) expect(ofLane(name, peer.kept)).toEqual(inOrder(name, 10));
  expect(ofLane("c", peer.kept)).toEqual(inOrder("c", 10).filter((body) => body !== "c 1"));
  const [refused = ""] = ids.filter((_, index) => index === 6);
  expect(stateName(await get(north.client, refused))).toBe("FAILED");
  // Messages behind it were held back there, which is no attempt of theirs.
  expect(await get(north.client, ids[4 * 9] ?? "")).toMatchObject({ attempts: 1 });
});

test("of large bodies few are on their way at once", async () => {
  const { north, peer } = await useScripted({});
  await north.start();
  await north.until("the peer is connected", () => (north.dm.wayTo("south")?.connected === true ? true : undefined));
  await Promise.all(
    Array.from({ length: 7 }, (_, number) =>
      send(north.client, { target: `south/z${String(number)}`, body: "x".repeat(15_000) }),
    ),
  );
  await allClaimed(north, 7);
  expect(peer.singles).toHaveLength(7);
  expect(peer.mostAtOnce()).toBeLessThanOrEqual(4);
});
