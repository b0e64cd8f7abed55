import { systemClock } from "../../src/base/clock.js";
import { openIdentity } from "../../src/rpc/tls/identityKey.js";
import { copyHome, makeHome, removeHome, writeConfig } from "../lib/benchHome.js";
import { startProcess, type BenchProcess } from "../lib/benchProcess.js";
import { cpuTimeOf } from "../lib/cpuTime.js";
import { unaryLoad } from "../lib/deliverLoad.js";
import { freePort } from "../lib/freePort.js";
import { pairClients, recipientNames } from "../lib/peerHome.js";
import { makePeerKey, type PeerKey } from "../lib/peerKey.js";
import { makeRow, type Row } from "../lib/row.js";
import { seedBacklog } from "../lib/seedBacklog.js";
import { median } from "../lib/stats.js";
import type { DrainFigures } from "../processes/drainMeter.js";
import type { GatewayMethods } from "../processes/gatewayProcess.js";
import { interleave, type Suite } from "../suite.js";

/** Messages that wait: as many as a home takes. */
const BACKLOG = 10_000;
const RECIPIENTS = 100;
const BYTES = 512;
/** Unary calls of one round, and how many callers make them. */
const CALLS = 4_000;
const CALLERS = 64;

/** A backlog that one gateway drains to another in batches, against unary calls into the same gateway. */
export const backlogs: Suite = async ({ rounds, scale, progress }) => {
  const count = Math.max(RECIPIENTS * 5, Math.round(BACKLOG * scale));
  const calls = Math.max(CALLERS * 4, Math.round(CALLS * scale));
  const key = await makePeerKey();
  progress(`backlogs: making a home with ${String(count)} messages for another gateway`);
  const homes = { west: makeHome({}, ["ada", "bob"]), east: makeHome({}, ["main", ...recipientNames(RECIPIENTS)]) };
  try {
    await pair(homes);
    await pairClients(homes.east, [key.pin]);
    const recipients = recipientNames(RECIPIENTS);
    await seedBacklog(homes.west, { count, recipients, bytes: BYTES, other: "east", direction: "outbound" });
    progress(`backlogs: drains, and ${String(calls)} unary calls for each`);
    const figures = await interleave(rounds, ["unary", "drain"], (name) =>
      name === "unary" ? callEast(homes.east, key, calls) : drain(homes, count),
    );
    return [rowOf(count, figures)];
  } finally {
    for (const home of Object.values(homes)) removeHome(home);
  }
};

interface Homes {
  readonly west: string;
  readonly east: string;
}

async function pair({ west, east }: Homes): Promise<void> {
  const sides = await Promise.all(
    Object.entries({ west, east }).map(async ([name, home]) => {
      const { pin } = await openIdentity(home, systemClock.now());
      return { name, home, pin, port: await freePort() };
    }),
  );
  for (const { name, home, port } of sides) {
    const others = sides.filter((side) => side.name !== name);
    const peers = others.map(
      (side) => [side.name, { address: `127.0.0.1:${String(side.port)}`, pin: side.pin }] as const,
    );
    writeConfig(home, {
      name,
      // Each dials the other, which is not always there.
      log_level: "error",
      workers: { pool_size: 0 },
      listeners: { peers: { host: "127.0.0.1", port } },
      peers: Object.fromEntries(peers),
    });
  }
}

/** Runs something with a gateway that takes messages and starts no turns. */
async function withEast<T>(
  template: string,
  run: (east: BenchProcess<GatewayMethods>, started: Awaited<ReturnType<GatewayMethods["start"]>>) => Promise<T>,
): Promise<T> {
  const home = copyHome(template);
  const east = startProcess<GatewayMethods>("gatewayProcess");
  try {
    const result = await run(east, await east.call("start", { home, turnsStart: false }));
    await east.call("stop", undefined);
    return result;
  } finally {
    await east.end();
    removeHome(home);
  }
}

/** Unary calls of a client with a key of its own. */
function callEast(template: string, key: PeerKey, count: number): Promise<DrainFigures> {
  return withEast(template, async (east, { addresses, pin }) => {
    const client = key.connect({ address: addresses.peers ?? "", pin });
    try {
      const serverCpu = () => Promise.resolve(cpuTimeOf(east.pid));
      const target = { clients: [client], recipients: RECIPIENTS, serverCpu };
      const figures = await unaryLoad(target, { concurrency: CALLERS, count, bytes: BYTES });
      const { accepted } = await east.call("totals", undefined);
      if (accepted !== count) throw new Error(`${String(accepted)} messages are on disk, ${String(count)} were sent`);
      return { perSecond: figures.perSecond, senderUs: figures.clientUs, receiverUs: figures.serverUs };
    } finally {
      client.close();
    }
  });
}

function drain(templates: Homes, count: number): Promise<DrainFigures> {
  return withEast(templates.east, async (east) => {
    const home = copyHome(templates.west);
    const west = startProcess<GatewayMethods>("gatewayProcess");
    try {
      const figures = await west.call("drain", { home, receiver: east.pid });
      const sent = await west.call("totals", undefined);
      const taken = await east.call("messages", undefined);
      const { accepted, rows, different, inputs, misordered } = taken;
      const complete = [sent.accepted, accepted, rows, different, inputs].every((number) => number === count);
      if (!complete || sent.states.claimed !== count || taken.states.queued !== count || misordered !== 0) {
        const [there, here] = [JSON.stringify(taken), JSON.stringify(sent)];
        throw new Error(`of ${String(count)} messages the receiver has ${there}, the sender says ${here}`);
      }
      await west.call("stop", undefined);
      return figures;
    } finally {
      await west.end();
      removeHome(home);
    }
  });
}

function rowOf(
  count: number,
  { unary, drain: drained }: Readonly<Record<"unary" | "drain", readonly DrainFigures[]>>,
): Row {
  const ends = (figures: readonly DrainFigures[]) => ({
    receiver: median(figures.map(({ receiverUs }) => receiverUs)),
    sender: median(figures.map(({ senderUs }) => senderUs)),
  });
  return makeRow({
    goalName: "backlogs",
    metric: `drain of ${String(count)} messages to ${String(RECIPIENTS)} recipients of another gateway, ${String(BYTES)} B: messages/s`,
    unit: "/s",
    values: drained.map(({ perSecond }) => perSecond),
    baseline: {
      name: `durable DeliverDM, c=${String(CALLERS)}, into the same gateway`,
      values: unary.map(({ perSecond }) => perSecond),
    },
    goal: { of: "ratio", atLeast: 4, stretch: 8 },
    cpu: { ...ends(drained), baseline: ends(unary) },
  });
}
