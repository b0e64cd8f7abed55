import { z } from "zod";

import type { BackgroundProcesses } from "./backgroundProcesses.js";
import { defineTool } from "./defineTool.js";
import type { Tool } from "./tool.js";

const parameters = z.strictObject({
  process_id: z.string().min(1).max(64).describe("The id that terminal answered with."),
});

/** Looks at a background process of this turn or of an earlier one of the session. */
export function terminalPollTool(background: BackgroundProcesses): Tool {
  return defineTool({
    name: "terminal_poll",
    description: [
      "Looks at a command that was started in the background: whether it runs, and the last of what it printed.",
    ],
    parameters,
    async run({ process_id: id }) {
      const look = await background.look(id);
      if (look === undefined) throw new Error(unknownProcess(id, background));
      const state =
        look.state === "exited"
          ? `exit code ${String(look.code)}`
          : look.state === "running"
            ? "running"
            : "ended; its exit code is not known";
      return `[${state}]\n${look.output}`;
    },
  });
}

/** What a model is told of an id that is none. */
export function unknownProcess(id: string, { ids }: BackgroundProcesses): string {
  const known = ids.length === 0 ? "there is none" : `there is: ${ids.join(", ")}`;
  return `process_id: no background process ${JSON.stringify(id)} of this session; ${known}.`;
}
