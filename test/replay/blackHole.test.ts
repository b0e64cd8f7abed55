import type { ChannelOptions } from "@grpc/grpc-js";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";

import type * as channelOptionsModule from "../../src/rpc/channelOptions.js";
import { ended, get, send, stateName } from "../dm/calls.js";
import { linked } from "../dm/invites.js";
import { inputsOf } from "../dm/testGateway.js";
import { useGateways } from "../dm/useGateways.js";

/** Channels wait this many times less for a sign of life here than they do in service. */
const { SHORTER } = vi.hoisted(() => ({ SHORTER: 10 }));
/** Between two pings of a connection to a peer and until one counts as unanswered, in service, at most, milliseconds. */
const NOTICED_WITHIN_MS = 80_000;

/** What the machine may take beyond that, milliseconds. */
const ROOM_MS = 20_000;

type ChannelOptionsModule = typeof channelOptionsModule;

vi.mock("../../src/rpc/channelOptions.js", async (load) => {
  const real = await load<ChannelOptionsModule>();
  return {
    ...real,
    channelOptions: (...given) => {
      const { pingMs, answerMs } = signsOfLife(real.channelOptions(...given));
      return {
        ...real.channelOptions(...given),
        "grpc.keepalive_time_ms": pingMs / SHORTER,
        "grpc.keepalive_timeout_ms": answerMs / SHORTER,
      };
    },
  } satisfies ChannelOptionsModule;
});

/** How often a channel pings, and how long it waits for the answer, milliseconds. */
function signsOfLife(options: ChannelOptions): { readonly pingMs: number; readonly answerMs: number } {
  const { "grpc.keepalive_time_ms": pingMs = Infinity, "grpc.keepalive_timeout_ms": answerMs = Infinity } = options;
  return { pingMs, answerMs };
}

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
  { timeout: 60_000 },
  async () => {
    const { channelOptions } = await vi.importActual<ChannelOptionsModule>("../../src/rpc/channelOptions.js");
    const { pingMs, answerMs } = signsOfLife(channelOptions({ purpose: "tcpStream" }));
    expect(pingMs + answerMs).toBeLessThanOrEqual(NOTICED_WITHIN_MS);

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
      while (state !== "REPLIED" && performance.now() - began < NOTICED_WITHIN_MS / SHORTER + ROOM_MS) {
        // A watch is bounded; it begins again until the message has come through.
        state = await ended(north.client, delivery.deliveryId).then(stateName, () => "QUEUED");
      }
      expect(state).toBe("REPLIED");
    }
    expect(inputsOf(south, "bob").map(({ text }) => text)).toEqual(["1", "2", "3"]);
  },
);
