import { z } from "zod";

import { RpcError } from "../../rpc/rpcError.js";
import type { TurnContext } from "../turnContext.js";
import { approveCommand } from "./approveCommand.js";
import type { BackgroundProcesses } from "./backgroundProcesses.js";
import { commandPlan, type CommandSite } from "./commandPlan.js";
import { commandEnvironment } from "./commandSite.js";
import { defineTool } from "./defineTool.js";
import { runCommand, type CommandEnd } from "./runCommand.js";
import type { Tool } from "./tool.js";

/** Time of a command where the call does not say, and the longest, seconds. */
const SECONDS = 120;
const LONGEST_SECONDS = 1_800;

const parameters = z.strictObject({
  command: z
    .string()
    .min(1)
    .max(16_384)
    .refine((command) => !command.includes("\0"), "holds U+0000")
    .describe("What the shell runs, in the workspace."),
  timeout_seconds: z
    .int()
    .min(1)
    .max(LONGEST_SECONDS)
    .optional()
    .describe(`Longest time; ${String(SECONDS)} where it is left out.`),
  background: z
    .boolean()
    .optional()
    .describe("True starts it and returns at once; it goes on after the turn. For servers and long jobs."),
});

/** What {@link terminalTool} needs. */
export interface TerminalParts {
  readonly context: Pick<TurnContext, "approve" | "clock">;
  readonly site: CommandSite;
  readonly background: BackgroundProcesses;
}

/** Runs a shell command in the workspace, once a person or a grant allows it. */
export function terminalTool({ context, site, background }: TerminalParts): Tool {
  return defineTool({
    name: "terminal",
    description: [
      "Runs a shell command in the workspace and returns its exit code and what it printed.",
      "A person may be asked first; where the command is denied, do not try the same in another form.",
      "Nothing can be typed into it. What it starts ends with the turn: use background for what must go on,",
      "and look at it with terminal_poll.",
    ],
    parameters,
    async run({ command, timeout_seconds: seconds = SECONDS, background: outlives = false }, { signal }) {
      const plan = commandPlan(command, site, outlives);
      if (plan.kind === "refused") throw new RpcError("RUNTIME_CONFIG", { message: plan.why });
      await approveCommand(
        context,
        outlives ? `${command}\n# stays in the background` : command,
        about(site, outlives),
      );
      signal.throwIfAborted();
      if (outlives) {
        const id = await background.start(command, plan.argv);
        return `Started in the background as ${id}. Look at it with terminal_poll, end it with terminal_kill.`;
      }
      const end = await runCommand({
        argv: plan.argv,
        directory: site.workspace,
        environment: commandEnvironment(process.env),
        clock: context.clock,
        signal,
        timeoutMs: seconds * 1_000,
      });
      const text = `[${sentenceOf(end)}]\n${end.output}`;
      if (end.by !== "itself") throw new Error(text);
      return text;
    },
  });
}

function about({ sandbox, user }: CommandSite, outlives: boolean): string {
  return [
    "The agent wants to run a command in its workspace",
    ...(user === "" ? [] : [`as ${user}`]),
    ...(sandbox ? ["inside bubblewrap"] : []),
    ...(outlives ? ["that goes on after the turn"] : []),
  ]
    .join(", ")
    .replace(/$/, ".");
}

function sentenceOf({ by, code, durationMs }: CommandEnd): string {
  const after = `after ${(durationMs / 1_000).toFixed(1)} s`;
  switch (by) {
    case "itself":
      return code === undefined ? `killed by a signal ${after}` : `exit code ${String(code)} ${after}`;
    case "timeout":
      return `ended by its time limit ${after}`;
    case "flood":
      return `ended for printing too much ${after}`;
    case "stop":
      return `ended because the turn was stopped ${after}`;
  }
}
