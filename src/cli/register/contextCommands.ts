import type { Register } from "../commandKit.js";
import type { ContextAddOptions } from "../commands/contexts.js";

/** Adds `contexts`. */
export const addContextCommands: Register = (program, { run, example }) => {
  const contexts = program.command("contexts").alias("context").description("gateways under names of your own");
  run(
    example(
      contexts
        .command("add <name>")
        .description("store a gateway: its --address or --home, and its --ca or --pin")
        .option("--token-file <file>", "file that holds the token; - reads standard input")
        .option("--use", "take it where a command names no gateway"),
      "contexts add office --address office.example:7420 --pin sha256:... --token-file token.txt --use",
    ),
    async (context, name: string, options: ContextAddOptions) =>
      (await import("../commands/contexts.js")).contextsAdd(context, name, options),
  );
  run(
    example(
      contexts
        .command("use <name>")
        .description("take this one where a command names no gateway; local is your own home"),
      "contexts use office",
    ),
    async (context, name: string) => (await import("../commands/contexts.js")).contextsUse(context, name),
  );
  run(
    example(contexts.command("list", { isDefault: true }).description("list the contexts"), "contexts list"),
    async (context) => (await import("../commands/contexts.js")).contextsList(context),
  );
  run(
    example(contexts.command("remove <name>").description("forget a context and its token"), "contexts remove office"),
    async (context, name: string) => (await import("../commands/contexts.js")).contextsRemove(context, name),
  );
};
