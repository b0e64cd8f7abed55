import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { RuntimeKind } from "../../base/config/agentConfig.js";
import { parseAgentName } from "../../base/ids.js";
import { agentFile, INSTRUCTIONS_FILE } from "../agents/agentFiles.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { homeOf } from "../homeOf.js";

/** An agent as typed. */
export interface NewAgent {
  readonly name: string;
  readonly runtime: RuntimeKind;
  readonly title?: string;
}

/**
 * Makes an agent's folder with a commented `agent.yaml` and an `instructions.md`. Works on the files of the home.
 * @throws CliError where the name is none, or the folder is there.
 */
export async function agentsNew(context: CommandContext, { name, runtime, title }: NewAgent): Promise<void> {
  if (parseAgentName(name) === undefined) {
    throw new CliError(
      "INVALID_FIELD",
      `${JSON.stringify(name)} cannot name an agent.`,
      "Use up to 64 of the characters a-z 0-9 _ -, beginning with a letter or a digit.",
    );
  }
  const folder = join(homeOf(context).agentsDir, name);
  if (existsSync(folder)) {
    throw new CliError("ALREADY_EXISTS", `${folder} exists already.`, "Choose another name, or edit its agent.yaml.");
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const files: readonly (readonly [path: string, text: string])[] = [
    [join(folder, "agent.yaml"), agentFile(title ?? name, runtime)],
    [join(folder, "instructions.md"), INSTRUCTIONS_FILE],
  ];
  for (const [path, text] of files) writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  context.print({ name, folder, files: files.map(([path]) => path) }, () =>
    [
      `Made ${folder}:`,
      ...files.map(([path]) => `  ${path}`),
      "A gateway that runs takes it with: talaria reload",
    ].join("\n"),
  );
}
