import { z } from "zod";

import type { Tool, ToolRun } from "./tool.js";

/** What {@link defineTool} makes a tool of. */
export interface ToolSpec<Arguments> {
  /** See {@link Tool.name}. */
  readonly name: string;
  /** Sentences for the model. */
  readonly description: readonly string[];
  readonly parameters: z.ZodType<Arguments>;
  /** Does the work with arguments that are as they should be. */
  readonly run: (args: Arguments, run: ToolRun) => Promise<string>;
}

/** Problems that a model is told of at once. */
const SHOWN_PROBLEMS = 5;

/** Makes a tool whose arguments are checked before it runs: a wrong one is a failed call that names the field. */
export function defineTool<Arguments>({ name, description, parameters, run }: ToolSpec<Arguments>): Tool {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" });
  return Object.freeze({
    name,
    description: description.join(" "),
    parameters: schema,
    async run(args: Readonly<Record<string, unknown>>, toolRun: ToolRun) {
      const checked = parameters.safeParse(args);
      if (!checked.success) throw new Error(problemsOf(checked.error));
      return run(checked.data, toolRun);
    },
  });
}

function problemsOf({ issues }: z.ZodError): string {
  const shown = issues
    .slice(0, SHOWN_PROBLEMS)
    .map(({ path, message }) => `${path.length === 0 ? "arguments" : path.join(".")}: ${message}`);
  return `The arguments are not what the tool takes. ${shown.join("; ")}`;
}
