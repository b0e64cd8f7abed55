import type { Budgets } from "../../base/budgets.js";
import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { pause } from "../../base/pause.js";
import type { ProcessTable } from "../../base/processTable.js";
import { utcDay } from "../../base/utcDay.js";
import type { ReadLaunchMark } from "../../owner/launch/launchMark.js";
import type { Store } from "../../store/store.js";
import { forgetIdleSession } from "../../store/retention/forgetIdleSession.js";
import { forgetRecords } from "../../store/retention/forgetRecords.js";
import { freePages } from "../../store/retention/freePages.js";
import { livingLaunches } from "./livingLaunches.js";

/** From a start to its first round, milliseconds: it must not delay what a start has to do. */
export const FIRST_ROUND_MS = 60_000;
/** Between two rounds, milliseconds. */
export const ROUND_MS = 3_600_000;
/** Between two batches of a round, milliseconds: others come first. */
export const BATCH_PAUSE_MS = 20;

/** What {@link createHousekeeping} needs. */
export interface HousekeepingOptions {
  readonly store: Pick<Store, "writer" | "epoch">;
  readonly budgets: Pick<Budgets, "recordRetentionMs" | "usageRetentionMs" | "sessionRetentionMs">;
  readonly clock: Clock;
  readonly table: ProcessTable;
  readonly markOf: ReadLaunchMark;
  readonly log: Logger;
  /** Told of each session that is gone. */
  readonly sessionGone: (sessionId: string) => void;
}

/** Keeps a home from growing for ever. */
export interface Housekeeping {
  /** Begins its rounds. */
  start(): void;
  /** One round: removes what was kept long enough, batch after batch, and gives free pages back. */
  round(): Promise<void>;
  /** Ends them; resolves when a batch that runs has ended. */
  stop(): Promise<void>;
}

/** Makes a housekeeping that has not started. */
export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { store, budgets, clock, table, markOf, log, sessionGone } = options;
  const end = new AbortController();
  let cancel = (): void => undefined;
  let running = Promise.resolve();

  /** Runs batches until one says that it was the last. */
  const batches = async (batch: () => Promise<boolean>): Promise<void> => {
    while (!end.signal.aborted && (await batch())) await pause(clock, BATCH_PAUSE_MS, end.signal);
  };
  const round = async (): Promise<void> => {
    const { recordRetentionMs, usageRetentionMs, sessionRetentionMs } = budgets;
    const now = clock.now();
    let removed = 0;
    let sessions = 0;
    if (sessionRetentionMs > 0) {
      await batches(async () => {
        const gone = await store.writer.execute(forgetIdleSession, { idleSince: now - sessionRetentionMs });
        for (const sessionId of gone) sessionGone(sessionId);
        sessions += gone.length;
        return gone.length > 0;
      });
    }
    const due = {
      endedBefore: now - recordRetentionMs,
      usageBefore: utcDay(now - usageRetentionMs),
      epoch: store.epoch,
      bootId: table.bootId(),
      livingLaunches: livingLaunches(table, markOf),
    };
    await batches(async () => {
      const result = await store.writer.execute(forgetRecords, due);
      removed += result.removed;
      return result.more;
    });
    await batches(() => store.writer.execute(freePages, null));
    if (removed + sessions > 0) log.info({ records: removed, sessions }, "what was kept long enough was removed");
  };
  const next = (ms: number): void => {
    cancel = clock.after(ms, () => {
      running = round()
        .catch((error: unknown) => {
          if (!end.signal.aborted) log.warn({ err: error }, "old records could not be removed; the next round will");
        })
        .then(() => {
          if (!end.signal.aborted) next(ROUND_MS);
        });
    });
  };
  return {
    start() {
      next(FIRST_ROUND_MS);
    },
    round,
    async stop() {
      end.abort();
      cancel();
      await running;
    },
  };
}
