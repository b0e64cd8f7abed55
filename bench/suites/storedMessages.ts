import { SENT_ITEMS } from "../../src/dm/transports/peer/planSends.js";
import { removeHome } from "../lib/benchHome.js";
import { startProcess } from "../lib/benchProcess.js";
import { streamLoad, unaryLoad, type LoadFigures } from "../lib/deliverLoad.js";
import { clientName, makePeerHome, RECIPIENTS, recipientNames } from "../lib/peerHome.js";
import { makePeerKey } from "../lib/peerKey.js";
import { makeRow, type Row } from "../lib/row.js";
import { forgetWaiting, seedEnded } from "../lib/seedEnded.js";
import { median } from "../lib/stats.js";
import type { PeerServerMethods } from "../processes/peerServer.js";
import { interleave, type Suite } from "../suite.js";

/** Ended messages in a home; the first one is what the others are compared with. */
const STORED = [1_000, 100_000, 1_000_000] as const;
const BYTES = 512;
const CALLERS = 16;
/** Messages of one round. */
const UNARY = 4_000;
const BATCHED = 9_600;

/** What a message costs that a home accepts which has kept thousands, and a million, of earlier ones. */
export const storedMessages: Suite = async ({ rounds, scale, progress }) => {
  const key = await makePeerKey();
  const server = startProcess<PeerServerMethods>("peerServer");
  const homes: { readonly stored: number; readonly home: string }[] = [];
  try {
    for (const full of STORED) {
      const stored = Math.round(full * scale);
      progress(`stored messages: making a home with ${String(stored)}`);
      const home = await makePeerHome([key.pin]);
      homes.push({ stored, home });
      await seedEnded(home, { count: stored, recipients: recipientNames(), other: clientName(0) });
    }
    const measure = async (place: number, batched: boolean): Promise<LoadFigures> => {
      const { stored, home } = homes[place] ?? { stored: 0, home: "" };
      const client = key.connect(await server.call("open", { mode: "durable", clientPins: [key.pin], home }));
      try {
        const shape = {
          concurrency: batched ? SENT_ITEMS : CALLERS,
          count: Math.round((batched ? BATCHED : UNARY) * scale),
          bytes: BYTES,
        };
        const target = { clients: [client], recipients: RECIPIENTS, serverCpu: () => server.call("cpu", undefined) };
        const figures = await (batched ? streamLoad : unaryLoad)(target, shape);
        const rows = await server.call("stored", undefined);
        if (rows !== stored + shape.count) {
          throw new Error(`${String(rows)} messages are on disk, ${String(shape.count)} came to ${String(stored)}`);
        }
        return figures;
      } finally {
        client.close();
        await server.call("close", undefined);
        // The same home serves the next round; what waits in it would reach the quota.
        forgetWaiting(home);
      }
    };
    const rows: Row[] = [];
    for (const batched of [false, true]) {
      const how = batched ? `batches of ${String(SENT_ITEMS)}` : `unary, c=${String(CALLERS)}`;
      progress(`stored messages: ${how}`);
      // Not measured: the first load of a process pays for compiled code, and that would all fall on the smallest home.
      await measure(0, batched);
      const names = ["0", "1", "2"] as const satisfies readonly `${number}`[];
      const figures = await interleave(rounds, names, (name) => measure(Number(name), batched));
      const at = (name: (typeof names)[number]) => ({
        stored: homes[Number(name)]?.stored ?? 0,
        figures: figures[name],
      });
      for (const name of ["1", "2"] as const) rows.push(rowOf(how, at(name), at("0")));
    }
    return rows;
  } finally {
    await server.end();
    for (const { home } of homes) removeHome(home);
  }
};

interface Measured {
  readonly stored: number;
  readonly figures: readonly LoadFigures[];
}

function rowOf(how: string, value: Measured, baseline: Measured): Row {
  const ends = (figures: readonly LoadFigures[]) => ({
    receiver: median(figures.map(({ serverUs }) => serverUs)),
    sender: median(figures.map(({ clientUs }) => clientUs)),
  });
  return makeRow({
    goalName: "flat cost",
    metric: `server CPU per accepted message, ${how}, ${String(value.stored)} stored`,
    unit: "us",
    values: value.figures.map(({ serverUs }) => serverUs),
    baseline: { name: `${String(baseline.stored)} stored`, values: baseline.figures.map(({ serverUs }) => serverUs) },
    goal: { of: "ratio", atMost: 1.2 },
    cpu: { ...ends(value.figures), baseline: ends(baseline.figures) },
  });
}
