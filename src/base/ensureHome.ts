import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import type { HomePaths } from "./home.js";
import { checkSocketPath } from "./home.js";
import { HomeError } from "./homeError.js";

const FIRST_AGENT = `# One agent. Its folder's name is its name; instructions.md beside this file is its system prompt.
title: Main
description: Answers with the text it is given.
main: true
runtime: echo
`;

/**
 * Makes a home usable: creates what is missing with mode 0700, and an agent `main` with runtime `echo` where
 * there is no `agents/`, so that a fresh home serves at once. Running it again changes nothing.
 * @throws HomeError where the home or a directory that holds sockets or secrets is a symbolic link, is no
 *   directory or belongs to someone else, and where a socket path would be too long.
 */
export function ensureHome(paths: HomePaths): void {
  checkSocketPath(paths.gatewaySocket);
  checkSocketPath(paths.ownerSocket);
  if (!existsSync(paths.root)) mkdirSync(paths.root, { recursive: true, mode: 0o700 });
  checkOwner(paths.root);
  const { runDir, tlsDir, logsDir, outboxesDir, attachmentsDir, backupsDir, cacheDir } = paths;
  for (const directory of [runDir, tlsDir, logsDir, outboxesDir, attachmentsDir, backupsDir, cacheDir]) {
    ensurePrivate(directory);
  }
  if (existsSync(paths.agentsDir)) return;
  const folder = join(paths.agentsDir, "main");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "agent.yaml"), FIRST_AGENT, { mode: 0o600, flag: "wx" });
}

/** Creates the directory, or takes away what group and others may do with it. */
function ensurePrivate(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    mkdirSync(path, { mode: 0o700 });
    return;
  }
  if (found.isSymbolicLink()) throw new HomeError(path, "is a symbolic link", "replace it by a directory of your own");
  if (!found.isDirectory()) throw new HomeError(path, "is not a directory", "move it away");
  checkOwner(path);
  if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700);
}

function checkOwner(path: string): void {
  const owner = lstatSync(path).uid;
  const own = process.getuid?.();
  if (own !== undefined && owner !== own) {
    throw new HomeError(path, `belongs to user ${String(owner)}, not to ${String(own)}`, "use a directory of your own");
  }
}
