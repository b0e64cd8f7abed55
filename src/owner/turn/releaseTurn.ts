import type { Logger } from "../../base/logger.js";
import { releaseSession } from "../../store/turns/releaseSession.js";
import { outboxDirectory, removeOutbox } from "../recovery/outbox.js";
import { persistently } from "./persistently.js";
import type { TurnParts } from "./turnParts.js";

/** Frees the session of an execution that is settled and of which no process is left. Rejects only where the store is closed. */
export async function releaseTurn(
  { store, clock, paths }: Pick<TurnParts, "store" | "clock" | "paths">,
  log: Logger,
  executionId: string,
): Promise<void> {
  // Before the release: once the session is free nothing remembers the outbox.
  removeOutbox(outboxDirectory(paths.outboxesDir, executionId));
  await persistently(clock, log, () => store.writer.execute(releaseSession, { executionId, now: clock.now() }));
}
