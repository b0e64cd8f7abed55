import { makeHome, removeHome } from "../lib/benchHome.js";
import { startProcess } from "../lib/benchProcess.js";
import type { FloodFigures, FloodShape } from "../lib/floodMeter.js";
import { makeRow, type CpuOfBothEnds, type Goal, type Row } from "../lib/row.js";
import { median } from "../lib/stats.js";
import type { GatewayMethods } from "../processes/gatewayProcess.js";
import { interleave, type Suite, type SuiteOptions } from "../suite.js";

const BYTES = 32;

/** Deltas of all workers together, by burst: about a second or two of work. */
const DELTAS: Readonly<Record<number, number>> = { 1: 160_000, 8: 640_000, 64: 1_600_000 };

/** Goal, workers, pause in milliseconds, and the bound on the owner's CPU. */
const PACES = [
  ["G4", 32, 10, 1.35],
  ["G5", 8, 1, 1.5],
] as const;

const both = ({ receiverUs, senderUs, deltas }: FloodFigures): number => (receiverUs + senderUs) / deltas;
const receiver = ({ receiverUs, deltas }: FloodFigures): number => receiverUs / deltas;
const rate = ({ deltas, seconds }: FloodFigures): number => deltas / seconds;

interface Compared {
  readonly turns: readonly FloodFigures[];
  readonly pipes: readonly FloodFigures[];
}

/** Text deltas of one worker, through the owner to a viewer, against JSON lines over pipes. */
export const deltas: Suite = (options) => saturated(options, [1]);

/** The same of 8 and of 32 workers at once. */
export const crowds: Suite = (options) => saturated(options, [8, 32]);

/** The same of workers that pause after each delta, as models do. */
export const paced: Suite = (options) =>
  withGateway(options, async (compare) => {
    const rows: Row[] = [];
    for (const [goalName, workers, pauseMs, atMost] of PACES) {
      const compared = await compare({ workers, burst: 1, bytes: BYTES, count: pacedCount(pauseMs, options), pauseMs });
      rows.push(...pacedRows(goalName, `${String(workers)} workers, one each ${String(pauseMs)} ms`, atMost, compared));
    }
    return rows;
  });

function saturated(options: SuiteOptions, crowdSizes: readonly number[]): Promise<Row[]> {
  return withGateway(options, async (compare) => {
    const rows: Row[] = [];
    for (const workers of crowdSizes) {
      for (const burst of [1, 8, 64]) {
        const total = (DELTAS[burst] ?? 0) * options.scale;
        const shape = { workers, burst, bytes: BYTES, count: Math.ceil(total / workers) };
        rows.push(...saturatedRows(shape, await compare(shape)));
      }
    }
    return rows;
  });
}

type Compare = (shape: FloodShape) => Promise<Compared>;

async function withGateway(
  { rounds, progress }: SuiteOptions,
  measure: (compare: Compare) => Promise<Row[]>,
): Promise<Row[]> {
  const home = makeHome({ workers: { pool_size: 0, max: 40 } });
  const gateway = startProcess<GatewayMethods>("gatewayProcess");
  try {
    await gateway.call("start", { home });
    const rows = await measure((shape) => {
      const pace = shape.pauseMs === undefined ? "" : `, one each ${String(shape.pauseMs)} ms`;
      progress(`deltas: ${String(shape.workers)} workers, bursts of ${String(shape.burst)}${pace}`);
      return interleave(rounds, ["pipes", "turns"], (name) =>
        gateway.call(name === "turns" ? "floodTurns" : "floodPipes", shape),
      );
    });
    await gateway.call("stop", undefined);
    return rows;
  } finally {
    await gateway.end();
    removeHome(home);
  }
}

function pacedCount(pauseMs: number, { scale }: SuiteOptions): number {
  return Math.ceil((3_000 * scale) / pauseMs);
}

function saturatedRows({ workers, burst }: FloodShape, compared: Compared): Row[] {
  const who = workers === 1 ? "1 worker" : `${String(workers)} workers`;
  const cpu = cpuOf(compared);
  const row = (metric: string, unit: string, of: (figures: FloodFigures) => number, goalName = "", goal?: Goal): Row =>
    makeRow({
      goalName,
      metric: `${metric}, ${who}`,
      unit,
      values: compared.turns.map(of),
      baseline: { name: "JSON pipe", values: compared.pipes.map(of) },
      ...(goal === undefined ? {} : { goal }),
      burst,
      cpu,
    });
  const g1 = workers === 1 && burst === 64;
  const g2 = workers === 1 && burst === 8;
  const g3 = workers > 1 && burst === 8;
  const rateGoal: Goal | undefined = g1
    ? { of: "ratio", atLeast: 2, stretch: 3 }
    : g2
      ? { of: "ratio", atLeast: 1.2 }
      : undefined;
  const bothGoal: Goal | undefined = g1
    ? { of: "ratio", atMost: 0.4, stretch: 0.3 }
    : g2
      ? { of: "ratio", atMost: 0.75 }
      : undefined;
  const one = g1 ? "G1" : g2 ? "G2" : "";
  return [
    row("deltas/s", "/s", rate, one, rateGoal),
    row("CPU of both ends per delta", "us", both, one, bothGoal),
    row(
      "owner CPU per delta",
      "us",
      receiver,
      g3 ? "G3" : "",
      g3 ? { of: "ratio", atMost: 1.1, stretch: 0.8 } : undefined,
    ),
  ];
}

function pacedRows(goalName: string, who: string, atMost: number, compared: Compared): Row[] {
  const baseline = { name: "JSON pipe", values: compared.pipes.map(receiver) };
  const cpu = cpuOf(compared);
  return [
    makeRow({
      goalName,
      metric: `owner CPU per delta, ${who}`,
      unit: "us",
      values: compared.turns.map(receiver),
      baseline,
      goal: { of: "ratio", atMost },
      burst: 1,
      cpu,
    }),
    makeRow({
      goalName,
      metric: `share of a core that the owner uses, ${who}`,
      unit: "",
      values: compared.turns.map(({ receiverUs, seconds }) => receiverUs / 1e6 / seconds),
      baseline: {
        name: "JSON pipe",
        values: compared.pipes.map(({ receiverUs, seconds }) => receiverUs / 1e6 / seconds),
      },
      ...(goalName === "G4" ? { goal: { of: "value", atMost: 0.2 } as const } : {}),
      burst: 1,
      cpu,
    }),
    makeRow({
      metric: `deltas/s that arrived, ${who}`,
      unit: "/s",
      values: compared.turns.map(rate),
      baseline: { name: "JSON pipe", values: compared.pipes.map(rate) },
      burst: 1,
    }),
  ];
}

function cpuOf({ turns, pipes }: Compared): CpuOfBothEnds {
  const ends = (figures: readonly FloodFigures[]) => ({
    receiver: median(figures.map(receiver)),
    sender: median(figures.map(({ senderUs, deltas: count }) => senderUs / count)),
  });
  return { ...ends(turns), baseline: ends(pipes) };
}
