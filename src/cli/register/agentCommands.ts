import type { Register } from "../commandKit.js";

/** Adds `agents`. */
export const addAgentCommands: Register = (program, { run, example }) => {
  run(example(program.command("agents").description("list the agents of the home"), "agents"), async (context) =>
    (await import("../commands/agents.js")).agents(context),
  );
};
