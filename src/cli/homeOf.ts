import { homePaths, homeRoot, type HomePaths } from "../base/home.js";
import { CliError } from "./cliError.js";
import type { CommandContext } from "./commandContext.js";
import { endpointOf } from "./gatewayClient.js";

/** How {@link homeOf} takes it that a gateway elsewhere is meant. */
export interface HomeOfOptions {
  /** For what is done on this machine only: an address or a context that is in use, but not typed with the command, is left aside. */
  readonly here?: boolean;
}

/**
 * The home whose files a command works on, found as the gateway would be that commands go to. Its sockets are given without `run_dir`.
 * @throws CliError INVALID_FIELD where that is a gateway at an address, whose files are not here; NOT_FOUND for an unknown context.
 */
export function homeOf(
  { options, terminal: { env } }: Pick<CommandContext, "options" | "terminal">,
  { here = false }: HomeOfOptions = {},
): HomePaths {
  const endpoint = endpointOf(options, env);
  if (endpoint.kind === "home") return homePaths(endpoint.home ?? homeRoot(env));
  const typed = options.address !== undefined || options.context !== undefined;
  if (here && !typed) return homePaths(homeRoot(env));
  const { context, address } = endpoint;
  throw new CliError(
    "INVALID_FIELD",
    `This works on the files of a home, and ${context === undefined ? address : `the context ${context} (${address})`} is a gateway elsewhere.`,
    "Run it on the gateway's machine, or name a home of this one with --home.",
  );
}
