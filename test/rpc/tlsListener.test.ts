import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { createDeferred } from "../../src/base/deferred.js";
import { LIMITS } from "../../src/base/limits.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { defineUnary } from "../../src/rpc/harness/methods.js";
import type { Listener } from "../../src/rpc/listener.js";
import { describePrincipal, principalOfIdentity } from "../../src/rpc/principal.js";
import { ephemeralIdentity, type Identity } from "../../src/rpc/tls/identityKey.js";
import { issueLeaf, leafSource } from "../../src/rpc/tls/leafCertificate.js";
import type { Pin } from "../../src/rpc/tls/pin.js";
import { pinnedCredentials } from "../../src/rpc/tls/pinnedCredentials.js";
import { authorizePeer, keepLeafFresh, serverTlsOptions } from "../../src/rpc/tls/serverTls.js";
import { EchoService, message } from "./echoDefinition.js";
import { echo, rejection, useListener } from "./useListener.js";

const now = (): number => systemClock.now();

/** A listener that knows the given keys and says who calls. */
async function usePeerListener(server: Identity, known: ReadonlyMap<Pin, string>): Promise<Listener> {
  const leaves = await leafSource(server, now);
  return useListener(
    [
      echo({
        unary: defineUnary({
          handle: (_request, { principal }) => Promise.resolve(message(describePrincipal(principal))),
        }),
      }),
    ],
    {
      authenticate: ({ connection }) => principalOfIdentity(connection.identity),
      transport: {
        kind: "tls",
        host: "127.0.0.1",
        port: 0,
        tlsOptions: serverTlsOptions(leaves),
        onServer: (it) => keepLeafFresh(it, leaves),
        authorize: (socket) => {
          const verdict = authorizePeer(socket, known, now());
          if (verdict.kind === "refused") return undefined;
          const { pin } = verdict;
          const name = known.get(pin);
          return name === undefined ? { kind: "unknown", pin } : { kind: "peer", name, pin };
        },
      },
    },
  );
}

async function callAs(identity: Identity, address: string, serverPin: Pin): Promise<string> {
  const credentials = pinnedCredentials({ leaves: await leafSource(identity, now), serverPin, now });
  const client = createClient({ address, purpose: "tcp", credentials, ownConnection: true });
  onTestFinished(() => {
    client.close();
  });
  return (await unaryCall(client, EchoService.unary, message(""))).reason;
}

describe("a TLS listener", () => {
  test("knows a paired key by its name and a stranger by its pin, per connection", async () => {
    const [server, friend, stranger] = await Promise.all([0, 1, 2].map(() => ephemeralIdentity(now())));
    if (server === undefined || friend === undefined || stranger === undefined) throw new Error("no identities");
    const { address } = await usePeerListener(server, new Map([[friend.pin, "friend"]]));
    expect(await callAs(friend, address, server.pin)).toBe("peer:friend");
    expect(await callAs(stranger, address, server.pin)).toBe("anonymous");
    expect(await rejection(callAs(friend, address, stranger.pin))).toMatchObject({ reason: "UNAVAILABLE" });
  });

  test("has room for a batch while its loop is busy", async () => {
    const [server, friend] = await Promise.all([0, 1].map(() => ephemeralIdentity(now())));
    if (server === undefined || friend === undefined) throw new Error("no identities");
    const { port } = await usePeerListener(server, new Map([[friend.pin, "friend"]]));
    const { privateKeyPem, chainPem } = await issueLeaf(friend, now());
    const session = connectHttp2("https://127.0.0.1", {
      createConnection: () =>
        connect({
          host: "127.0.0.1",
          port: port ?? 0,
          key: privateKeyPem,
          cert: chainPem,
          rejectUnauthorized: false,
          ALPNProtocols: ["h2"],
        }),
    });
    onTestFinished(() => {
      session.destroy();
    });
    const widened = createDeferred<void>();
    session.on("remoteSettings", ({ initialWindowSize }) => {
      if (initialWindowSize === LIMITS.receiveWindowBytes) widened.resolve();
    });
    session.once("close", () => {
      widened.reject(new Error("the connection has closed"));
    });
    await widened.promise;
    // The whole connection's window comes in a frame of its own, before the answer to anything that is sent later.
    const answered = createDeferred<void>();
    session.ping(() => {
      answered.resolve();
    });
    await answered.promise;
    expect(session.state.remoteWindowSize).toBe(LIMITS.receiveWindowBytes);
  });

  test("cuts a client that presents nothing, before HTTP/2", async () => {
    const server = await ephemeralIdentity(now());
    const { port, connections } = await usePeerListener(server, new Map());
    const closed = createDeferred<void>();
    const socket = connect({ host: "127.0.0.1", port: port ?? 0, rejectUnauthorized: false, ALPNProtocols: ["h2"] });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      closed.resolve();
    });
    socket.resume();
    await closed.promise;
    expect(connections.list()).toEqual([]);
  });
});
