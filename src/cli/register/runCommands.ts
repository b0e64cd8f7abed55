import type { Register } from "../commandKit.js";

/** Adds `run`. */
export const addRunCommands: Register = (program, { run, example }) => {
  run(
    example(
      program
        .command("run <agent> <text...>")
        .description("run a turn; piped, only the answer is printed; the text - is read from standard input")
        .option("--session <id>", "go on in this session of the agent")
        .option("--title <title>", "title of the session that is made")
        .option("--request-id <key>", "repeat a request with its key: the turn runs once")
        .option("--usage-file <file>", "write what the turn has used, as JSON"),
      'run main "Say hello"',
    ),
    async (context, agent: string, text: string[], options: object) =>
      (await import("../commands/run.js")).run(context, { agent, text: text.join(" "), ...options }),
  );
};
