import type { GatewayContext } from "../../src/gateway/gatewayContext.js";
import { readDeliveryTotals } from "../../src/store/deliveries/deliveryTotals.js";
import { answerCalls } from "../lib/calls.js";
import type { FloodShape } from "../lib/floodMeter.js";
import { privateKib } from "../lib/privateMemory.js";
import { bareNode } from "./bareNode.js";
import { startBenchGateway, type BenchGateway } from "./benchGateway.js";
import { countMessages } from "./countMessages.js";
import { DrainMeter } from "./drainMeter.js";
import { floodPipes } from "./floodPipes.js";
import { floodTurns } from "./floodTurns.js";
import { loopDelay } from "./loopDelay.js";
import { restart } from "./restartTimes.js";
import { turnTimes } from "./turnTimes.js";

/** How a gateway is started. */
interface StartOptions {
  readonly home: string;
  /** Whether messages start turns; default true. */
  readonly turnsStart?: boolean;
}

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
  start: async (options: StartOptions) => {
    const started = (running.gateway = await startBenchGateway(options));
    return { addresses: started.gateway.addresses, pin: started.gateway.pin };
  },
  /** Starts the gateway of a home with a backlog for another gateway, and waits until nothing of it waits. */
  drain: async ({ home, receiver }: { readonly home: string; readonly receiver: number }) => {
    const made: { meter?: DrainMeter } = {};
    const onContext = ({ store }: GatewayContext): void => {
      made.meter = new DrainMeter(store, receiver);
    };
    running.gateway = await startBenchGateway({ home, onContext });
    if (made.meter === undefined) throw new Error("the drain is not followed");
    return made.meter.figures;
  },
  /** Starts the gateway of a home and takes the time. */
  restart: async ({ home, waits }: { readonly home: string; readonly waits: boolean }) => {
    const { started, times } = await restart(home, waits);
    running.gateway = started;
    return times;
  },
  /** Messages by where they stand. */
  totals: () => readDeliveryTotals(gateway().context.store.reader),
  /** The messages on disk. */
  messages: () => countMessages(gateway().context.store.reader),
  /** Turns that run. */
  runningTurns: () =>
    gateway()
      .owner.turns()
      .filter(({ phase }) => phase === "running").length,
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
