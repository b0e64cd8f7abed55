import type { Client } from "@grpc/grpc-js";
import { connectClient } from "../../src/rpc/clients/connectClient.js";
import { makeHome, removeHome } from "../lib/benchHome.js";
import { startProcess } from "../lib/benchProcess.js";
import { makeRow, type Row } from "../lib/row.js";
import { median, quantile } from "../lib/stats.js";
import { runTurn } from "../lib/turnCalls.js";
import type { GatewayMethods } from "../processes/gatewayProcess.js";
import { interleave, type Suite } from "../suite.js";

/** Sessions at once, under the highest cap. */
const SESSIONS = 50;
const CAP = 64;
/** Inputs of each session in one round; all of a session's are queued at once. */
const INPUTS = 4;
/** Turns of the session that has the gateway to itself. */
const ALONE = 40;

interface Round {
  readonly turnsPerSecond: number;
  /** Request to result of each turn, milliseconds. */
  readonly resultMs: readonly number[];
  /** From the start to the end of each session's last turn, milliseconds. */
  readonly sessionMs: readonly number[];
}

/** Fifty sessions at once, each with several inputs, against one session alone: throughput, and how alike they fare. */
export const sessions: Suite = async ({ rounds, scale, progress }) => {
  const count = Math.max(5, Math.round(SESSIONS * scale));
  const inputs = Math.max(2, Math.round(INPUTS * scale));
  const home = makeHome({ log_level: "error", workers: { pool_size: 1, max: CAP } });
  const gateway = startProcess<GatewayMethods>("gatewayProcess");
  const clients: Client[] = [];
  try {
    const { addresses } = await gateway.call("start", { home });
    const client = await connectClient({ address: addresses.clientSocket, purpose: "unix", ownConnection: true });
    clients.push(client);
    const ids: string[] = [];
    while (ids.length < count) ids.push((await runTurn(client, "hello")).sessionId);
    progress(`sessions: ${String(count)} at once, ${String(inputs)} inputs each, cap ${String(CAP)}`);
    const alone = Math.max(2, Math.round(ALONE * scale));
    const measured = await interleave(rounds, ["alone", "together"], (name) =>
      name === "alone" ? runAll(client, ids.slice(0, 1), alone) : runAll(client, ids, inputs),
    );
    await gateway.call("stop", undefined);
    return rowsOf(measured, count);
  } finally {
    for (const client of clients) client.close();
    await gateway.end();
    removeHome(home);
  }
};

async function runAll(client: Client, ids: readonly string[], inputs: number): Promise<Round> {
  const began = performance.now();
  const resultMs: number[] = [];
  const sessionMs = await Promise.all(
    ids.map(async (sessionId) => {
      const turns = Array.from({ length: inputs }, () => runTurn(client, "hello", sessionId));
      for (const turn of await Promise.all(turns)) resultMs.push(turn.resultMs);
      return performance.now() - began;
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  return { turnsPerSecond: (ids.length * inputs) / seconds, resultMs, sessionMs };
}

function rowsOf({ alone, together }: Readonly<Record<"alone" | "together", readonly Round[]>>, count: number): Row[] {
  const what = `${String(count)} sessions at once, cap ${String(CAP)}`;
  return [
    makeRow({
      metric: `${what}: turns`,
      unit: "1/s",
      values: together.map(({ turnsPerSecond }) => turnsPerSecond),
      baseline: { name: "one session alone", values: alone.map(({ turnsPerSecond }) => turnsPerSecond) },
    }),
    makeRow({
      metric: `${what}: last session's end to the middle one's`,
      unit: "x",
      values: together.map(({ sessionMs }) => Math.max(...sessionMs) / median(sessionMs)),
    }),
    makeRow({
      metric: `${what}: first session's end to the middle one's`,
      unit: "x",
      values: together.map(({ sessionMs }) => Math.min(...sessionMs) / median(sessionMs)),
    }),
    ...([0.5, 0.99] as const).map((at) =>
      makeRow({
        metric: `${what}: request to result, waiting for the session's earlier turns included, p${String(at * 100)}`,
        unit: "ms",
        values: together.map(({ resultMs }) => quantile(resultMs, at)),
        baseline: { name: "one session alone", values: alone.map(({ resultMs }) => quantile(resultMs, at)) },
      }),
    ),
  ];
}
