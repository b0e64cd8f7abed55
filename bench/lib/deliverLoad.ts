import type { Client } from "@grpc/grpc-js";
import { createHash } from "node:crypto";
import { systemClock } from "../../src/base/clock.js";
import { PeerServiceService, type DeliverDMRequest } from "../../src/gen/talaria/dm/v1/peer_service.js";
import { BATCHES } from "../../src/dm/transports/peer/planSends.js";
import { openBidi } from "../../src/rpc/clients/openBidi.js";
import { unaryCall } from "../../src/rpc/clients/unaryCall.js";
import { toTimestamp } from "../../src/rpc/wire/times.js";
import { ownCpuTime } from "./cpuTime.js";

/** How a load is made. */
export interface LoadShape {
  /** Callers that each wait for their answer before they call again. */
  readonly concurrency: number;
  readonly count: number;
  /** Bytes of the body. */
  readonly bytes: number;
  /** Calls in flight at most, first come first served; a caller's wait counts. Absent = no bound. */
  readonly cap?: number;
}

/** Who a load goes to. */
export interface LoadTarget {
  /** Connections of the senders; callers take them in turn, and each has one stream of batches. */
  readonly clients: readonly Client[];
  /** Agents that messages go to. */
  readonly recipients: number;
  /** CPU time of the server so far, microseconds. */
  readonly serverCpu: () => Promise<number>;
}

/** What a load came to, after its warm-up. */
export interface LoadFigures {
  readonly perSecond: number;
  readonly latenciesMs: readonly number[];
  readonly clientUs: number;
  readonly serverUs: number;
}

/** The part that warms up the code of both ends and is not measured. */
const WARM_UP = 0.25;
/** Longest load, milliseconds. */
const LOAD_LIMIT_MS = 300_000;
/** Senders that take turns, and recipients: quotas count by pairs of them. */
const SENDERS = 61;

/** Makes the request number `index`. */
export function requestOf(index: number, bytes: number, recipients: number): DeliverDMRequest {
  const body = "x".repeat(bytes);
  return {
    // In order, as the ids are that gateways give.
    requestId: `key-${String(index).padStart(8, "0")}`,
    envelope: {
      senderAgent: `sender${String(index % SENDERS)}`,
      senderTitle: "A sender",
      recipientAgent: `agent${String(index % recipients)}`,
      body,
      bodySha256: createHash("sha256").update(body, "utf8").digest(),
      inReplyTo: "",
      depth: 1,
      expiresAt: toTimestamp(systemClock.now() + 3_600_000),
      attemptEpoch: 1,
      attempt: 1,
      trace: undefined,
      hops: [],
      sentAt: undefined,
    },
  };
}

/** Takes the clocks of both ends. */
export async function bothClocks(serverCpu: () => Promise<number>) {
  return { serverUs: await serverCpu(), clientUs: ownCpuTime(), at: performance.now() };
}

/** Sends unary calls of `DeliverDM`. */
export async function unaryLoad(target: LoadTarget, shape: LoadShape): Promise<LoadFigures> {
  const { clients, recipients, serverCpu } = target;
  const { concurrency, count, bytes } = shape;
  // Made before, so that the client's own work is the call.
  const requests = Array.from({ length: count }, (_, index) => requestOf(index, bytes, recipients));
  const gate = new Gate(shape.cap ?? Infinity);
  let next = 0;
  const run = async (until: number): Promise<number[]> => {
    const latencies: number[] = [];
    const caller = async (client: Client): Promise<void> => {
      while (next < until) {
        const request = requests[next++];
        if (request === undefined) return;
        const began = performance.now();
        await gate.enter();
        try {
          await unaryCall(client, PeerServiceService.deliverDm, request);
        } finally {
          gate.leave();
        }
        latencies.push(performance.now() - began);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, (_, place) => caller(inTurn(clients, place))));
    return latencies;
  };
  await run(Math.floor(count * WARM_UP));
  const before = await bothClocks(serverCpu);
  const latenciesMs = await run(count);
  const after = await bothClocks(serverCpu);
  return figuresOf(before, after, latenciesMs);
}

/**
 * Sends batches over a stream of `DeliverDMs` for each client, {@link BATCHES} at once on each, as a gateway does. `concurrency`
 * is the size of a batch.
 */
export async function streamLoad(target: LoadTarget, shape: LoadShape): Promise<LoadFigures> {
  const { clients, recipients, serverCpu } = target;
  const { concurrency, count, bytes } = shape;
  const streams = clients.map((client) => {
    const call = openBidi(client, PeerServiceService.deliverDMs, { timeoutMs: LOAD_LIMIT_MS });
    return { call, answers: call.responses[Symbol.asyncIterator]() };
  });
  const requests = Array.from({ length: count }, (_, index) => requestOf(index, bytes, recipients));
  let next = 0;
  const run = async (until: number): Promise<number[]> => {
    const latencies: number[] = [];
    const follow = async ({ call, answers }: (typeof streams)[number]): Promise<void> => {
      const underWay: { readonly began: number; readonly count: number }[] = [];
      while (next < until || underWay.length > 0) {
        if (next < until && underWay.length < BATCHES) {
          const items = requests.slice(next, Math.min(until, next + concurrency));
          next += items.length;
          underWay.push({ began: performance.now(), count: items.length });
          await call.send({ items });
          continue;
        }
        const { began, count: sent } = underWay.shift() ?? { began: 0, count: 0 };
        const answer = await answers.next();
        if (answer.done === true) throw new Error("the stream ended before its answers");
        const accepted = answer.value.results.filter(({ result }) => result?.$case === "accepted").length;
        if (accepted !== sent) throw new Error(`${String(accepted)} of a batch of ${String(sent)} were accepted`);
        for (let one = 0; one < sent; one++) latencies.push(performance.now() - began);
      }
    };
    await Promise.all(streams.map(follow));
    return latencies;
  };
  await run(Math.floor(count * WARM_UP));
  const before = await bothClocks(serverCpu);
  const latenciesMs = await run(count);
  const after = await bothClocks(serverCpu);
  for (const { call } of streams) call.end();
  await Promise.all(streams.map(({ call }) => call.ended));
  return figuresOf(before, after, latenciesMs);
}

function inTurn(clients: readonly Client[], place: number): Client {
  const client = clients[place % clients.length];
  if (client === undefined) throw new Error("a load needs a client");
  return client;
}

type Clocks = Awaited<ReturnType<typeof bothClocks>>;

function figuresOf(before: Clocks, after: Clocks, latenciesMs: readonly number[]): LoadFigures {
  const count = latenciesMs.length;
  return {
    perSecond: (count * 1_000) / (after.at - before.at),
    latenciesMs,
    clientUs: (after.clientUs - before.clientUs) / count,
    serverUs: (after.serverUs - before.serverUs) / count,
  };
}

/** Lets so many in at once, in the order in which they came. */
class Gate {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(size: number) {
    this.#free = size;
  }

  enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
