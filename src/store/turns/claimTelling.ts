import { defineCommand } from "../command.js";

/** How an unknown outcome is told: as an event to operators, and by the operator's command. */
export type Telling = "event" | "command";

/** Takes it on to tell of an unknown outcome in one way, once for good. False where that was taken on before. */
export const claimTelling = defineCommand<{ readonly inputId: string; readonly telling: Telling }, boolean>({
  name: "unknown.tell",
  run: (tx, { inputId, telling }) =>
    tx.run("DELETE FROM untold WHERE input_id = ? AND telling = ?", inputId, telling).changes === 1,
});
