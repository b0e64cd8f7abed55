import type { Register } from "../commandKit.js";
import { positive } from "../positive.js";
import { addPolicyOptions, type PolicyOptions } from "./policyOptions.js";

/** Adds `sessions`. */
export const addSessionCommands: Register = (program, { run, example }) => {
  const sessions = program.command("sessions").description("list, create, read, release, reset and delete sessions");
  run(
    example(
      sessions
        .command("list", { isDefault: true })
        .description("list sessions, the last changed first")
        .option("--agent <agent>", "only this agent's")
        .option("--limit <count>", "at most so many", positive, 50),
      "sessions list --agent main",
    ),
    async (context, options: { agent?: string; limit: number }) =>
      (await import("../commands/sessions.js")).sessionsList(context, options),
  );
  run(
    example(
      addPolicyOptions(
        sessions
          .command("new <agent>")
          .description("create a session without a turn; what it is created without stays so")
          .option("--title <title>", "its title"),
      ),
      "sessions new main --safe-mode",
    ),
    async (context, agent: string, options: PolicyOptions & { title?: string }) =>
      (await import("../commands/sessions.js")).sessionsNew(context, agent, options),
  );
  run(
    example(
      sessions
        .command("acknowledge <session>")
        .description("let a session go on that is paused behind a turn whose outcome is unknown")
        .option("--execution <id>", "only if it is paused behind this turn; default: whichever it is"),
      "sessions acknowledge ses_...",
    ),
    async (context, id: string, options: { execution?: string }) =>
      (await import("../commands/acknowledge.js")).acknowledge(context, id, options),
  );
  for (const [name, description] of [
    ["show", "print a session's transcript"],
    ["reset", "end the conversation so far"],
    ["delete", "delete a session with its history, for good"],
    ["export", "print a session whole, as JSON lines"],
  ] as const) {
    run(
      example(sessions.command(`${name} <session>`).description(description), `sessions ${name} ses_...`),
      async (context, id: string) => (await import("../commands/sessions.js")).sessionsCommand[name](context, id),
    );
  }
};
