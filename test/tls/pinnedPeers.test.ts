import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { connect, createServer as createTlsServer } from "node:tls";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { CallCredentials, Metadata, credentials as grpcCredentials, status } from "@grpc/grpc-js";
import { X509Certificate } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { certificatePem } from "../../src/rpc/tls/certificateBuilder.js";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import type { EphemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { LEAF_DNS_NAME, issueLeaf, leafSource } from "../../src/rpc/tls/leafCertificate.js";
import type { Leaf, LeafSource } from "../../src/rpc/tls/leafCertificate.js";
import type { PeerVerdict } from "../../src/rpc/tls/peerVerifier.js";
import type { Pin } from "../../src/rpc/tls/pin.js";
import { pinnedCredentials } from "../../src/rpc/tls/pinnedCredentials.js";
import { serverTlsOptions } from "../../src/rpc/tls/serverTls.js";
import { probeClient, startPinnedServer } from "./pinnedServer.js";
import type { PinnedServer, ProbeClient } from "./pinnedServer.js";

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2030, 0, 15, 12);
const at =
  (ms: number): (() => number) =>
  () =>
    ms;

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(leaves: LeafSource, pins: Iterable<Pin>, now = at(NOW)): Promise<PinnedServer> {
  const server = await startPinnedServer(leaves, pins instanceof Set ? pins : new Set(pins), now);
  cleanups.push(() => server.close());
  return server;
}

interface Dialled extends ProbeClient {
  readonly verdicts: readonly PeerVerdict[];
}

function dial(server: PinnedServer, leaves: LeafSource, serverPin: Pin, now = at(NOW), host = "127.0.0.1"): Dialled {
  const verdicts: PeerVerdict[] = [];
  const onVerdict = (verdict: PeerVerdict): void => {
    verdicts.push(verdict);
  };
  const client = probeClient(server.port, pinnedCredentials({ leaves, serverPin, now, onVerdict }), host);
  cleanups.push(() => {
    client.close();
  });
  return { ...client, verdicts };
}

/** A source that presents one fixed leaf, right or wrong. */
function presenting(identity: EphemeralIdentity, leaf: Leaf): LeafSource {
  return { identity, currentLeaf: () => leaf, refresh: () => Promise.resolve(leaf) };
}

/** A TLS client of our own making; resolves when the connection ended, with what happened. */
async function rawTls(server: PinnedServer, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({
    port: server.port,
    host: "127.0.0.1",
    rejectUnauthorized: false,
    ALPNProtocols: ["h2"],
    ...options,
  });
  cleanups.push(() => {
    socket.destroy();
  });
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    socket.once("secureConnect", resolve);
    socket.once("close", () => {
      resolve();
    });
  });
  return socket;
}

