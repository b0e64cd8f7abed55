import { existsSync } from "node:fs";

import { systemClock } from "../../base/clock.js";
import { restoreHome } from "../../gateway/storage/restoreHome.js";
import { startProblem } from "../../gateway/startProblem.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { homeOf } from "../homeOf.js";

/** Makes a home out of a backup. @throws CliError NOT_FOUND, FAILED_PRECONDITION and others; then there is no home. */
export async function restore(context: CommandContext, file: string): Promise<void> {
  const { root } = homeOf(context, { here: true });
  if (!existsSync(file))
    throw new CliError("NOT_FOUND", `There is no ${file}.`, "Name a file that talaria backup has made.");
  const restored = await restoreHome(file, root, systemClock.now()).catch((caught: unknown) => {
    const problem = startProblem(caught);
    if (problem !== undefined) throw new CliError(problem.reason, problem.message, problem.hint, { cause: caught });
    const said = caught instanceof Error ? caught.message : String(caught);
    throw new CliError("FAILED_PRECONDITION", `${file} cannot be restored: ${said}`, "Check the file.", {
      cause: caught,
    });
  });
  const { manifest, epoch, heldDestinations, pausedSessions } = restored;
  context.terminal.err(
    "This home has the identity of the one that was saved. Never serve both: peers cannot tell them apart, and messages would be answered twice.",
  );
  context.print({ home: root, madeAt: manifest.madeAt, epoch, heldDestinations, pausedSessions }, () =>
    [
      `${root} is as it was at ${manifest.madeAt}.`,
      ...heldDestinations.map(
        (name) => `Held: messages to ${name}. Release them with: talaria destinations release ${name}`,
      ),
      ...pausedSessions.map(
        (id) => `Paused: session ${id}, with inputs that may have been answered since. Look at it in: talaria top`,
      ),
    ].join("\n"),
  );
}
