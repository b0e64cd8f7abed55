import { SENT_ITEMS } from "../../src/dm/transports/peer/planSends.js";
import { startProcess } from "../lib/benchProcess.js";
import { streamLoad, unaryLoad, type LoadFigures, type LoadShape } from "../lib/deliverLoad.js";
import { makePeerKey } from "../lib/peerKey.js";
import { makeRow, type Row, type RowParts } from "../lib/row.js";
import { median, quantile } from "../lib/stats.js";
import { RECIPIENTS } from "../lib/peerHome.js";
import type { PeerMode } from "../processes/openPeer.js";
import type { PeerServerMethods } from "../processes/peerServer.js";
import { interleave, type Suite } from "../suite.js";

const SMALL = 512;
/** The longest body of a message. */
const LARGE = 16_000;
/** Large unary calls in flight, as a client should hold itself to. */
const CAP = 4;

/** Calls of one round, by concurrency. */
const CALLS: Readonly<Record<number, number>> = { 1: 1_000, 16: 4_000, 64: 4_000 };
const STREAMED = 9_600;

interface Measured {
  readonly mode: PeerMode;
  readonly shape: LoadShape;
  readonly stream?: boolean;
}

/** `DeliverDM` through a peer listener, committed before it answers, against the same call without the commit. */
export const deliveries: Suite = async ({ rounds, scale, progress }) => {
  const server = startProcess<PeerServerMethods>("peerServer");
  const key = await makePeerKey();
  const rows: Row[] = [];

  const measure = async ({ mode, shape, stream = false }: Measured): Promise<LoadFigures> => {
    const client = key.connect(await server.call("open", { mode, clientPins: [key.pin] }));
    try {
      const load = stream ? streamLoad : unaryLoad;
      const target = { clients: [client], recipients: RECIPIENTS, serverCpu: () => server.call("cpu", undefined) };
      const figures = await load(target, shape);
      const stored = await server.call("stored", undefined);
      if ((mode === "durable" || mode === "oneByOne") && stored !== shape.count) {
        throw new Error(`${String(stored)} messages are on disk, ${String(shape.count)} were accepted`);
      }
      return figures;
    } finally {
      client.close();
      await server.call("close", undefined);
    }
  };
  const shapeOf = (concurrency: number, bytes: number): LoadShape => {
    const calls = (CALLS[concurrency] ?? 0) * (bytes === LARGE ? 0.5 : 1);
    return { concurrency, bytes, count: Math.max(64, Math.round(calls * scale)) };
  };
  const compare = <Name extends string>(names: Readonly<Record<Name, Measured>>) =>
    interleave(rounds, Object.keys(names) as Name[], (name) => measure(names[name]));
  const commits = (count: number, bytes: number) =>
    server.call("rawCommits", { rows: count, bytes, commits: Math.max(20, Math.round(400 * scale)) });

  try {
    for (const bytes of [SMALL, LARGE]) {
      for (const concurrency of [1, 16, 64]) {
        const what = `c=${String(concurrency)}, ${String(bytes)} B`;
        progress(`deliveries: unary, ${what}`);
        const shape = shapeOf(concurrency, bytes);
        const figures = await compare({
          validated: { mode: "validated", shape },
          durable: { mode: "durable", shape },
        });
        rows.push(...pairRows(what, figures.durable, figures.validated));
        if (bytes === SMALL && concurrency === 1) {
          const bare: number[] = [];
          for (let round = 0; round < rounds; round++) bare.push((await commits(1, bytes)).p50Us / 1_000);
          rows.push(addedRow(figures.durable, figures.validated, bare));
        }
      }
    }
    rows.push(...(await goalRows({ rounds, scale, progress, compare, shapeOf, commits })));
  } finally {
    await server.end();
  }
  return rows;
};

const p =
  (at: number) =>
  (figures: LoadFigures): number =>
    quantile(figures.latenciesMs, at);
const perSecond = ({ perSecond: rate }: LoadFigures): number => rate;

function cpuOf(value: readonly LoadFigures[], baseline: readonly LoadFigures[]) {
  const ends = (figures: readonly LoadFigures[]) => ({
    receiver: median(figures.map(({ serverUs }) => serverUs)),
    sender: median(figures.map(({ clientUs }) => clientUs)),
  });
  return { ...ends(value), baseline: ends(baseline) };
}

function pairRow(
  metric: string,
  unit: string,
  of: (figures: LoadFigures) => number,
  value: readonly LoadFigures[],
  [name, baseline]: readonly [string, readonly LoadFigures[]],
  more: Pick<RowParts, "goalName" | "goal"> = {},
): Row {
  return makeRow({
    metric,
    unit,
    values: value.map(of),
    baseline: { name, values: baseline.map(of) },
    cpu: cpuOf(value, baseline),
    ...more,
  });
}

