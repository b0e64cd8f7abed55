import type { Register } from "../commandKit.js";
import type { UsageOptions } from "../commands/usage.js";
import { positive } from "../positive.js";

/** Adds `usage`. */
export const addUsageCommands: Register = (program, { run, example }) => {
  const usage = program.command("usage").description("what agents have used by day, and their budgets");
  run(
    example(
      usage
        .command("list", { isDefault: true })
        .description("show what agents have used by UTC day, also in sessions that are gone")
        .option("--agent <agent>", "only this agent's")
        .option("--days <count>", "so many days back, today included", positive, 30),
      "usage list --agent main --days 7",
    ),
    async (context, options: UsageOptions) => (await import("../commands/usage.js")).usage(context, options),
  );
  run(
    example(
      usage
        .command("lift <agent>")
        .description("let an agent go on until the UTC day ends, although its budget is reached"),
      "usage lift main",
    ),
    async (context, agent: string) => (await import("../commands/usage.js")).liftBudget(context, agent),
  );
};
