import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { StorageError } from "../../base/storageError.js";

/** Wait before a change that must not be lost is tried again, milliseconds; twice as long after each further failure. */
export const RETRY_MIN_MS = 1_000;
/** Longest such wait, milliseconds: how late an outcome may be once there is room again. */
export const RETRY_MAX_MS = 5_000;

/**
 * Tries a change of the store until it is kept: an outcome must not be lost to a full disk. Says so once, and once more when it is kept.
 * Gives up only when the store is closed; the next start recovers then. Other errors pass at once.
 */
export async function persistently<T>(clock: Clock, log: Logger, change: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      const kept = await change();
      if (failures > 0) log.info({ failures }, "an outcome that had to wait is stored");
      return kept;
    } catch (error) {
      if (!(error instanceof StorageError) || error.kind === "closed") throw error;
      if (failures === 0) log.error({ err: error }, "an outcome cannot be stored yet; trying again");
      const waitMs = Math.min(RETRY_MIN_MS * 2 ** Math.min(failures, 10), RETRY_MAX_MS);
      await new Promise<void>((resolve) => clock.after(waitMs, resolve));
    }
  }
}