function pairRows(what: string, durable: readonly LoadFigures[], validated: readonly LoadFigures[]): Row[] {
  const goal: Pick<RowParts, "goalName" | "goal"> =
    what === `c=64, ${String(SMALL)} B` ? { goalName: "G10", goal: { of: "ratio", atLeast: 0.8 } } : {};
  const baseline = ["no commit", validated] as const;
  return [
    pairRow(`durable DeliverDM, ${what}: calls/s`, "/s", perSecond, durable, baseline, goal),
    pairRow(`durable DeliverDM, ${what}: p50`, "ms", p(0.5), durable, baseline),
    pairRow(`durable DeliverDM, ${what}: p99`, "ms", p(0.99), durable, baseline),
  ];
}

function addedRow(durable: readonly LoadFigures[], validated: readonly LoadFigures[], bare: readonly number[]): Row {
  const added = durable.map((figures, round) => p(0.5)(figures) - p(0.5)(validated[round] ?? figures));
  return makeRow({
    goalName: "G11",
    metric: "what the commit adds to the p50, c=1, 512 B",
    unit: "ms",
    values: added,
    baseline: { name: "bare one-row commit, p50", values: bare },
    goal: { of: "ratio", atMost: 1.5 },
  });
}

interface GoalTools {
  readonly rounds: number;
  readonly scale: number;
  readonly progress: (text: string) => void;
  readonly compare: <Name extends string>(
    names: Readonly<Record<Name, Measured>>,
  ) => Promise<Readonly<Record<Name, readonly LoadFigures[]>>>;
  readonly shapeOf: (concurrency: number, bytes: number) => LoadShape;
  readonly commits: (rows: number, bytes: number) => Promise<{ readonly rowsPerSecond: number }>;
}

async function goalRows({ rounds, scale, progress, compare, shapeOf, commits }: GoalTools): Promise<Row[]> {
  const rows: Row[] = [];
  progress("deliveries: the harness against an empty handler");
  const sixteen = shapeOf(16, SMALL);
  const overhead = await compare({
    empty: { mode: "empty", shape: sixteen },
    validated: { mode: "validated", shape: sixteen },
  });
  const serverUs = ({ serverUs: us }: LoadFigures): number => us;
  rows.push(
    pairRow(
      "authenticated, validated DeliverDM without store, c=16: server CPU",
      "us",
      serverUs,
      overhead.validated,
      ["empty grpc-js handler", overhead.empty],
      {
        goalName: "G9",
        goal: { of: "ratio", atMost: 1.3 },
      },
    ),
  );

  progress("deliveries: group commit against one transaction for each");
  const crowd = shapeOf(64, SMALL);
  const grouped = await compare({
    oneByOne: { mode: "oneByOne", shape: crowd },
    durable: { mode: "durable", shape: crowd },
  });
  rows.push(
    pairRow(
      "durable DeliverDM, c=64, 512 B: calls/s",
      "/s",
      perSecond,
      grouped.durable,
      ["one transaction each", grouped.oneByOne],
      {
        goalName: "G10",
        goal: { of: "ratio", atLeast: 1.7 },
      },
    ),
  );

  progress("deliveries: one stream of batches");
  const streamed = await compare({
    unary: { mode: "durable", shape: crowd },
    stream: {
      mode: "durable",
      stream: true,
      shape: { ...crowd, concurrency: SENT_ITEMS, count: Math.max(1_280, Math.round(STREAMED * scale)) },
    },
  });
  const raw: number[] = [];
  for (let round = 0; round < rounds; round++) raw.push((await commits(SENT_ITEMS, SMALL)).rowsPerSecond);
  rows.push(
    pairRow(
      `durable DeliverDMs, batches of ${String(SENT_ITEMS)}, 512 B: messages/s`,
      "/s",
      perSecond,
      streamed.stream,
      ["unary, c=64", streamed.unary],
      {
        goalName: "G12",
        goal: { of: "ratio", atLeast: 4 },
      },
    ),
    makeRow({
      goalName: "G12",
      metric: `durable DeliverDMs, batches of ${String(SENT_ITEMS)}, 512 B: messages/s`,
      unit: "/s",
      values: streamed.stream.map(perSecond),
      baseline: { name: `bare rows/s, ${String(SENT_ITEMS)} a commit`, values: raw },
      goal: { of: "ratio", atLeast: 0.3 },
    }),
  );

  progress("deliveries: large bodies behind a cap");
  const large = shapeOf(64, LARGE);
  // Into HTTP/2's own receive window, as other servers have it: there large calls starve one another.
  const capped = await compare({
    plain: { mode: "narrow", shape: large },
    capped: { mode: "narrow", shape: { ...large, cap: CAP } },
  });
  const narrow = ["64 in flight, window of 64 KiB", capped.plain] as const;
  rows.push(
    pairRow(
      `64 callers, 16,000 B, window of 64 KiB, ${String(CAP)} calls in flight, the wait included: p99`,
      "ms",
      p(0.99),
      capped.capped,
      narrow,
      { goalName: "G13", goal: { of: "ratio", atMost: 0.4 } },
    ),
    pairRow(
      `64 callers, 16,000 B, window of 64 KiB, ${String(CAP)} calls in flight: calls/s`,
      "/s",
      perSecond,
      capped.capped,
      narrow,
      { goalName: "G13", goal: { of: "ratio", atLeast: 1 } },
    ),
  );
  return rows;
}
