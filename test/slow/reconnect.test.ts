import { expect, test } from "vitest";

import { systemClock } from "../../src/base/clock.js";
import { pause } from "../../src/base/pause.js";
import { systemRandom } from "../../src/base/random.js";
import { seededRandom } from "../../src/base/testing/seededRandom.js";
import { backoffMs } from "../../src/dm/retryPolicy.js";
import { PeerServiceService } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { createClient } from "../../src/rpc/clients/connectClient.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { RpcError } from "../../src/rpc/rpcError.js";
import { ephemeralIdentity, type Identity } from "../../src/rpc/tls/identityKey.js";
import { leafSource } from "../../src/rpc/tls/leafCertificate.js";
import { pinnedCredentials } from "../../src/rpc/tls/pinnedCredentials.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { deliverRequest } from "../dm/calls.js";
import { inputsOf, type TestGateway } from "../dm/testGateway.js";
import { useGateways } from "../dm/useGateways.js";

/** Peers with a key and a TLS connection each. */
const CONNECTED = 200;
/** Peers that come back in the model, where a connection costs no processor. */
const MODELLED = 5_000;
/** As the budgets have it, but for the longest wait, which is for peers that stay away. */
const BACKOFF = { minMs: 1_000, maxMs: 30_000 };
/** How long a gateway may take to say who it is, as the link has it. */
const GREETING_MS = 10_000;

const { use } = useGateways();
const now = (): number => systemClock.now();

/** A peer that watches its receipts as a link does: over and over, each time over a connection of its own. */
class WatchingPeer {
  attempts = 0;
  connections = 0;
  readonly #identity: Identity;
  readonly #stop = new AbortController();
  readonly #changed: () => void;
  #running: Promise<void> = Promise.resolve();
  #up = false;

  constructor(identity: Identity, changed: () => void) {
    this.#identity = identity;
    this.#changed = changed;
  }

  /** Whether its watch is open. */
  get up(): boolean {
    return this.#up;
  }

  start(hub: TestGateway): void {
    this.#running = this.#run(hub.peerAddress, hub.identity.pin);
  }

  async close(): Promise<void> {
    this.#stop.abort(new RpcError("CANCELLED"));
    await this.#running;
  }

  async #run(address: string, serverPin: TestGateway["identity"]["pin"]): Promise<void> {
    const { signal } = this.#stop;
    const leaves = await leafSource(this.#identity, now);
    for (let failures = 0; !signal.aborted;) {
      this.attempts += 1;
      const credentials = pinnedCredentials({ leaves, serverPin, now });
      const client = createClient({ address, purpose: "tcpStream", credentials, ownConnection: true });
      const silent = new AbortController();
      const heard = systemClock.after(GREETING_MS, () => silent.abort(new RpcError("CONNECT_TIMEOUT")));
      try {
        const request = { caller: undefined, cursor: undefined };
        const watch = readStream(client, PeerServiceService.watchReceipts, request, {
          signal: AbortSignal.any([signal, silent.signal]),
        });
        for await (const { update } of watch) {
          if (update?.$case !== "info") continue;
          heard();
          failures = 0;
          this.connections += 1;
          await unaryCall(client, PeerServiceService.deliverDm, deliverRequest(`k${String(this.connections)}`));
          this.#set(true);
        }
      } catch (caught) {
        if (!(caught instanceof RpcError)) throw caught;
      } finally {
        heard();
        this.#set(false);
        client.close();
      }
      failures += 1;
      await pause(
        systemClock,
        backoffMs({ ...BACKOFF, failures, fraction: systemRandom.fraction() }),
        signal,
        () => undefined,
      );
    }
  }

  #set(up: boolean): void {
    this.#up = up;
    this.#changed();
  }
}

