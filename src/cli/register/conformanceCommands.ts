import { InvalidArgumentError, Option } from "commander";

import type { Register } from "../commandKit.js";
import type { ConformanceRequest } from "../commands/conformance.js";
import { positive } from "../positive.js";

/** What `--skip` takes; a test holds it to the kit's own list, which is loaded with the command alone. */
export const SKIPPABLE = [
  "tools",
  "tool-bounds",
  "prompts",
  "store",
  "long-answers",
  "failures",
  "children",
  "spin",
  "outbox",
] as const satisfies ConformanceRequest["skip"];

/** Adds `conformance`: tries programs against the contract. */
export const addConformanceCommands: Register = (program, { run, example }) => {
  const conformance = program.command("conformance").description("try a program of your own against the contract");
  run(
    example(
      conformance
        .command("worker <command...>")
        .description("try a worker: each check starts it afresh, as a gateway does (see docs/workers.md)")
        .addOption(
          new Option("--skip <capabilities>", `what it cannot do, with commas between: ${SKIPPABLE.join(", ")}`)
            .argParser(capabilities)
            .default([], "nothing"),
        )
        .option("--only <text>", "only the checks whose name holds this text")
        .option("--jobs <count>", "checks that run at once", positive, 2)
        .option("--wait <seconds>", "longest wait for one thing that the worker has to do", positive, 20)
        .option("--env <variable...>", "NAME=VALUE for its environment, which is otherwise scrubbed", []),
      "conformance worker --skip spin,children -- python3 worker.py",
    ),
    async (context, command: string[], options: Omit<ConformanceRequest, "command">) =>
      (await import("../commands/conformance.js")).conformanceWorker(context, { command, ...options }),
  );
};

function capabilities(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !(SKIPPABLE as readonly string[]).includes(name));
  if (unknown !== undefined) throw new InvalidArgumentError(`there is no capability ${JSON.stringify(unknown)}.`);
  return names;
}
