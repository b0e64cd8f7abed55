import { z } from "zod";

import type { BackgroundProcesses } from "./backgroundProcesses.js";
import { defineTool } from "./defineTool.js";
import { unknownProcess } from "./terminalPollTool.js";
import type { Tool } from "./tool.js";

const parameters = z.strictObject({
  process_id: z.string().min(1).max(64).describe("The id that terminal answered with."),
});

/** Ends a background process of this turn or of an earlier one of the session. */
export function terminalKillTool(background: BackgroundProcesses): Tool {
  return defineTool({
    name: "terminal_kill",
    description: ["Ends a command that was started in the background, with everything that it has started."],
    parameters,
    async run({ process_id: id }) {
      if (!background.ids.includes(id)) throw new Error(unknownProcess(id, background));
      if (await background.kill(id)) return `${id} has ended.`;
      throw new Error(`${id} could not be ended: what is there is not provably it, or it may not be ended.`);
    },
  });
}
