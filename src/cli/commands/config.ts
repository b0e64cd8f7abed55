import { existsSync } from "node:fs";

import type { ConfigError } from "../../base/configError.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { effectiveConfig } from "../config/effectiveConfig.js";
import { homeProblems } from "../config/homeProblems.js";
import { exitCodeOf } from "../exitCodes.js";
import { homeOf } from "../homeOf.js";
import { table } from "../render/table.js";

/**
 * Checks the files of a home as a gateway would read them, and names every problem with its file, line and key.
 * @returns the exit code of CONFIG_INVALID where there is one
 */
export async function configCheck(context: CommandContext): Promise<number | undefined> {
  const paths = existingHome(context);
  const { gateway, agents, usable } = homeProblems(paths);
  const usableAgents = usable.length;
  const problems = [...gateway, ...agents];
  context.print({ home: paths.root, valid: problems.length === 0, usableAgents, problems: problems.map(shown) }, () =>
    problems.length === 0
      ? `${paths.root} is in order: ${String(usableAgents)} ${usableAgents === 1 ? "agent" : "agents"}.`
      : problems.map(({ message }) => message).join("\n"),
  );
  return problems.length === 0 ? undefined : exitCodeOf("CONFIG_INVALID");
}

/** Shows the settings that are in force and where each comes from. @throws ConfigError. */
export async function configShow(context: CommandContext): Promise<void> {
  const paths = existingHome(context);
  const settings = effectiveConfig(paths.configFile);
  context.print(settings, (columns) =>
    table(
      ["KEY", "VALUE", "FROM"],
      settings.map(({ key, value, source }) => [
        key,
        typeof value === "string" ? value : JSON.stringify(value),
        source.replace(`${paths.root}/`, ""),
      ]),
      columns,
    ),
  );
}

function shown({ file, line, key, problem, hint }: ConfigError) {
  return { file, line, key, problem, hint };
}

function existingHome(context: CommandContext) {
  const paths = homeOf(context);
  if (existsSync(paths.root)) return paths;
  const make = context.options.home === undefined ? "talaria init" : `talaria init --home ${paths.root}`;
  throw new CliError("NOT_FOUND", `There is no home at ${paths.root}.`, `Make one with: ${make}`);
}
