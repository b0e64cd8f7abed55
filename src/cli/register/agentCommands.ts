import { Option } from "commander";

import { RUNTIMES } from "../agents/agentFiles.js";
import type { Register } from "../commandKit.js";

/** Adds `agents`, and `reload`, which reads them again. */
export const addAgentCommands: Register = (program, { run, example }) => {
  const agents = program.command("agents").description("make, list and check the agents of the home");
  run(
    example(
      agents.command("list", { isDefault: true }).description("list the agents that a gateway has"),
      "agents list",
    ),
    async (context) => (await import("../commands/agents.js")).agents(context),
  );
  run(
    example(
      agents
        .command("new <name>")
        .description("make an agent's folder, with files that explain themselves")
        .addOption(new Option("--runtime <runtime>", "what drives its turns").choices(RUNTIMES).default("echo"))
        .option("--title <title>", "name for people"),
      "agents new coder --runtime openai",
    ),
    async (context, name: string, options: { runtime: (typeof RUNTIMES)[number]; title?: string }) =>
      (await import("../commands/agentsNew.js")).agentsNew(context, { name, ...options }),
  );
  run(
    example(
      agents.command("check [name]").description("name every mistake in the agents' files, with line and key"),
      "agents check coder",
    ),
    async (context, name?: string) => (await import("../commands/agentsCheck.js")).agentsCheck(context, name),
  );
  run(
    example(program.command("reload").description("have a gateway read its agents again, for new sessions"), "reload"),
    async (context) => (await import("../commands/reload.js")).reload(context),
  );
};
