import type { Register } from "../commandKit.js";

/** Adds `prompts`. */
export const addPromptCommands: Register = (program, { run, example }) => {
  const prompts = program.command("prompts").description("what agents ask of people: approvals and questions");
  run(
    example(
      prompts
        .command("list", { isDefault: true })
        .description("list the open prompts, oldest first")
        .option("--session <id>", "only this session's"),
      "prompts list",
    ),
    async (context, options: { session?: string }) =>
      (await import("../commands/prompts.js")).promptsList(context, options),
  );
  run(
    example(
      prompts
        .command("answer <prompt> [answer...]")
        .description(
          "answer one: once, session, always or deny for an approval, text for a question; without an answer it asks",
        ),
      "prompts answer prm_... once",
    ),
    async (context, id: string, words: string[]) =>
      (await import("../commands/prompts.js")).promptsAnswer(context, id, words),
  );
};
