import type { Client } from "@grpc/grpc-js";
import { TurnServiceService } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { connectClient } from "../../src/rpc/clients/connectClient.js";
import { readStream } from "../../src/rpc/clients/readStream.js";
import { makeHome, removeHome } from "../lib/benchHome.js";
import { startProcess } from "../lib/benchProcess.js";
import { makeRow, type Row } from "../lib/row.js";
import { median } from "../lib/stats.js";
import type { GatewayMethods } from "../processes/gatewayProcess.js";
import type { TurnTimes } from "../processes/turnTimes.js";
import { interleave, type Suite } from "../suite.js";

const TEXT = "hello";
/** Turns of each kind in one round. */
const TURNS = 8;

interface Sample {
  readonly firstDeltaMs: number;
  readonly resultMs: number;
  readonly times: TurnTimes;
  /** Of a bare Node process. */
  readonly firstByteMs: number;
  /** Of a bare Node process or an idle pooled worker. */
  readonly privateKib: number;
}

const NAN = Number.NaN;
const NOTHING: Sample = {
  firstDeltaMs: NAN,
  resultMs: NAN,
  times: { worker: NAN, ready: NAN, firstDelta: NAN, ended: NAN },
  firstByteMs: NAN,
  privateKib: NAN,
};

/** Cold and warm starts of workers, and what an idle one keeps. */
export const starts: Suite = async ({ rounds, scale, progress }) => {
  const turns = Math.max(2, Math.round(TURNS * scale));
  const homes = { cold: makeHome({ workers: { pool_size: 0 } }), warm: makeHome({ workers: { pool_size: 1 } }) };
  const gateways = {
    cold: startProcess<GatewayMethods>("gatewayProcess"),
    warm: startProcess<GatewayMethods>("gatewayProcess"),
  };
  const clients: Client[] = [];
  try {
    const clientOf = async (name: keyof typeof gateways): Promise<Client> => {
      const { addresses } = await gateways[name].call("start", { home: homes[name] });
      const client = await connectClient({ address: addresses.clientSocket, purpose: "unix", ownConnection: true });
      clients.push(client);
      return client;
    };
    const client = { cold: await clientOf("cold"), warm: await clientOf("warm") };
    // The pool follows use: the first turn makes it.
    await runTurn(client.warm);
    await runTurn(client.cold);
    progress(`starts: ${String(turns)} turns a round, cold and warm, and as many bare Node processes`);
    const samples = await interleave(rounds, ["node", "cold", "warm"], async (name) => {
      const taken: Sample[] = [];
      for (let turn = 0; turn < turns; turn++) {
        if (name === "node") {
          const { firstByteMs, privateKib } = await gateways.cold.call("bareNode", undefined);
          taken.push({ ...NOTHING, firstByteMs, privateKib });
          continue;
        }
        if (name === "warm") await gateways.warm.call("pooledKib", undefined);
        const seen = await runTurn(client[name]);
        const privateKib = name === "warm" ? await gateways.warm.call("pooledKib", undefined) : NAN;
        taken.push({ ...NOTHING, ...seen, privateKib, times: await gateways[name].call("turnTimes", { text: TEXT }) });
      }
      return taken;
    });
    await Promise.all(Object.values(gateways).map((gateway) => gateway.call("stop", undefined)));
    return rowsOf(samples);
  } finally {
    for (const client of clients) client.close();
    await Promise.all(Object.values(gateways).map((gateway) => gateway.end()));
    for (const home of Object.values(homes)) removeHome(home);
  }
};

type Kind = "node" | "cold" | "warm";

function rowsOf(samples: Readonly<Record<Kind, readonly (readonly Sample[])[]>>): Row[] {
  const rounds = (name: Kind, of: (sample: Sample) => number, take = median): number[] =>
    samples[name].map((round) => take(round.map(of)));
  const worst = (values: readonly number[]): number => Math.max(...values);
  const mib = ({ privateKib }: Sample): number => privateKib / 1_024;
  const node = { name: "bare node, first byte", values: rounds("node", ({ firstByteMs }) => firstByteMs) };
  const cold = (name: string, read: (sample: Sample) => number) => ({ name, values: rounds("cold", read) });
  const assigned = ({ times }: Sample): number => times.ready - times.worker;
  return [
    makeRow({
      goalName: "G14",
      metric: "cold worker: queued to proved first frame, two commits included",
      unit: "ms",
      values: rounds("cold", ({ times }) => times.worker),
      baseline: node,
      goal: { of: "ratio", atMost: 1.5 },
    }),
    makeRow({
      metric: "cold (pool 0): request to first delta, at the client",
      unit: "ms",
      values: rounds("cold", ({ firstDeltaMs }) => firstDeltaMs),
      baseline: node,
    }),
    makeRow({
      metric: "cold (pool 0): request to result, at the client",
      unit: "ms",
      values: rounds("cold", ({ resultMs }) => resultMs),
      baseline: node,
    }),
    makeRow({
      metric: "warm (pool 1): request to first delta, at the client",
      unit: "ms",
      values: rounds("warm", ({ firstDeltaMs }) => firstDeltaMs),
      baseline: cold("cold", ({ firstDeltaMs }) => firstDeltaMs),
    }),
    makeRow({
      metric: "warm (pool 1): request to result, at the client",
      unit: "ms",
      values: rounds("warm", ({ resultMs }) => resultMs),
      baseline: cold("cold", ({ resultMs }) => resultMs),
    }),
    makeRow({
      goalName: "G15",
      metric: "warm: assignment to ready, two commits included, p50",
      unit: "ms",
      values: rounds("warm", assigned),
      baseline: cold("cold, queued to ready", ({ times }) => times.ready),
      goal: { of: "ratio", atMost: 1 / 25, stretch: 1 / 100 },
    }),
    makeRow({
      goalName: "G15",
      metric: "warm: assignment to ready, worst of a round",
      unit: "ms",
      values: rounds("warm", assigned, worst),
      baseline: cold("cold, queued to ready", ({ times }) => times.ready),
      goal: { of: "ratio", atMost: 1 / 10 },
    }),
    makeRow({
      metric: "warm: queued to ready, at the owner",
      unit: "ms",
      values: rounds("warm", ({ times }) => times.ready),
      baseline: cold("cold", ({ times }) => times.ready),
    }),
    makeRow({
      goalName: "G16",
      metric: "private memory of an idle pooled worker",
      unit: "MiB",
      values: rounds("warm", mib),
      baseline: { name: "bare node", values: rounds("node", mib) },
      goal: { of: "ratio", atMost: 2.2 },
    }),
  ];
}

let requests = 0;

async function runTurn(client: Client): Promise<{ firstDeltaMs: number; resultMs: number }> {
  requests += 1;
  const began = performance.now();
  let firstDeltaMs = Number.NaN;
  const updates = readStream(client, TurnServiceService.runTurn, {
    requestId: `bench-${String(process.pid)}-${String(requests)}`,
    target: { $case: "agent", value: "main" },
    text: TEXT,
    attachmentIds: [],
    headless: true,
    sessionTitle: "",
    trace: undefined,
    answersPrompts: false,
  });
  for await (const { update } of updates) {
    const what = update?.update?.$case;
    if (what === "events" && Number.isNaN(firstDeltaMs)) firstDeltaMs = performance.now() - began;
    if (what === "turnEnded") return { firstDeltaMs, resultMs: performance.now() - began };
  }
  throw new Error("the turn's stream ended before the turn");
}
