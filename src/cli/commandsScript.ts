import { join } from "node:path";
import { pathToFileURL } from "node:url";

import * as configError from "../base/configError.js";
import { loadScript, type LoadedScript } from "../base/loadScript.js";
import * as storageError from "../base/storageError.js";
import * as rpcError from "../rpc/rpcError.js";
import * as cliError from "./cliError.js";
import { codeDirectory } from "./codeDirectory.js";
import type { CodeUse, KeepCode } from "./commandContext.js";

/** Name of the built script with the code of all commands, which the build puts in; it names the content. */
declare const SCRIPT: string;

interface Commands {
  /** Gives each module that a command line may load, by its path in the checkout. */
  readonly modules: Readonly<Record<string, (() => unknown) | undefined>>;
}

/** What the script has from here: its errors are told apart by their classes. */
const host = {
  importModule: (file: string): Promise<unknown> => import(pathToFileURL(join(__dirname, file)).href),
  modules: { cliError, configError, rpcError, storageError },
};

const args = process.argv.slice(2);
// A guess, because the command is known only when it runs: a wrong one costs time and nothing else.
const use: CodeUse = args.includes("serve") ? "serve" : "command";
let script: LoadedScript<Commands> | undefined;

/**
 * Gives a module of the commands' script, which is loaded at the first one: help and a wrong command line do without. In the built
 * command every `import()` comes here; see scripts/build.mjs.
 */
export function commandModule(path: string): unknown {
  script ??= loadScript<Commands>(join(__dirname, SCRIPT), codeDirectory(args, process.env), { use, host });
  const load = script.exports.modules[path];
  if (load === undefined) throw new Error(`the build has left out ${path}`);
  return load();
}

/** Keeps the compiled code of the script for later starts. */
export const keepCode: KeepCode = (used) => {
  // A fresh home has its folder only once it is served.
  if (used === use) script?.keepCache(codeDirectory(args, process.env));
};
