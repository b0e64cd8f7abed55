import type { Register } from "../commandKit.js";
import { addPolicyOptions } from "./policyOptions.js";

const anotherOf = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Adds `run`. */
export const addRunCommands: Register = (program, { run, example }) => {
  run(
    example(
      addPolicyOptions(
        program
          .command("run <agent> <text...>")
          .description("run a turn; piped, only the answer is printed; the text - is read from standard input")
          .option("--session <id>", "go on in this session of the agent")
          .option("--title <title>", "title of the session that is made")
          .option("--attach <file>", "an image that goes with the text; up to 10 times", anotherOf)
          .option("--request-id <key>", "repeat a request with its key: the turn runs once")
          .option("--usage-file <file>", "write what the turn has used, as JSON"),
        ["session"],
      ),
      'run main "Say hello"',
    ),
    async (context, agent: string, text: string[], options: object) =>
      (await import("../commands/run.js")).run(context, { agent, text: text.join(" "), ...options }),
  );
};
