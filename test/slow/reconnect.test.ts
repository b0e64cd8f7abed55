import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { seededRandom } from "../../src/base/testing/seededRandom.js";
import { backoffMs } from "../../src/dm/retryPolicy.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { inputsOf, type TestGateway } from "../dm/testGateway.js";
import { useGateways } from "../dm/useGateways.js";
import { StreamLog } from "../kit/streamLog.js";
import type { PeersOrder, PeersReport } from "./peersProcess.js";
import { BACKOFF } from "./watchingPeer.js";

/**
 * Peers with a key and a TLS connection each: 1,000, because 5,000 take minutes on two cores, which do the work of both sides;
 * TALARIA_TLS_PEERS=5000 has them all.
 */
const CONNECTED = Number(process.env["TALARIA_TLS_PEERS"] ?? 1_000);
/** The processes that they are in. */
const PROCESSES = 4;
/** Peers of each process that bring a message with every connection. */
const TALKING = 25;
/** Over how long the first connections are spread, milliseconds; the ones after the restart are not. */
const SPREAD_MS = 15 * CONNECTED;
/** How long all of them may take to come, milliseconds: a gateway, its peers and other work share two cores here. */
const COME_WITHIN_MS = 60_000 + 120 * CONNECTED;
/** Peers that come back in the model, where a connection costs no processor. */
const MODELLED = 5_000;

const { use } = useGateways();

/** Files that this process may have open. @throws Error where they are too few for a socket of each peer */
function checkOpenFiles(): void {
  const needed = CONNECTED + 1_000;
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = report.userLimits?.open_files?.soft;
  if (typeof soft !== "number" || soft >= needed) return;
  throw new Error(
    `${String(CONNECTED)} peers need ${String(needed)} open files and ${String(soft)} are allowed: ulimit -n ${String(needed)}, or fewer TALARIA_TLS_PEERS`,
  );
}

/** Peers in a process of their own. */
class PeersProcess {
  readonly #child: ChildProcess;
  readonly #reports = new StreamLog<PeersReport>(({ kind }) => kind);

  constructor(count: number) {
    const program = join(import.meta.dirname, "peersProcess.ts");
    this.#child = fork(program, [String(count), String(TALKING)], { execArgv: ["--import", "tsx"] });
    this.#child.on("message", (report) => this.#reports.add(report as PeersReport));
    this.#child.once("exit", () => this.#reports.end());
  }

  /** How its peers are. */
  get state(): Extract<PeersReport, { kind: "state" }> {
    const last = this.#reports.items.at(-1);
    return last?.kind === "state" ? last : { kind: "state", up: 0, twice: 0, attempts: 0 };
  }

  async pins(): Promise<readonly string[]> {
    const found = await this.#reports.until("pins", () => this.#reports.items[0], COME_WITHIN_MS);
    return found.kind === "pins" ? found.pins : [];
  }

  start(order: PeersOrder): void {
    this.#child.send(order);
  }

  /** Waits until a state is reached. */
  async until(what: string, is: (state: PeersProcess["state"]) => boolean): Promise<void> {
    await this.#reports.until(what, () => (is(this.state) ? true : undefined), COME_WITHIN_MS);
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}

/** Makes many peers known at once. */
function introduceAll(hub: TestGateway, pins: readonly string[]): void {
  const entries = pins.map((pin, n) => ({ name: `p${String(n)}`, address: "", pin }));
  const last = entries.pop();
  // Each of the map's own changes has every peer read again.
  for (const peer of entries) Map.prototype.set.call(hub.peers, peer.name, peer);
  if (last !== undefined) hub.peers.set(last.name, last);
}

test(
  `${String(CONNECTED)} peers whose gateway restarts all come back over TLS, each as itself, and nothing is taken twice`,
  { timeout: 3 * COME_WITHIN_MS },
  async () => {
    checkOpenFiles();
    const share = CONNECTED / PROCESSES;
    const processes = Array.from({ length: PROCESSES }, () => new PeersProcess(share));
    onTestFinished(async () => {
      await Promise.all(processes.map((one) => one.close()));
    });
    const pins = (await Promise.all(processes.map((one) => one.pins()))).flat();
    expect(new Set(pins).size).toBe(CONNECTED);
    const first = await use({ name: "hub", running: false });
    introduceAll(first, pins);
    await first.start();
    const seconds = (since: number): string => ((performance.now() - since) / 1_000).toFixed(1);
    const began = performance.now();
    const hub = { address: first.peerAddress, pin: first.identity.pin };
    for (const one of processes) one.start({ hub, spreadMs: SPREAD_MS });
    await Promise.all(processes.map((one) => one.until("all are up", ({ up }) => up === share)));
    const came = seconds(began);
    const before = processes.reduce((sum, { state }) => sum + state.attempts, 0);

    const peerPort = Number(first.peerAddress.split(":").at(-1));
    await first.close();
    const again = await use({ name: "hub", running: false, home: first.home, identity: first.identity, peerPort });
    introduceAll(again, pins);
    await again.start();
    const restarted = performance.now();
    await Promise.all(
      processes.map((one) => one.until("all are back", ({ up, twice }) => up === share && twice === share)),
    );
    const attempts = processes.reduce((sum, { state }) => sum + state.attempts, 0) - before;
    const each = (attempts / CONNECTED).toFixed(1);
    console.info(
      `${String(CONNECTED)} peers: came in ${came} s, were back in ${seconds(restarted)} s with ${String(attempts)} attempts, ${each} each`,
    );
    const connected = again.listeners.flatMap(({ connections }) => connections.list());
    const keys = new Set(connected.flatMap(({ identity }) => (identity === undefined ? [] : [identity.pin])));
    expect(keys).toEqual(new Set(pins));
    const talkers = pins.flatMap((_, n) => (n % share < TALKING ? [`agent:p${String(n)}/carol`] : []));
    const inputs = inputsOf(again, "bob");
    expect(new Set(inputs.map(({ author }) => author))).toEqual(new Set(talkers));
    expect(readDeliveryTotals(again.store.reader).accepted).toBe(inputs.length);
    expect(inputs.length).toBeGreaterThanOrEqual(2 * talkers.length);
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