describe("two gateways with mutually pinned keys", async () => {
  const alice = await ephemeralIdentity(NOW);
  const bob = await ephemeralIdentity(NOW);
  const aliceLeaves = await leafSource(alice, at(NOW));
  const bobLeaves = await leafSource(bob, at(NOW));

  it("call each other, and the handler knows the caller's pin", async () => {
    const server = await serve(bobLeaves, [alice.pin]);
    const client = dial(server, aliceLeaves, bob.pin);

    expect(await client.call("hello")).toEqual({ ok: true, answer: `known ${alice.pin} hello` });
    expect(client.verdicts).toEqual([{ kind: "known", pin: bob.pin }]);
  });

  it("do so under any host name, since only the key counts", async () => {
    const server = await serve(bobLeaves, [alice.pin]);
    const client = dial(server, aliceLeaves, bob.pin, at(NOW), "localhost");

    // Only 127.0.0.1 is listened on; where localhost is ::1 too, the channel falls back to it.
    expect(await client.call("hello")).toEqual({ ok: true, answer: `known ${alice.pin} hello` });
  });

  it("carry call credentials composed with the pinned ones", async () => {
    const server = await serve(bobLeaves, [alice.pin]);
    let asked = 0;
    const token = CallCredentials.createFromMetadataGenerator((_, callback) => {
      asked += 1;
      callback(null, new Metadata());
    });
    const pinned = pinnedCredentials({ leaves: aliceLeaves, serverPin: bob.pin, now: at(NOW) });
    const client = probeClient(server.port, grpcCredentials.combineChannelCredentials(pinned, token));
    cleanups.push(() => {
      client.close();
    });

    expect(await client.call("hello")).toMatchObject({ ok: true });
    expect(asked).toBe(1);
  });

  it("stay paired when both leaves rotate, on one and the same channel", async () => {
    let now = NOW;
    const clock = (): number => now;
    const turning = await leafSource(bob, clock);
    const server = await serve(turning, [alice.pin], clock);
    const clientLeaves = await leafSource(alice, clock);
    const client = dial(server, clientLeaves, bob.pin, clock);
    expect(await client.call("first")).toMatchObject({ ok: true });

    const before = [turning.currentLeaf(), clientLeaves.currentLeaf()];
    now += 45 * DAY;
    const disconnected = client.disconnected();
    server.cutConnections();
    await disconnected;
    const waiting = new Metadata({ waitForReady: true });
    expect(await client.call("second", waiting)).toEqual({ ok: true, answer: `known ${alice.pin} second` });
    expect(client.verdicts).toHaveLength(2);
    const after = [turning.currentLeaf(), clientLeaves.currentLeaf()];
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);

    const presented = await rawTls(server, {});
    const certificate = presented.getPeerX509Certificate();
    expect(certificate?.raw.equals(new X509Certificate(after[0]?.chainPem ?? "").raw)).toBe(true);
  });

  it("see a revocation on the next connection", async () => {
    const pins = new Set([alice.pin]);
    const server = await serve(bobLeaves, pins);
    expect(await dial(server, aliceLeaves, bob.pin).call("one")).toEqual({
      ok: true,
      answer: `known ${alice.pin} one`,
    });
    pins.delete(alice.pin);
    expect(await dial(server, aliceLeaves, bob.pin).call("two")).toEqual({
      ok: true,
      answer: `unknown ${alice.pin} two`,
    });
  });
});

