import type { Register } from "../commandKit.js";
import type { UsageOptions } from "../commands/usage.js";
import { positive } from "../positive.js";

/** Adds `usage`. */
export const addUsageCommands: Register = (program, { run, example }) => {
  run(
    example(
      program
        .command("usage")
        .description("show what agents have used by day, of the sessions that exist")
        .option("--agent <agent>", "only this agent's")
        .option("--days <count>", "so many days back, today included", positive, 30),
      "usage --agent main --days 7",
    ),
    async (context, options: UsageOptions) => (await import("../commands/usage.js")).usage(context, options),
  );
};
