import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { systemClock } from "../../src/base/clock.js";
import { openIdentity } from "../../src/rpc/tls/identityKey.js";
import { writeHome } from "../kit/homeFiles.js";
import { rowsOf, ServeProcess } from "../kit/serveProcess.js";
import { waitUntil } from "../kit/waitFor.js";
import { HeldWire } from "./heldWire.js";

/** One of the two gateways. */
export type Side = "north" | "south";

/** The other one. */
export const otherSide = (side: Side): Side => (side === "north" ? "south" : "north");

/** Longest start of a gateway on a machine that does much else, milliseconds. */
const START_MS = 25_000;
/** Budgets that bring a gateway back to its peer quickly. */
const BUDGETS = { peerRetryMinMs: 20, peerRetryMaxMs: 100 };

/** Two gateways in processes of their own that are peers over TLS, each reached through a wire that the test holds. */
export class PeerPair {
  readonly homes: Readonly<Record<Side, string>>;
  /** `wires.south` leads to south's listener. */
  readonly wires: Readonly<Record<Side, HeldWire>>;
  /** A file that workers of the agent `late` wait for before they do anything. */
  readonly gate: string;
  readonly #served = new Map<Side, ServeProcess>();

  private constructor(homes: Record<Side, string>, wires: Record<Side, HeldWire>, gate: string) {
    this.homes = homes;
    this.wires = wires;
    this.gate = gate;
  }

  /** Makes both homes and serves them. Each runs one turn at a time. */
  static async start(): Promise<PeerPair> {
    const wires = { north: await HeldWire.open(), south: await HeldWire.open() };
    const gates = writeHome({ agents: {} });
    const gate = join(gates, "gate");
    const loader = join(import.meta.dirname, "waitForGate.cjs");
    const echo = { runtime: "echo" };
    const late = { ...echo, worker: { env: { NODE_OPTIONS: `--require=${loader}`, GATE_FILE: gate } } };
    const make = (name: Side): string =>
      writeHome({
        agents: { alice: { ...echo, main: true }, bob: echo, late, busy: echo },
        budgets: BUDGETS,
        maxWorkers: 1,
        config: { name, listeners: { peers: { host: "127.0.0.1", port: 0 } } },
      });
    const homes = { north: make("north"), south: make("south") };
    for (const side of ["north", "south"] as const) {
      const other = otherSide(side);
      const { pin } = await openIdentity(homes[other], systemClock.now());
      addPeer(homes[side], other, { address: wires[other].address, pin });
    }
    const pair = new PeerPair(homes, wires, gate);
    await Promise.all([pair.serve("north"), pair.serve("south")]);
    return pair;
  }

  /** The running gateway of a side. @throws Error where it is down. */
  at(side: Side): ServeProcess {
    const served = this.#served.get(side);
    if (served === undefined) throw new Error(`${side} is down`);
    return served;
  }

  /** Serves a home. */
  async serve(side: Side): Promise<void> {
    const served = new ServeProcess(this.homes[side]);
    this.#served.set(side, served);
    await served.serving(START_MS);
    this.wires[side].target = served.peerAddress;
  }

  /** Kills a gateway. */
  async kill(side: Side): Promise<void> {
    await this.#served.get(side)?.kill();
    this.#served.delete(side);
  }

  /** Rows of a side's store, whether or not it is served. */
  rows<Row extends object>(side: Side, sql: string, ...values: readonly (string | number)[]): Row[] {
    return rowsOf<Row>(this.homes[side], sql, ...values);
  }

  /** Waits until a query finds something. */
  until(side: Side, what: string, sql: string, ...values: readonly (string | number)[]): Promise<void> {
    return waitUntil(
      `${side}: ${what}`,
      () => this.rows(side, sql, ...values).length > 0,
      () =>
        this.rows(
          side,
          "SELECT delivery_id, key, state, attempts, last_error FROM deliveries ORDER BY sequence DESC LIMIT 3",
        ),
    );
  }

  /** Kills both and removes what they left. */
  async close(): Promise<void> {
    await Promise.all([this.kill("north"), this.kill("south")]);
    await Promise.all([this.wires.north.close(), this.wires.south.close()]);
    for (const folder of [this.homes.north, this.homes.south, join(this.gate, "..")]) {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function addPeer(home: string, name: Side, peer: { readonly address: string; readonly pin: string }): void {
  const file = join(home, "talaria.yaml");
  const config = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...config, peers: { [name]: peer } }));
}
