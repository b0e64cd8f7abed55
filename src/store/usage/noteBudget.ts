import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";

/** An agent on a day. */
export interface AgentDay {
  readonly agent: string;
  /** Number of the UTC day. */
  readonly day: number;
}

/** Notes that an agent is paused because its budget of the day is reached. True where it was not noted already. */
export const notePause = defineCommand<AgentDay & { readonly now: number }, boolean>({
  name: "usage.pause",
  run: (tx, { agent, day, now }) => {
    const sql = "UPDATE usage_days SET paused_at = ? WHERE day = ? AND agent = ? AND paused_at IS NULL";
    return tx.run(sql, now, day, agent).changes > 0;
  },
});

/** Notes that an agent is no longer paused, though the day goes on. */
export const noteResume = defineCommand<AgentDay, boolean>({ name: "usage.resume", run: (tx, day) => resume(tx, day) });

/** Lifts an agent's budget until the day ends, whether or not it is reached. Who did and when are those of the first time. */
export const liftBudget = defineCommand({
  name: "usage.lift",
  run(tx: Tx, { agent, day, by, now }: AgentDay & { readonly by: string; readonly now: number }): null {
    tx.run("INSERT INTO usage_days (day, agent) VALUES (?, ?) ON CONFLICT DO NOTHING", day, agent);
    tx.run(
      "UPDATE usage_days SET lifted_by = ?, lifted_at = ? WHERE day = ? AND agent = ? AND lifted_at IS NULL",
      by,
      now,
      day,
      agent,
    );
    resume(tx, { agent, day });
    return null;
  },
});

function resume(tx: Tx, { agent, day }: AgentDay): boolean {
  const sql = "UPDATE usage_days SET paused_at = NULL WHERE day = ? AND agent = ? AND paused_at IS NOT NULL";
  return tx.run(sql, day, agent).changes > 0;
}
