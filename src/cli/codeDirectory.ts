import { statSync } from "node:fs";
import { homePaths, homeRoot } from "../base/home.js";

/**
 * The folder that keeps compiled code for later starts: that of the home which the command line means, where it exists and nobody
 * but this user can write there, because what is read from it is run. Undefined where there is none; nothing is made.
 * @param args the command line without the program's own name
 */
export function codeDirectory(args: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  try {
    const { cacheDir } = homePaths(homeIn(args) ?? homeRoot(env));
    const found = statSync(cacheDir, { throwIfNoEntry: false });
    const own = found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
    return own ? cacheDir : undefined;
  } catch {
    // A home that cannot be looked at: that is for the command to tell.
    return undefined;
  }
}

/** The home that is named on the command line, found before the options of its command are known. */
function homeIn(args: readonly string[]): string | undefined {
  for (const [index, arg] of args.entries()) {
    if (arg === "--") return undefined;
    if (arg === "--home") return args[index + 1];
    if (arg.startsWith("--home=")) return arg.slice("--home=".length);
  }
  return undefined;
}
