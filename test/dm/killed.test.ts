import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { ephemeralIdentity, openIdentity, type Identity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import { pinnedCredentials } from "../../src/rpc/tls/pinnedCredentials.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { deliverRequest, ended, send, stateName } from "./calls.js";
import { freshHome, inputsOf, introduce, removeHome, testGateway, type TestGateway } from "./testGateway.js";

const now = (): number => systemClock.now();
const open: TestGateway[] = [];
const homes: string[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((gateway) => gateway.close()));
  for (const home of homes.splice(0)) removeHome(home);
});

/** Starts a receiver on a home; it is killed when the test ends, if not before. */
async function receiver(home: string, peer: string, pin: string) {
  const child = spawn(
    process.execPath,
    ["--import", "tsx", join(import.meta.dirname, "receiverProcess.ts"), home, peer, pin],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const exited = once(child, "exit");
  const [address] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    exited.then(() => Promise.reject(new Error("the receiver did not start"))),
  ])) as [string];
  return {
    address,
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function southOn(home: string, identity: Identity, running: boolean): Promise<TestGateway> {
  const south = await testGateway({ name: "south", home, identity, running });
  open.push(south);
  return south;
}

test("every message that was acknowledged is on disk when the receiver is killed", async () => {
  const home = freshHome();
  homes.push(home);
  const [caller, identity] = await Promise.all([ephemeralIdentity(now()), openIdentity(home, now())]);
  const child = await receiver(home, "north", caller.pin);
  const credentials = pinnedCredentials({ leaves: await leafSource(caller, now), serverPin: identity.pin, now });
  const client = createClient({ address: child.address, purpose: "tcp", credentials });
  const acknowledged: string[] = [];
  let killed: Promise<void> | undefined;
  const sends = Array.from({ length: 60 }, async (_, n) => {
    const key = `k${String(n)}`;
    await unaryCall(
      client,
      PeerServiceService.deliverDm,
      deliverRequest(key, { recipientAgent: n % 2 ? "bob" : "alice" }),
    );
    acknowledged.push(key);
    if (acknowledged.length >= 20) killed ??= child.kill();
  });
  await Promise.allSettled(sends);
  await (killed ?? child.kill());
  client.close();
  expect(acknowledged.length).toBeGreaterThanOrEqual(20);
  const south = await southOn(home, identity, false);
  const kept = south.store.reader.all<{ key: string }>(
    "SELECT key FROM deliveries JOIN inputs USING (delivery_id) WHERE deliveries.state = 'queued' AND inputs.state = 'queued'",
  );
  expect(kept.map(({ key }) => key)).toEqual(expect.arrayContaining(acknowledged));
  expect(readDeliveryTotals(south.store.reader).accepted).toBe(kept.length);
});

test("a message whose receiver is killed after it accepted and before the turn ends REPLIED exactly once", async () => {
  const home = freshHome();
  const north = await testGateway({ name: "north" });
  open.push(north);
  homes.push(home, north.home);
  const identity = await openIdentity(home, now());
  const child = await receiver(home, "north", north.identity.pin);
  north.peers.set("south", { name: "south", address: child.address, pin: identity.pin });
  await north.start();
  const { delivery } = await send(north.client, { target: "south/bob", body: "ping", onBehalfOf: "alice" });
  await north.until("the peer has accepted", () =>
    readDeliveryTotals(north.store.reader).states.claimed === 1 ? true : undefined,
  );
  await child.kill();
  const south = await southOn(home, identity, true);
  introduce(north, south);
  await south.start();
  const end = await ended(north.client, delivery.deliveryId);
  expect(stateName(end)).toBe("REPLIED");
  expect(end.reply?.text).toBe("PING");
  expect(inputsOf(south, "bob").map(({ text }) => text)).toEqual(["ping"]);
  expect(inputsOf(north, "alice").map(({ text }) => text)).toEqual(["PING"]);
});
