import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";

import { ended, get, send, stateName } from "../dm/calls.js";
import { linked } from "../dm/invites.js";
import { inputsOf } from "../dm/testGateway.js";
import { useGateways } from "../dm/useGateways.js";

/** Between two pings of a connection to a peer and until one counts as unanswered, as the channel has it, with room, milliseconds. */
const NOTICED_WITHIN_MS = 120_000;

const { use } = useGateways();

/** Carries connections to a port, until it swallows what they bring: they stay open, and neither side hears anything any more. */
async function startProxy(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  const { port: own } = server.address() as { port: number };
  return {
    address: `127.0.0.1:${String(own)}`,
    swallow(): void {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}

test(
  "MF-7 a way to a peer that swallows everything is noticed, and the backlog flows over another connection",
  { timeout: NOTICED_WITHIN_MS + 60_000 },
  async () => {
    const [north, south] = [await use({ name: "north" }), await use({ name: "south" })];
    const proxy = await startProxy(Number(south.peerAddress.split(":").at(-1)));
    north.peers.set("south", { name: "south", address: proxy.address, pin: south.identity.pin });
    south.peers.set("north", { name: "north", address: "127.0.0.1:1", pin: north.identity.pin });
    await Promise.all([north.start(), south.start()]);
    await linked(north, "south");
    proxy.swallow();
    const began = performance.now();
    const sent = [];
    for (const body of ["1", "2", "3"]) sent.push(await send(north.client, { target: "south/bob", body }));
    for (const { delivery } of sent) {
      let state = stateName(await get(north.client, delivery.deliveryId));
      while (state !== "REPLIED" && performance.now() - began < NOTICED_WITHIN_MS) {
        // A watch is bounded; it begins again until the message has come through.
        state = await ended(north.client, delivery.deliveryId).then(stateName, () => "QUEUED");
      }
      expect(state).toBe("REPLIED");
    }
    expect(inputsOf(south, "bob").map(({ text }) => text)).toEqual(["1", "2", "3"]);
    console.info(`a swallowed connection was replaced after ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  },
);
