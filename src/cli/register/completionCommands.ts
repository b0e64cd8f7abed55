import { Argument } from "commander";

import type { Register } from "../commandKit.js";
import { type Shell, SHELLS } from "../completion/completionScript.js";

/** Adds `completion`. */
export const addCompletionCommands: Register = (program, { run, example }) => {
  run(
    example(
      program
        .command("completion")
        .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
        .description("print what makes a shell complete commands and options"),
      "completion bash > ~/.local/share/bash-completion/completions/talaria",
    ),
    async (context, shell: Shell) => {
      const [{ completionScript }, { commandTree }] = await Promise.all([
        import("../completion/completionScript.js"),
        import("../completion/commandTree.js"),
      ]);
      context.terminal.out(completionScript(shell, commandTree(program)));
    },
  );
};
