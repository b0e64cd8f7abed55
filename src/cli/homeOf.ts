import { homePaths, homeRoot, type HomePaths } from "../base/home.js";
import type { CommandContext } from "./commandContext.js";

/** The home whose files a command works on: `--home`, else as `TALARIA_HOME` says. Its sockets are given without `run_dir`. */
export function homeOf({ options, terminal }: Pick<CommandContext, "options" | "terminal">): HomePaths {
  return homePaths(options.home ?? homeRoot(terminal.env));
}
