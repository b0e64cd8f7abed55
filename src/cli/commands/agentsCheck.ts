import { readAgents } from "../../base/config/readAgents.js";
import type { ConfigError } from "../../base/configError.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { exitCodeOf } from "../exitCodes.js";
import { homeOf } from "../homeOf.js";

/**
 * Reads the agents' folders as a gateway would, and names every mistake with its file, line, key and the nearest key.
 * @param name the agent to check; undefined for all.
 * @returns the exit code of AGENT_INVALID where there is a mistake
 * @throws CliError where there is no such agent.
 */
export async function agentsCheck(context: CommandContext, name: string | undefined): Promise<number | undefined> {
  const { agentsDir } = homeOf(context);
  const read = readAgents(agentsDir);
  const wanted = (one: { readonly name: string }): boolean => name === undefined || one.name === name;
  const agents = read.agents.filter(wanted);
  const invalid = read.invalid.filter(wanted);
  if (name !== undefined && agents.length + invalid.length === 0) {
    throw new CliError(
      "UNKNOWN_AGENT",
      `There is no agent ${name} in ${agentsDir}.`,
      `Make it with: talaria agents new ${name}`,
    );
  }
  const problems = [
    ...(name === undefined ? read.problems : []),
    ...invalid.flatMap((agent) => [...agent.problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0))),
  ];
  context.print({ valid: agents.map((agent) => agent.name), problems: problems.map(shown) }, () =>
    [
      ...problems.map(({ message }) => message),
      ...(agents.length > 0 ? [`In order: ${agents.map((agent) => agent.name).join(", ")}`] : []),
      ...(agents.length + problems.length === 0 ? ["There are no agents; make one with: talaria agents new NAME"] : []),
    ].join("\n"),
  );
  return problems.length === 0 ? undefined : exitCodeOf("AGENT_INVALID");
}

function shown({ file, line, key, problem, hint }: ConfigError) {
  return { file, line, key, problem, hint };
}
