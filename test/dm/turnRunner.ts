import type { Clock } from "../../src/base/clock.js";
import { newId } from "../../src/base/ids.js";
import { systemRandom } from "../../src/base/random.js";
import type { Dm } from "../../src/dm/createDm.js";
import { defineCommand } from "../../src/store/command.js";
import type { DeliveryEffects } from "../../src/store/deliveries/deliveryEffects.js";
import type { Store } from "../../src/store/store.js";
import type { StoredFailure } from "../../src/store/storedFailure.js";
import { claimInput } from "../../src/store/turns/claimInput.js";
import { executionRow } from "../../src/store/turns/executionRow.js";
import { settleTurn } from "../../src/store/turns/settleTurn.js";

/** How a turn ends. */
export interface TurnEnd {
  readonly outcome: "completed" | "failed" | "interrupted" | "unknown";
  readonly text: string;
  readonly failure?: StoredFailure;
}

/** Decides a turn by its text; undefined leaves it running. */
export type Answer = (input: { readonly text: string; readonly agent: string }) => TurnEnd | undefined;

/** Ends a turn in one transaction, as the owner does. */
export const endTurn = defineCommand({
  name: "test.end_turn",
  run: (tx, { executionId, now, ...end }: TurnEnd & { executionId: string; now: number }): DeliveryEffects => {
    const execution = executionRow(tx, executionId);
    if (execution === undefined) throw new Error("no such execution");
    const effects = settleTurn(tx, { execution, ...end, now });
    tx.run("UPDATE executions SET state = 'finished' WHERE execution_id = ?", executionId);
    tx.run("UPDATE sessions SET running_execution_id = NULL WHERE session_id = ?", execution.session_id);
    return effects;
  },
});

/** Runs inputs through the store's own commands, without workers. */
export function createTurnRunner(
  store: Store,
  clock: Clock,
  answer: Answer = ({ text }) => ({ outcome: "completed", text: text.toUpperCase() }),
  dmOf: () => Dm,
) {
  let running = false;
  let stopped = false;
  const known = new Set<string>();
  const work = new Set<Promise<void>>();

  const apply = (effects: DeliveryEffects): void => {
    dmOf().onDeliveriesChanged(effects.changed);
    wake(effects.wake);
  };
  const runAll = async (sessionId: string): Promise<void> => {
    while (!stopped) {
      const executionId = newId("exe", systemRandom);
      const claim = await store.writer.execute(claimInput, {
        sessionId,
        executionId,
        epoch: store.epoch,
        now: clock.now(),
      });
      apply(claim.effects);
      if (claim.kind !== "claimed") return;
      const end = answer({ text: claim.claimed.input.text, agent: claim.claimed.agent });
      if (end === undefined) return;
      apply(await store.writer.execute(endTurn, { executionId, now: clock.now(), ...end }));
    }
  };
  const wake = (sessionIds: readonly string[]): void => {
    for (const sessionId of new Set(sessionIds)) {
      known.add(sessionId);
      if (!running || stopped) continue;
      const task: Promise<void> = runAll(sessionId).finally(() => work.delete(task));
      work.add(task);
    }
  };
  return {
    wake,
    /** Runs what waits, in this and in earlier lives of the home, and what comes. */
    resume(): void {
      running = true;
      const rows = store.reader.all<{ id: string }>(
        "SELECT DISTINCT session_id AS id FROM inputs WHERE state = 'queued'",
      );
      wake([...known, ...rows.map(({ id }) => id)]);
    },
    async stop(): Promise<void> {
      stopped = true;
      await Promise.allSettled(work);
    },
  };
}
