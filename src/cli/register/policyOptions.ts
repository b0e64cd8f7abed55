import { type Command, Option } from "commander";

/** What a session is created without, as typed. */
export interface PolicyOptions {
  readonly safeMode?: boolean;
  readonly ignoreUserConfig?: boolean;
  readonly ignoreRules?: boolean;
}

const definitions: readonly (readonly [flag: string, description: string])[] = [
  ["--safe-mode", "create the session without hooks, MCP servers and the agent's preferences"],
  ["--ignore-user-config", "create the session without the agent's preferences"],
  ["--ignore-rules", "create the session without the agent's instructions and memory"],
];

/**
 * Adds the options that are frozen into a session when it is created.
 * @param conflicts names of options that name a session which is there already
 */
export function addPolicyOptions(command: Command, conflicts: string[] = []): Command {
  for (const [flag, description] of definitions) command.addOption(new Option(flag, description).conflicts(conflicts));
  return command;
}