/** Waits until all of some peers are up. @returns how long it took, milliseconds */
async function allUp(
  peers: readonly WatchingPeer[],
  signals: { onChange: () => void },
  withinMs: number,
): Promise<number> {
  const began = performance.now();
  await new Promise<void>((resolve, reject) => {
    const cancel = systemClock.after(withinMs, () => {
      reject(new Error(`${String(peers.filter(({ up }) => up).length)} of ${String(peers.length)} are up`));
    });
    signals.onChange = (): void => {
      if (!peers.every(({ up }) => up)) return;
      cancel();
      resolve();
    };
    signals.onChange();
  });
  return performance.now() - began;
}

test(
  `${String(CONNECTED)} peers whose gateway restarts all come back over TLS, each as itself, and nothing is taken twice`,
  { timeout: 280_000 },
  async () => {
    const first = await use({ name: "hub", running: false });
    const identities = await Promise.all(Array.from({ length: CONNECTED }, () => ephemeralIdentity(now())));
    const introduce = (hub: TestGateway): void => {
      identities.forEach(({ pin }, n) => hub.peers.set(`p${String(n)}`, { name: `p${String(n)}`, address: "", pin }));
    };
    introduce(first);
    await first.start();
    const signals = { onChange: (): void => undefined };
    const peers = identities.map((identity) => new WatchingPeer(identity, () => signals.onChange()));
    try {
      for (const peer of peers) peer.start(first);
      const cameMs = await allUp(peers, signals, 120_000);
      const before = peers.reduce((sum, { attempts }) => sum + attempts, 0);
      const peerPort = Number(first.peerAddress.split(":").at(-1));
      await first.close();
      const again = await use({ name: "hub", running: false, home: first.home, identity: first.identity, peerPort });
      introduce(again);
      await again.start();
      const backMs = await allUp(peers, signals, 120_000);
      const attempts = peers.reduce((sum, peer) => sum + peer.attempts, 0) - before;
      expect(peers.every(({ connections }) => connections >= 2)).toBe(true);
      const { accepted } = readDeliveryTotals(again.store.reader);
      expect(accepted).toBe(peers.reduce((sum, { connections }) => sum + connections, 0));
      const authors = new Set(inputsOf(again, "bob").map(({ author }) => author));
      expect(authors).toEqual(new Set(identities.map((_, n) => `agent:p${String(n)}/carol`)));
      const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
      console.info(
        `${String(CONNECTED)} peers: came in ${seconds(cameMs)} s, were back in ${seconds(backMs)} s with ${String(attempts)} attempts`,
      );
    } finally {
      await Promise.all(peers.map((peer) => peer.close()));
    }
  },
);

/** What a gateway can take: handshakes a second. More than that fail, and cost it as much. */
const TAKES_PER_SECOND = 250;

test(`${String(MODELLED)} peers come back by the same waits to a gateway that takes ${String(TAKES_PER_SECOND)} a second`, () => {
  const random = seededRandom(5_000);
  let waiting = Array.from({ length: MODELLED }, () => ({ failures: 0, atMs: 0 }));
  const busiest: number[] = [];
  let second = 0;
  for (; waiting.length > 0 && second < 600; second += 1) {
    const due = waiting.filter(({ atMs }) => atMs < (second + 1) * 1_000);
    busiest.push(due.length);
    const turnedAway = due.slice(TAKES_PER_SECOND).map(({ failures }) => ({
      failures: failures + 1,
      atMs: (second + 1) * 1_000 + backoffMs({ ...BACKOFF, failures: failures + 1, fraction: random.fraction() }),
    }));
    waiting = [...waiting.filter(({ atMs }) => atMs >= (second + 1) * 1_000), ...turnedAway];
  }
  console.info(
    `${String(MODELLED)} modelled peers: all back after ${String(second)} s; attempts a second: ${busiest.join(" ")}`,
  );
  expect(waiting).toEqual([]);
  // Nobody starves: 20 s is what the rate alone takes, and the longest wait comes on top once.
  expect(second).toBeLessThanOrEqual((MODELLED / TAKES_PER_SECOND + BACKOFF.maxMs / 1_000) * 1.5);
  // The crowd that came at once does not come at once again.
  expect(Math.max(...busiest.slice(10))).toBeLessThan(MODELLED / 4);
});
