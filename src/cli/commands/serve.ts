import { createServeRooms } from "../../gateway/createServeRooms.js";
import { startGateway } from "../../gateway/gateway.js";
import { startProblem } from "../../gateway/startProblem.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { EXIT_INTERRUPTED } from "../exitCodes.js";
import { homeOf } from "../homeOf.js";

/**
 * Starts the gateway of the home and serves until SIGTERM or SIGINT, which drain it within its budget; a second signal ends it at
 * once. Standard input is not read: it may be closed.
 * @returns the exit code where the end was forced
 * @throws CliError that says why the gateway did not start and what to do
 */
export async function serve(context: CommandContext): Promise<number | undefined> {
  const { terminal } = context;
  const { root } = homeOf(context, { here: true });
  const state = { forced: false };
  let onSignal = (): void => {
    // Before it serves there is nothing to drain; what was begun is recovered at the next start.
    process.exit(EXIT_INTERRUPTED);
  };
  const signal = (): void => {
    onSignal();
  };
  process.on("SIGTERM", signal).on("SIGINT", signal);
  try {
    const gateway = await startGateway({ env: terminal.env, home: root }, createServeRooms).catch((caught: unknown) => {
      const problem = startProblem(caught);
      if (problem === undefined) throw caught;
      throw new CliError(problem.reason, problem.message, problem.hint, { cause: caught });
    });
    onSignal = () => {
      onSignal = () => {
        state.forced = true;
        void gateway.close();
      };
      void gateway.drain();
    };
    // What is said here once is in the log as well: a gateway outlives whoever reads it.
    terminal.onOutError(() => undefined);
    const { home, pin, epoch, addresses } = gateway;
    context.print({ serving: home, pin, epoch, addresses }, () => {
      const lines = Object.entries(addresses).map(([name, address]) => `  ${name.padEnd(13)}${address}`);
      return [`Serving ${home}`, ...lines, `  ${"pin".padEnd(13)}${pin}`, "Ready."].join("\n");
    });
    context.keepServeCode();
    await gateway.ended;
    return state.forced ? EXIT_INTERRUPTED : undefined;
  } finally {
    process.removeListener("SIGTERM", signal).removeListener("SIGINT", signal);
  }
}
