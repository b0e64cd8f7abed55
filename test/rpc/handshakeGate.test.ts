import { connect as connectTcp, createServer, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { createDeferred } from "../../src/base/deferred.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { defineUnary } from "../../src/rpc/harness/methods.js";
import type { Listener } from "../../src/rpc/listener.js";
import type { HandshakeLimits } from "../../src/rpc/tls/handshakeGate.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import { pinnedCredentials } from "../../src/rpc/tls/pinnedCredentials.js";
import { serverTlsOptions } from "../../src/rpc/tls/serverTls.js";
import { EchoService, message } from "./echoDefinition.js";
import { echo, useListener } from "./useListener.js";

const now = (): number => systemClock.now();
const identity = await ephemeralIdentity(now());
const leaves = await leafSource(identity, now);
/** Longer than any test. */
const NEVER_MS = 3_600_000;

/** A TLS listener, and what it has begun and let in. */
async function useGate(handshakes: Partial<HandshakeLimits>) {
  const seen = { begun: 0, served: 0 };
  const listener = await useListener(
    [echo({ unary: defineUnary({ handle: () => Promise.resolve(message("served")) }) })],
    {
      transport: {
        kind: "tls",
        host: "127.0.0.1",
        port: 0,
        // What ends a handshake here is the gate, not its own limit.
        tlsOptions: { ...serverTlsOptions(leaves), handshakeTimeout: NEVER_MS },
        handshakes,
        authorize: () => {
          seen.served += 1;
          return "anonymous";
        },
        onServer: (server) => {
          server.on("connection", () => {
            seen.begun += 1;
          });
        },
      },
    },
  );
  return { listener, seen };
}

function call({ address }: Listener): Promise<string> {
  const credentials = pinnedCredentials({ leaves, serverPin: identity.pin, now });
  const client = createClient({ address, purpose: "tcp", credentials, ownConnection: true });
  onTestFinished(() => {
    client.close();
  });
  return unaryCall(client, EchoService.unary, message("")).then(({ reason }) => reason);
}

/** A TCP connection that sends what it is told, reads nothing, and goes when the test ends. */
async function useStranger({ port }: Listener, bytes?: Uint8Array): Promise<{ socket: Socket; closed: Promise<void> }> {
  const connected = createDeferred<void>();
  const closed = createDeferred<void>();
  const socket = connectTcp({ host: "127.0.0.1", port: port ?? 0 }, () => {
    connected.resolve();
  });
  onTestFinished(() => {
    socket.destroy();
  });
  socket.on("error", () => undefined);
  socket.once("close", () => {
    closed.resolve();
  });
  socket.resume();
  await connected.promise;
  if (bytes !== undefined) socket.write(bytes);
  return { socket, closed: closed.promise };
}

/** A server that accepts and never answers. @returns its port */
async function useMute(take: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    take(socket);
  });
  const listening = createDeferred<void>();
  server.listen(0, "127.0.0.1", () => {
    listening.resolve();
  });
  await listening.promise;
  onTestFinished(() => {
    server.close();
  });
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

/** The first message of a client whose handshake goes no further. */
async function hello(): Promise<Buffer> {
  const sent = createDeferred<Buffer>();
  const port = await useMute((socket) => {
    socket.once("data", (bytes) => {
      sent.resolve(bytes);
    });
  });
  const client = connectTls({ host: "127.0.0.1", port, ALPNProtocols: ["h2"] });
  client.on("error", () => undefined);
  onTestFinished(() => {
    client.destroy();
  });
  return sent.promise;
}