describe("a server", async () => {
  const home = await ephemeralIdentity(NOW);
  const leaves = await leafSource(home, at(NOW));

  it("lets an unknown key connect and says so", async () => {
    const server = await serve(leaves, []);
    const stranger = await ephemeralIdentity(NOW);
    const client = dial(server, await leafSource(stranger, at(NOW)), home.pin);

    expect(await client.call("pair me")).toEqual({ ok: true, answer: `unknown ${stranger.pin} pair me` });
    expect(server.verdicts).toEqual([{ kind: "unknown", pin: stranger.pin }]);
  });

  it("refuses a client without a certificate", async () => {
    const server = await serve(leaves, []);
    await rawTls(server, {});
    await server.verdictCount(1);
    expect(server.verdicts).toMatchObject([{ kind: "refused", problem: "no_certificate" }]);
  });

  it("refuses the identity certificate without a leaf, and a leaf without it", async () => {
    const server = await serve(leaves, [home.pin]);
    const key = home.privateKey.export({ type: "pkcs8", format: "pem" });
    await rawTls(server, { key, cert: home.certificatePem });
    await server.verdictCount(1);

    const leaf = leaves.currentLeaf();
    await rawTls(server, { key: leaf.privateKeyPem, cert: new X509Certificate(leaf.chainPem).toString(), ca: [] });
    await server.verdictCount(2);
    expect(server.verdicts).toMatchObject([
      { kind: "refused", problem: "chain" },
      { kind: "refused", problem: "chain" },
    ]);
  });

  it("refuses a leaf of another key with a stolen identity certificate behind it", async () => {
    const victim = await ephemeralIdentity(NOW);
    const thief = await ephemeralIdentity(NOW);
    const server = await serve(leaves, [victim.pin]);

    const honest = await issueLeaf(thief, NOW);
    const stolen = { ...honest, chainPem: new X509Certificate(honest.chainPem).toString() + victim.certificatePem };
    const client = dial(server, presenting(thief, stolen), home.pin);
    expect(await client.call("it is me")).toMatchObject({ ok: false, error: { code: status.UNAVAILABLE } });

    // Naming the victim's key as issuer links the two certificates; the signature is still the thief's.
    const relinked = relink(honest, thief, victim);
    const second = dial(server, presenting(thief, relinked), home.pin);
    expect(await second.call("it is really me")).toMatchObject({ ok: false, error: { code: status.UNAVAILABLE } });

    expect(server.verdicts[0]).toMatchObject({ kind: "refused", problem: "chain" });
    expect(server.verdicts.at(-1)).toMatchObject({ kind: "refused", problem: "not_signed_by_identity" });
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["23 h ahead", 23 * HOUR, "known"],
    ["23 h behind", -23 * HOUR, "known"],
    ["49 h ahead: a day is backdated and a day is tolerated", 49 * HOUR, "not_yet_valid"],
    ["so far behind that its leaf ended 23 h ago", -(30 * DAY + 23 * HOUR), "known"],
    ["so far behind that its leaf ended 25 h ago", -(30 * DAY + 25 * HOUR), "expired"],
  ])("judges a client whose clock is %s", async (_, skewMs, expected) => {
    const peer = await ephemeralIdentity(NOW - 365 * DAY);
    const server = await serve(leaves, [peer.pin]);
    const client = dial(server, presenting(peer, await issueLeaf(peer, NOW + skewMs)), home.pin);
    const end = await client.call("hello");

    const [verdict] = server.verdicts;
    expect(verdict?.kind === "refused" ? verdict.problem : verdict?.kind).toBe(expected);
    expect(end.ok).toBe(expected === "known");
  });

  it("does not speak TLS 1.2", async () => {
    const server = await serve(leaves, []);
    const leaf = leaves.currentLeaf();
    const socket = await rawTls(server, { maxVersion: "TLSv1.2", key: leaf.privateKeyPem, cert: leaf.chainPem });
    await server.clientErrorCount(1);
    expect(socket.getProtocol()).not.toBe("TLSv1.2");
    expect(server.clientErrors).toMatchObject([{ code: "ERR_SSL_UNSUPPORTED_PROTOCOL" }]);
    expect(server.verdicts).toEqual([]);
  });

  it.each([{}, { servername: LEAF_DNS_NAME }])("never resumes a session, whatever name is asked: %j", async (name) => {
    const server = await serve(leaves, []);
    const leaf = await issueLeaf(await ephemeralIdentity(NOW), NOW);
    const identity = { ...name, key: leaf.privateKeyPem, cert: leaf.chainPem };
    const first = connect({
      port: server.port,
      host: "127.0.0.1",
      rejectUnauthorized: false,
      ALPNProtocols: ["h2"],
      ...identity,
    });
    cleanups.push(() => {
      first.destroy();
    });
    first.on("error", () => undefined);
    // Tickets, if any, come before the server's HTTP/2 settings, which are its first application data.
    let session: Buffer | undefined;
    first.on("session", (offered: Buffer) => {
      session = offered;
    });
    await once(first, "data");

    const second = await rawTls(server, { ...identity, ...(session === undefined ? {} : { session }) });
    expect(second.isSessionReused()).toBe(false);
    await server.verdictCount(2);
    expect(server.verdicts).toMatchObject([{ kind: "unknown" }, { kind: "unknown" }]);
  });
});

