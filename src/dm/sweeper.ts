import type { Budgets } from "../base/budgets.js";
import type { Clock } from "../base/clock.js";
import type { Logger } from "../base/logger.js";
import { forgetDeliveries } from "../store/deliveries/forgetDeliveries.js";
import { sweepDeliveries } from "../store/deliveries/sweepDeliveries.js";
import type { Store } from "../store/store.js";
import type { AfterCommit } from "./afterCommit.js";
import type { DeliveryHub } from "./deliveryHub.js";
import type { Transport } from "./transports/transport.js";

/** Time between two sweeps, milliseconds. */
export const SWEEP_INTERVAL_MS = 5_000;

/** Shortest time between two clearings of the store's log, milliseconds: each one moves the log into the database. */
export const CLEAR_LOG_INTERVAL_MS = 60_000;

/** What the sweeper needs. */
export interface SweeperOptions {
  readonly store: Pick<Store, "writer">;
  readonly transports: readonly Transport[];
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly log: Logger;
  readonly afterCommit: AfterCommit;
  readonly hub: Pick<DeliveryHub, "onAny">;
}

/**
 * Ends what time has ended: messages that nobody accepted, bodies of dead letters, replies and deliveries that were kept long enough.
 * Clears the store's log after deliveries have
 * changed, so that a body that was removed is not left there.
 */
export interface Sweeper {
  /** Sweeps at once, then every {@link SWEEP_INTERVAL_MS}. */
  start(): void;
  /** Resolves when nothing is due. */
  sweep(): Promise<void>;
  /** Ends it; resolves when a sweep that runs has ended. */
  stop(): Promise<void>;
}

/** Makes a sweeper that has not started. */
export function createSweeper(options: SweeperOptions): Sweeper {
  const { store, transports, budgets, clock, log, afterCommit, hub } = options;
  let stopped = false;
  let cancel: () => void = () => undefined;
  let running: Promise<void> = Promise.resolve();
  let dirty = false;
  let clearedAt = clock.monotonic();
  const stopListening = hub.onAny(() => {
    dirty = true;
  });

  const forget = async (): Promise<void> => {
    const { replyRetentionMs, dedupeHorizonMs } = budgets;
    for (let more = true; more && !stopped;) {
      const now = clock.now();
      const result = await store.writer.execute(forgetDeliveries, {
        repliesEndedBefore: now - replyRetentionMs,
        endedBefore: now - Math.max(replyRetentionMs, dedupeHorizonMs),
        now,
      });
      dirty ||= result.removed > 0;
      more = result.more;
    }
  };
  const sweep = async (): Promise<void> => {
    for (let more = true; more && !stopped;) {
      const result = await store.writer.execute(sweepDeliveries, {
        now: clock.now(),
        deadLetterBodyMs: budgets.deadLetterBodyMs,
        farGraceMs: Math.max(0, budgets.dedupeHorizonMs - budgets.messageLifetimeMs),
        inFlight: transports.flatMap((transport) => [...transport.inFlight()]),
      });
      afterCommit(result.effects);
      more = result.more;
    }
    await forget();
    if (!dirty || clock.monotonic() - clearedAt < CLEAR_LOG_INTERVAL_MS) return;
    clearedAt = clock.monotonic();
    dirty = !store.writer.truncateLog();
  };
  const round = (): void => {
    running = sweep()
      .catch((caught: unknown) => {
        if (!stopped) log.error({ err: caught }, "the sweep of deliveries failed");
      })
      .then(() => {
        if (!stopped) cancel = clock.after(SWEEP_INTERVAL_MS, round);
      });
  };
  return {
    start: round,
    sweep,
    async stop() {
      stopped = true;
      cancel();
      stopListening();
      await running;
    },
  };
}