describe("a TLS listener under a crowd", () => {
  test("serves a client while many others have opened connections and say nothing", async () => {
    const { listener, seen } = await useGate({ running: 1, helloMs: NEVER_MS });
    await Promise.all(Array.from({ length: 50 }, () => useStranger(listener)));
    await Promise.all(Array.from({ length: 10 }, () => useStranger(listener, Uint8Array.of(22, 3, 1, 1))));
    expect(await call(listener)).toBe("served");
    expect(seen).toEqual({ begun: 1, served: 1 });
  });

  test("closes a connection that says nothing", async () => {
    const { listener, seen } = await useGate({ helloMs: 20 });
    const { closed } = await useStranger(listener);
    await closed;
    expect(seen.begun).toBe(0);
  });

  test("closes a connection that sends more than a hello before its turn", async () => {
    const { listener, seen } = await useGate({ helloMs: NEVER_MS });
    const { closed } = await useStranger(listener, Uint8Array.of(22, 3, 1, 255, 255, ...Array<number>(5_000).fill(0)));
    await closed;
    expect(seen.begun).toBe(0);
  });

  test("goes on with the next when a handshake that has begun is not continued, and ends it no sooner than its own limit", async () => {
    const { listener, seen } = await useGate({ running: 1, countedMs: 50 });
    const first = await hello();
    const strangers = await Promise.all([0, 1, 2].map(() => useStranger(listener, first)));
    expect(await call(listener)).toBe("served");
    expect(seen.served).toBe(1);
    expect(strangers.map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
  });

  test("does nothing for a client that has left before its turn", async () => {
    const { listener, seen } = await useGate({ running: 1, countedMs: NEVER_MS });
    const first = await hello();
    const blocker = await useStranger(listener, first);
    await expect.poll(() => seen.begun, { timeout: 10_000 }).toBe(1);
    const left = await Promise.all(Array.from({ length: 20 }, () => useStranger(listener, first)));
    for (const { socket } of left) socket.end();
    await Promise.all(left.map(({ closed }) => closed));
    const waiting = call(listener);
    blocker.socket.destroy();
    expect(await waiting).toBe("served");
    expect(seen).toEqual({ begun: 2, served: 1 });
  });

  test("closes a client that has waited too long, before any work is done for it", async () => {
    const { listener, seen } = await useGate({ running: 1, countedMs: NEVER_MS, waitMs: 50 });
    const first = await hello();
    await useStranger(listener, first);
    await expect.poll(() => seen.begun, { timeout: 10_000 }).toBe(1);
    const { closed } = await useStranger(listener, first);
    await closed;
    expect(seen.begun).toBe(1);
  });

  test("serves a crowd of real clients with one handshake at a time", async () => {
    const { listener, seen } = await useGate({ running: 1, countedMs: NEVER_MS });
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(listener)));
    expect(new Set(answers)).toEqual(new Set(["served"]));
    expect(seen).toEqual({ begun: 20, served: 20 });
  });

  test("lets what waits go when it ends", async () => {
    const { listener, seen } = await useGate({ running: 1, countedMs: NEVER_MS });
    const first = await hello();
    const strangers = await Promise.all([first, first, undefined].map((bytes) => useStranger(listener, bytes)));
    await expect.poll(() => seen.begun, { timeout: 10_000 }).toBe(1);
    await listener.close();
    await Promise.all(strangers.map(({ closed }) => closed));
  });

  test("ends with a handshake under way that is not continued, whether it still counts or not", async () => {
    const { listener, seen } = await useGate({ running: 1, countedMs: 20 });
    const first = await hello();
    const strangers = await Promise.all([first, first].map((bytes) => useStranger(listener, bytes)));
    await expect.poll(() => seen.begun, { timeout: 10_000 }).toBe(2);
    await listener.drain(NEVER_MS);
    await Promise.all(strangers.map(({ closed }) => closed));
    expect(seen.served).toBe(0);
  });
});

describe("a client with a connection of its own", () => {
  test("leaves when it is closed during its handshake", async () => {
    const gone = createDeferred<void>();
    const port = await useMute((socket) => {
      socket.once("close", () => {
        gone.resolve();
      });
      socket.once("data", () => {
        client.close();
      });
    });
    const credentials = pinnedCredentials({ leaves, serverPin: identity.pin, now });
    const address = `127.0.0.1:${String(port)}`;
    const client = createClient({ address, purpose: "tcp", credentials, ownConnection: true });
    const failed = unaryCall(client, EchoService.unary, message("")).catch((error: unknown) => error);
    await gone.promise;
    expect(await failed).toMatchObject({ name: "RpcError" });
  });
});
