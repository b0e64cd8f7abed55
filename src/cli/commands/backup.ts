import { existsSync } from "node:fs";

import { systemClock } from "../../base/clock.js";
import { backupHome } from "../../gateway/storage/backupHome.js";
import { startProblem } from "../../gateway/startProblem.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { homeOf } from "../homeOf.js";

/** Writes the home into one file, whether or not it is served. @throws CliError NOT_FOUND, ALREADY_EXISTS and others. */
export async function backup(context: CommandContext, file: string): Promise<void> {
  const { root, database } = homeOf(context);
  if (!existsSync(database)) {
    throw new CliError("NOT_FOUND", `There is no home that was served at ${root}.`, "Name it with --home.");
  }
  if (existsSync(file)) {
    throw new CliError("ALREADY_EXISTS", `${file} is there already.`, "Name a file that is not there yet.");
  }
  const made = await backupHome(root, file, systemClock.now()).catch((caught: unknown) => {
    const problem = startProblem(caught);
    if (problem === undefined) throw caught;
    throw new CliError(problem.reason, problem.message, problem.hint, { cause: caught });
  });
  context.print({ file, ...made }, () =>
    [`${root} was saved to ${file}.`, "It holds the home's keys and transcripts: keep it as you keep those."].join(
      "\n",
    ),
  );
}
