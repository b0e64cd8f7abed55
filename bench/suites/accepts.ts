import { startProcess } from "../lib/benchProcess.js";
import { streamLoad, unaryLoad, type LoadFigures } from "../lib/deliverLoad.js";
import { RECIPIENTS } from "../lib/peerHome.js";
import { makePeerKey } from "../lib/peerKey.js";
import { makeRow, type Row } from "../lib/row.js";
import { median, quantile } from "../lib/stats.js";
import type { PeerServerMethods } from "../processes/peerServer.js";
import { interleave, type Suite, type SuiteOptions } from "../suite.js";

const BYTES = 512;
/** Paired gateways that send at once. */
const SENDERS = 64;
/** Messages of a batch: 64 senders have two of them under way each, and a home takes 10,000 waiting messages. */
const BATCH = 32;

interface Way {
  readonly senders: number;
  readonly batched: boolean;
  readonly durable: boolean;
  /** Messages of one round. */
  readonly count: number;
}

const WAYS = {
  "1 sender, unary": { senders: 1, batched: false, durable: true, count: 1_000 },
  "1 sender, no commit": { senders: 1, batched: false, durable: false, count: 1_000 },
  "64 senders, unary": { senders: SENDERS, batched: false, durable: true, count: 6_000 },
  "64 senders, no commit": { senders: SENDERS, batched: false, durable: false, count: 6_000 },
  "1 sender, batched": { senders: 1, batched: true, durable: true, count: 9_600 },
  "64 senders, batched": { senders: SENDERS, batched: true, durable: true, count: 9_600 },
} satisfies Readonly<Record<string, Way>>;

type Name = keyof typeof WAYS;

/** What a gateway accepts durably of one paired gateway and of 64, each with a key and a connection of its own, one by one and in batches. */
export const accepts: Suite = async ({ rounds, scale, progress }: SuiteOptions) => {
  const server = startProcess<PeerServerMethods>("peerServer");
  try {
    const keys = await Promise.all(Array.from({ length: SENDERS }, makePeerKey));
    const measure = async ({ senders, batched, durable, count }: Way): Promise<LoadFigures> => {
      const used = keys.slice(0, senders);
      const clientPins = used.map(({ pin }) => pin);
      const opened = await server.call("open", { mode: durable ? "durable" : "validated", clientPins });
      const clients = used.map((key) => key.connect(opened));
      try {
        const shape = {
          concurrency: batched ? BATCH : senders,
          count: Math.max(4 * senders, Math.round(count * scale)),
          bytes: BYTES,
        };
        const target = { clients, recipients: RECIPIENTS, serverCpu: () => server.call("cpu", undefined) };
        const figures = await (batched ? streamLoad : unaryLoad)(target, shape);
        const stored = await server.call("stored", undefined);
        if (stored !== (durable ? shape.count : 0)) {
          throw new Error(`${String(stored)} messages are on disk, ${String(shape.count)} were accepted`);
        }
        return figures;
      } finally {
        for (const client of clients) client.close();
        await server.call("close", undefined);
      }
    };
    progress(`accepts: one sender and ${String(SENDERS)}, unary and in batches of ${String(BATCH)}`);
    // Not measured: the first loads of a process pay for compiled code.
    await measure(WAYS["64 senders, unary"]);
    await measure(WAYS["1 sender, batched"]);
    return rowsOf(await interleave(rounds, Object.keys(WAYS) as Name[], (name) => measure(WAYS[name])));
  } finally {
    await server.end();
  }
};

function rowsOf(figures: Readonly<Record<Name, readonly LoadFigures[]>>): Row[] {
  const compare = (name: Name, baseline: Name): Row[] => {
    const row = (metric: string, unit: string, of: (one: LoadFigures) => number): Row =>
      makeRow({
        metric: `durable accepts, ${name}, ${String(BYTES)} B: ${metric}`,
        unit,
        values: figures[name].map(of),
        baseline: { name: baseline, values: figures[baseline].map(of) },
        cpu: { ...ends(figures[name]), baseline: ends(figures[baseline]) },
      });
    return [
      row("messages/s", "/s", ({ perSecond }) => perSecond),
      row("p50", "ms", ({ latenciesMs }) => quantile(latenciesMs, 0.5)),
      row("p99", "ms", ({ latenciesMs }) => quantile(latenciesMs, 0.99)),
    ];
  };
  return [
    ...compare("1 sender, unary", "1 sender, no commit"),
    ...compare("64 senders, unary", "64 senders, no commit"),
    ...compare("64 senders, unary", "1 sender, unary"),
    ...compare("1 sender, batched", "1 sender, unary"),
    ...compare("64 senders, batched", "64 senders, unary"),
    ...compare("64 senders, batched", "1 sender, batched"),
  ];
}

function ends(figures: readonly LoadFigures[]): { readonly receiver: number; readonly sender: number } {
  return {
    receiver: median(figures.map(({ serverUs }) => serverUs)),
    sender: median(figures.map(({ clientUs }) => clientUs)),
  };
}
