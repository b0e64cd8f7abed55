import { Metadata, status } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { ephemeralIdentity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import type { LeafSource } from "../../src/rpc/tls/leafCertificate.js";
import type { Pin } from "../../src/rpc/tls/pin.js";
import { pinnedCredentials } from "../../src/rpc/tls/pinnedCredentials.js";
import { probeClient, startPinnedServer } from "./pinnedServer.js";
import type { PinnedServer, ProbeClient } from "./pinnedServer.js";

const NOW = Date.UTC(2030, 0, 15, 12);
const now = (): number => NOW;
const alice = await ephemeralIdentity(NOW);
const bob = await ephemeralIdentity(NOW);
const aliceLeaves = await leafSource(alice, now);
const bobLeaves = await leafSource(bob, now);

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(leaves: LeafSource): Promise<PinnedServer> {
  const server = await startPinnedServer(leaves, new Set<Pin>([alice.pin]), now);
  cleanups.push(() => server.close());
  return server;
}

function dial(server: PinnedServer, leaves: LeafSource): ProbeClient {
  const client = probeClient(server.port, pinnedCredentials({ leaves, serverPin: bob.pin, now }));
  cleanups.push(() => {
    client.close();
  });
  return client;
}

/** The source, whose refresh fails until it is repaired. */
function breakable(leaves: LeafSource): LeafSource & { repair(): void } {
  let broken = true;
  return {
    ...leaves,
    refresh: () => (broken ? Promise.reject(new Error("cannot issue")) : leaves.refresh()),
    repair: () => {
      broken = false;
    },
  };
}

const waiting = new Metadata({ waitForReady: true });

describe("while a leaf cannot be issued", () => {
  it("a client's call fails with the reason, and the same channel works afterwards", async () => {
    const leaves = breakable(aliceLeaves);
    const client = dial(await serve(bobLeaves), leaves);
    const end = await client.call("hello");
    expect(end).toMatchObject({ ok: false, error: { code: status.UNAVAILABLE } });
    expect(end.ok ? "" : end.error.details).toContain("cannot issue");
    leaves.repair();
    expect(await client.call("again", waiting)).toMatchObject({ ok: true });
  });

  it("a server refuses the handshake and reports the reason, and accepts afterwards", async () => {
    const leaves = breakable(bobLeaves);
    const server = await serve(leaves);
    const client = dial(server, aliceLeaves);
    expect(await client.call("hello")).toMatchObject({ ok: false, error: { code: status.UNAVAILABLE } });
    await server.clientErrorCount(1);
    expect(server.clientErrors[0]).toMatchObject({ message: "cannot issue" });
    leaves.repair();
    expect(await client.call("again", waiting)).toMatchObject({ ok: true });
  });
});
