import type { Clock } from "../../base/clock.js";
import type { Logger } from "../../base/logger.js";
import { StorageError } from "../../base/storageError.js";

/** Wait before a change that must not be lost is tried again, milliseconds. */
const RETRY_MS = 1_000;

/**
 * Tries a change of the store until it is kept: an outcome must not be lost to a full disk. Gives up only when the store is
 * closed; the next start recovers then. Other errors pass at once.
 */
export async function persistently<T>(clock: Clock, log: Logger, change: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof StorageError) || error.kind === "closed") throw error;
      log.error({ err: error }, "an outcome cannot be stored yet; trying again");
      await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
    }
  }
}