describe("a client", async () => {
  const me = await ephemeralIdentity(NOW);
  const myLeaves = await leafSource(me, at(NOW));

  it("sends no request to a server with another key, and learns which key it has", async () => {
    const home = await ephemeralIdentity(NOW);
    const expected = (await ephemeralIdentity(NOW)).pin;
    const server = await serve(await leafSource(home, at(NOW)), [me.pin]);
    const client = dial(server, myLeaves, expected);

    const end = await client.call("secret");
    expect(end).toMatchObject({ ok: false, error: { code: status.UNAVAILABLE } });
    expect(end.ok ? "" : end.error.details).toContain(`identity key is ${home.pin}, expected ${expected}`);
    expect(client.verdicts[0]).toEqual({ kind: "unknown", pin: home.pin });
    expect(server.requests).toEqual([]);
  });

  it("sends nothing at all after the handshake to a server with another key", async () => {
    const home = await ephemeralIdentity(NOW);
    const listener = createTlsServer(serverTlsOptions(await leafSource(home, at(NOW))));
    let received = 0;
    const ended = new Promise<void>((resolve) => {
      listener.once("secureConnection", (socket) => {
        socket.on("data", (bytes: Buffer) => {
          received += bytes.length;
        });
        socket.on("error", () => undefined);
        socket.once("close", () => {
          resolve();
        });
      });
      // The client may leave before its last handshake bytes are out, which the server sees as a broken handshake.
      listener.once("tlsClientError", () => {
        resolve();
      });
    });
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    cleanups.push(() => {
      listener.close();
    });
    const { port } = listener.address() as AddressInfo;
    const client = probeClient(port, pinnedCredentials({ leaves: myLeaves, serverPin: me.pin, now: at(NOW) }));
    cleanups.push(() => {
      client.close();
    });
    expect(await client.call("secret")).toMatchObject({ ok: false });
    await ended;
    expect(received).toBe(0);
  });

  it("refuses a server that appends the expected identity certificate to a leaf of its own", async () => {
    const expected = await ephemeralIdentity(NOW);
    const impostor = await ephemeralIdentity(NOW);
    const relinked = relink(await issueLeaf(impostor, NOW), impostor, expected);
    const server = await serve(presenting(impostor, relinked), [me.pin]);
    const client = dial(server, myLeaves, expected.pin);

    expect(await client.call("secret")).toMatchObject({ ok: false, error: { code: status.UNAVAILABLE } });
    expect(client.verdicts[0]).toMatchObject({ kind: "refused", problem: "not_signed_by_identity" });
    expect(server.requests).toEqual([]);
  });

  it("refuses a server whose leaf has expired", async () => {
    const home = await ephemeralIdentity(NOW - 365 * DAY);
    const server = await serve(presenting(home, await issueLeaf(home, NOW - 60 * DAY)), [me.pin]);
    const client = dial(server, myLeaves, home.pin);
    expect(await client.call("secret")).toMatchObject({ ok: false });
    expect(client.verdicts[0]).toMatchObject({ kind: "refused", problem: "expired" });
  });

  it("gives up on a server that accepts and says nothing", async () => {
    const silent = createServer(() => undefined);
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    cleanups.push(() => {
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const options = { leaves: myLeaves, serverPin: me.pin, now: at(NOW), handshakeTimeoutMs: 50 };
    const client = probeClient(port, pinnedCredentials(options));
    cleanups.push(() => {
      client.close();
    });
    const end = await client.call("anyone?");
    expect(end.ok ? "" : end.error.details).toContain("silent for 50 ms during the TLS handshake");
  });

  it("fails the call when its observer throws, instead of crashing", async () => {
    const home = await ephemeralIdentity(NOW);
    const server = await serve(await leafSource(home, at(NOW)), [me.pin]);
    const onVerdict = (): void => {
      throw new Error("observer broke");
    };
    const options = { leaves: myLeaves, serverPin: home.pin, now: at(NOW), onVerdict };
    const client = probeClient(server.port, pinnedCredentials(options));
    cleanups.push(() => {
      client.close();
    });
    const end = await client.call("secret");
    expect(end.ok ? "" : end.error.details).toContain("observer broke");
    expect(server.requests).toEqual([]);
  });
});

/**
 * The leaf of `from` with the key identifier of `to` as its issuer's: it links to the certificate of `to` although `from`
 * signed it.
 */
function relink(leaf: Leaf, from: EphemeralIdentity, to: EphemeralIdentity): Leaf {
  const fromId = subjectKeyIdentifier(from);
  const toId = subjectKeyIdentifier(to);
  const bytes = Buffer.from(new X509Certificate(leaf.chainPem).raw);
  const position = bytes.indexOf(fromId);
  expect(position).toBeGreaterThan(0);
  toId.copy(bytes, position);
  return { ...leaf, chainPem: certificatePem(bytes) + to.certificatePem };
}

function subjectKeyIdentifier(identity: EphemeralIdentity): Buffer {
  const { raw } = new X509Certificate(identity.certificatePem);
  // extnID 2.5.29.14, then OCTET STRING (22) around OCTET STRING (20).
  const header = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x0e, 0x04, 0x16, 0x04, 0x14]);
  const position = raw.indexOf(header);
  expect(position).toBeGreaterThan(0);
  return raw.subarray(position + header.length, position + header.length + 20);
}
