import { answerCalls } from "../lib/calls.js";
import type { FloodShape } from "../lib/floodMeter.js";
import { privateKib } from "../lib/privateMemory.js";
import { bareNode } from "./bareNode.js";
import { startBenchGateway, type BenchGateway } from "./benchGateway.js";
import { floodPipes } from "./floodPipes.js";
import { floodTurns } from "./floodTurns.js";
import { loopDelay } from "./loopDelay.js";
import { turnTimes } from "./turnTimes.js";

const running: { gateway?: BenchGateway } = {};

function gateway(): BenchGateway {
  if (running.gateway === undefined) throw new Error("the gateway was not started");
  return running.gateway;
}

/** A turn of the loop: the pool has no event of its own. */
const POLL_MS = 5;
const POOL_WAIT_MS = 30_000;

async function pooledWorker(): Promise<number> {
  const { owner } = gateway();
  const until = performance.now() + POOL_WAIT_MS;
  while (owner.counts().pooled === 0 || owner.counts().inUse > 0 || owner.parts.launcher.live.length !== 1) {
    if (performance.now() > until) throw new Error(`no pooled worker: ${JSON.stringify(owner.counts())}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return owner.parts.launcher.live[0]?.process.pid ?? 0;
}

const methods = {
  /** Starts the gateway of a home. */
  start: async ({ home }: { readonly home: string }) => {
    const started = (running.gateway = await startBenchGateway({ home }));
    return { addresses: started.gateway.addresses, pin: started.gateway.pin };
  },
  /** A flood through workers. */
  floodTurns: (shape: FloodShape) => floodTurns(gateway().owner, shape),
  /** The same over pipes. */
  floodPipes: (shape: FloodShape) => floodPipes(shape),
  /** One turn's times. */
  turnTimes: ({ text }: { readonly text: string }) => turnTimes(gateway().owner, text),
  /** A bare Node process. */
  bareNode: () => bareNode(),
  /** Waits until exactly one worker lives, pooled. @returns its memory */
  pooledKib: async () => privateKib(await pooledWorker()),
  /** How late the loop was since the last call. */
  loopDelay: () => loopDelay(),
  /** Ends the gateway. */
  stop: () => gateway().gateway.close(),
};

/** See the methods. */
export type GatewayMethods = typeof methods;

answerCalls(methods);
