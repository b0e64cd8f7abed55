import type { Client } from "@grpc/grpc-js";
import { TurnServiceService } from "../../src/gen/talaria/gateway/v1/turn_service.js";
import { connectClient } from "../../src/rpc/clients/connectClient.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { makeHome, removeHome } from "../lib/benchHome.js";
import { startProcess, type BenchProcess } from "../lib/benchProcess.js";
import { makeRow, type Row } from "../lib/row.js";
import { quantile } from "../lib/stats.js";
import { beginTurn, runTurn } from "../lib/turnCalls.js";
import type { GatewayMethods } from "../processes/gatewayProcess.js";
import type { Suite } from "../suite.js";

/** Turns that run and do nothing that costs. */
const QUIET = 50;
/** Longer than a round, milliseconds. */
const LONG = 600_000;
/** What the three bad neighbours do: keep a core busy, stream without end, answer nothing. */
const NOISY = [`!spin ${String(LONG)}`, "!flood 1000000000 8", `!deaf\n!mute ${String(LONG)}\n!sleep ${String(LONG)}`];
/** Control calls of one measurement, one after another, and the pause between two, milliseconds. */
const CALLS = 1_000;
const PAUSE_MS = 5;

interface Look {
  /** Of a control call, milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Of the gateway's loop, milliseconds. */
  readonly loopP99: number;
}

/** Control calls while a worker spins, one floods, one hangs and fifty turns run, against the same gateway when idle. */
export const neighbours: Suite = async ({ rounds, scale, progress }) => {
  const calls = Math.max(100, Math.round(CALLS * scale));
  const quiet = Math.max(5, Math.round(QUIET * scale));
  const [idle, busy]: [Look[], Look[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    progress(`neighbours: round ${String(round + 1)}, ${String(quiet)} turns beside the noisy three`);
    const home = makeHome({ log_level: "error", workers: { pool_size: 1, max: 64 } });
    const gateway = startProcess<GatewayMethods>("gatewayProcess");
    let client: Client | undefined;
    try {
      const { addresses } = await gateway.call("start", { home });
      client = await connectClient({ address: addresses.clientSocket, purpose: "unix", ownConnection: true });
      const { inputId } = await runTurn(client, "hello");
      await look(client, gateway, inputId, Math.round(calls / 4));
      idle.push(await look(client, gateway, inputId, calls));
      for (let turn = 0; turn < quiet; turn++) await beginTurn(client, `!say here\n!sleep ${String(LONG)}`);
      for (const text of NOISY) await beginTurn(client, text);
      busy.push(await look(client, gateway, inputId, calls));
      await gateway.call("stop", undefined);
    } finally {
      client?.close();
      await gateway.end();
      removeHome(home);
    }
  }
  return rowsOf(idle, busy, quiet);
};

async function look(
  client: Client,
  gateway: BenchProcess<GatewayMethods>,
  inputId: string,
  calls: number,
): Promise<Look> {
  await gateway.call("loopDelay", undefined);
  const took: number[] = [];
  for (let call = 0; call < calls; call++) {
    const began = performance.now();
    await unaryCall(client, TurnServiceService.getTurn, { turn: { $case: "inputId", value: inputId } });
    took.push(performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const { p99 } = await gateway.call("loopDelay", undefined);
  return { p50: quantile(took, 0.5), p99: quantile(took, 0.99), loopP99: p99 };
}

function rowsOf(idle: readonly Look[], busy: readonly Look[], quiet: number): Row[] {
  const what = `a worker spinning, one flooding, one hanging, ${String(quiet)} turns running`;
  const pair = (read: (look: Look) => number) => ({
    values: busy.map(read),
    baseline: { name: "the same gateway, idle", values: idle.map(read) },
  });
  const control = `control call, ${what}`;
  return [
    makeRow({ metric: `${control}: p50`, unit: "ms", ...pair(({ p50 }) => p50) }),
    makeRow({
      goalName: "noisy neighbours",
      metric: `${control}: p99`,
      unit: "ms",
      ...pair(({ p99 }) => p99),
      goal: { of: "value", atMost: 50 },
    }),
    makeRow({
      goalName: "noisy neighbours",
      metric: `${control}: p99, to the idle one`,
      unit: "ms",
      ...pair(({ p99 }) => p99),
      goal: { of: "ratio", atMost: 5 },
    }),
    makeRow({ metric: `delay of the gateway's loop, ${what}: p99`, unit: "ms", ...pair(({ loopP99 }) => loopP99) }),
  ];
}
