import { mkdirSync } from "node:fs";
import { ensureHome } from "../../src/base/ensureHome.js";
import { homePaths } from "../../src/base/home.js";
import { makeOutbox, outboxDirectory } from "../../src/owner/recovery/outbox.js";
import { openStore } from "../../src/store/store.js";
import { releaseSession } from "../../src/store/turns/releaseSession.js";
import { fresh, TurnBench } from "../../src/store/turns/testing/turnBench.js";

/** What a home is given. */
export interface SeedShape {
  /** Sessions; each has one interrupted execution at its end. */
  readonly sessions: number;
  /** Finished executions of each session. */
  readonly finished: number;
}

/** Fills a home with executions as a gateway leaves them that is killed with a turn running in every session. */
export async function seedExecutions(home: string, { sessions, finished }: SeedShape): Promise<void> {
  const paths = homePaths(home);
  ensureHome(paths);
  mkdirSync(paths.outboxesDir, { recursive: true, mode: 0o700 });
  const store = await openStore(paths);
  try {
    const bench = new TurnBench(store);
    const ids = Array.from({ length: sessions }, () => fresh.session());
    await Promise.all(ids.map((sessionId) => bench.admit(sessionId, { create: true })));
    for (let turn = 0; turn < finished; turn++) {
      // All sessions side by side, so that they share commits.
      await Promise.all(
        ids.map(async (sessionId) => {
          const fence = await bench.run(sessionId);
          await bench.result(fence);
          await store.writer.execute(releaseSession, { executionId: fence.executionId, now: bench.now });
          await bench.admit(sessionId);
        }),
      );
    }
    for (const sessionId of ids) {
      const { executionId } = await bench.run(sessionId);
      makeOutbox(outboxDirectory(paths.outboxesDir, executionId));
    }
  } finally {
    await store.close();
  }
}
