import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { ensureHome } from "../../base/ensureHome.js";
import { HomeError } from "../../base/homeError.js";
import { CliError } from "../cliError.js";
import type { CommandContext } from "../commandContext.js";
import { FIRST_AGENT, FIRST_CONFIG, FIRST_INSTRUCTIONS } from "../config/firstFiles.js";
import { homeOf } from "../homeOf.js";

/** Makes a home with a configuration that explains itself and one agent that needs no key. @throws CliError where there is one. */
export async function init(context: CommandContext): Promise<void> {
  const { options } = context;
  const paths = homeOf(context, { here: true });
  const agent = join(paths.agentsDir, "main");
  for (const found of [paths.configFile, paths.database]) {
    if (!existsSync(found)) continue;
    throw new CliError("ALREADY_EXISTS", `${paths.root} is a home already: it has ${found}.`, check(paths.root));
  }
  const files: [path: string, text: string][] = [[paths.configFile, FIRST_CONFIG]];
  if (!existsSync(paths.agentsDir) || readdirSync(paths.agentsDir).length === 0) {
    files.push([join(agent, "agent.yaml"), FIRST_AGENT], [join(agent, "instructions.md"), FIRST_INSTRUCTIONS]);
    mkdirSync(paths.root, { recursive: true, mode: 0o700 });
    mkdirSync(agent, { recursive: true, mode: 0o700 });
  }
  try {
    ensureHome(paths);
  } catch (caught) {
    if (!(caught instanceof HomeError)) throw caught;
    const reason = caught.message.includes("socket path of") ? "SOCKET_PATH_TOO_LONG" : "FAILED_PRECONDITION";
    throw new CliError(reason, caught.message.replace(` (${caught.hint})`, ""), caught.hint, { cause: caught });
  }
  for (const [path, text] of files) writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  const serve = options.home === undefined ? "talaria serve" : `talaria serve --home ${paths.root}`;
  context.print({ home: paths.root, files: files.map(([path]) => path) }, () =>
    [`Made ${paths.root}:`, ...files.map(([path]) => `  ${path}`), `Start it with: ${serve}`].join("\n"),
  );
}

function check(root: string): string {
  return `Look at it with: talaria config show --home ${root}; or choose another with --home.`;
}
