import { setImmediate } from "node:timers/promises";
import { systemClock } from "../../src/base/clock.js";
import { systemRandom } from "../../src/base/random.js";
import { leafStamp } from "./stampedLeaves.js";
import { type PeerHub, WatchingPeer } from "./watchingPeer.js";

/** What a process of peers is told: where to come, and over how long a time the first connections are spread. */
export interface PeersOrder {
  readonly hub: PeerHub;
  readonly spreadMs: number;
}

/** What it says: the pins of its peers once, then how they are. */
export type PeersReport =
  | { readonly kind: "pins"; readonly pins: readonly string[] }
  | { readonly kind: "state"; readonly up: number; readonly twice: number; readonly attempts: number };

/** Between two reports of a state, milliseconds. */
const REPORT_MS = 250;

/**
 * Many peers in a process of their own, each with a key and a connection of its own. Arguments: how many, and how many of them bring a
 * message with each connection. Speaks over its parent's channel, and ends with it.
 */
const [count = 0, talking = 0] = process.argv.slice(2).map(Number);
const say = (report: PeersReport): void => {
  if (process.connected) process.send?.(report);
};

const stamp = await leafStamp(systemClock.now());
const leaves = Array.from({ length: count }, stamp);
let reporting = false;
const report = (): void => {
  if (reporting) return;
  reporting = true;
  systemClock.after(REPORT_MS, () => {
    reporting = false;
    const up = peers.filter((peer) => peer.up).length;
    const twice = peers.filter(({ connections }) => connections >= 2).length;
    say({ kind: "state", up, twice, attempts: peers.reduce((sum, { attempts }) => sum + attempts, 0) });
  });
};
/** One peer begins in each turn of the loop, so that what arrives for the others is read before the next one begins. */
let last = Promise.resolve();
const turn = (): Promise<void> => (last = last.then(() => setImmediate()));
const peers = leaves.map(
  (source, n) => new WatchingPeer(source, report, turn, (nth) => (n < talking ? `k${String(nth)}` : undefined)),
);
process.on("message", ({ hub, spreadMs }: PeersOrder) => {
  for (const peer of peers) peer.start(hub, systemRandom.fraction() * spreadMs);
});
process.on("disconnect", () => process.exit(0));
say({ kind: "pins", pins: leaves.map(({ identity }) => identity.pin) });
