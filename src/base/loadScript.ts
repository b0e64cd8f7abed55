import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { constants, Script } from "node:vm";
import { codeCachePath, readCodeCache, writeCodeCache } from "./codeCache.js";

/** A script that has run. */
export interface LoadedScript<Exports> {
  readonly exports: Exports;
  /** Whether V8 took its code from the cache. */
  readonly cached: boolean;
  /**
   * Keeps what V8 has compiled so far for later starts; does nothing where the code came from the cache or none is kept.
   * Blocks for some ten milliseconds the first time. Never throws.
   * @param into the folder, where none was there when the script was loaded
   */
  keepCache(into?: string): void;
}

type ModuleFunction = (
  exports: object,
  require: NodeJS.Require,
  module: { readonly exports: object },
  filename: string,
  directory: string,
  host: unknown,
) => void;

/** What {@link loadScript} may be told besides the script. */
export interface LoadOptions {
  /** What the script is loaded for, where it does different things: each use has its own cache, of what it compiles. */
  readonly use?: string;
  /** Given to the script as its sixth parameter: a way to `import()`, which code that comes from V8's cache has lost, or modules to share. */
  readonly host?: unknown;
}

/**
 * Loads a CommonJS script that is wrapped into a function of Node's five module parameters and a host, with its compiled code
 * from `cacheDirectory`; a cache that does not fit is as good as none. The file must be ASCII.
 * @throws Error where the file cannot be read, and whatever the script throws.
 */
export function loadScript<Exports>(
  path: string,
  cacheDirectory: string | undefined,
  { use = "", host }: LoadOptions = {},
): LoadedScript<Exports> {
  // One byte a character: read as UTF-8 it would be decoded first, and its text would take twice the memory if it were not ASCII.
  const source = readFileSync(path, "latin1");
  const cachedData = cacheDirectory === undefined ? undefined : readCodeCache(codeCachePath(cacheDirectory, path, use));
  const script = new Script(source, {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const run = script.runInThisContext() as ModuleFunction;
  const module = { exports: {} };
  run(module.exports, createRequire(path), module, path, dirname(path), host);
  const cached = cachedData !== undefined && script.cachedDataRejected === false;
  let kept = cached;
  return {
    exports: module.exports as Exports,
    cached,
    keepCache(into = cacheDirectory) {
      if (kept || into === undefined) return;
      kept = true;
      writeCodeCache(codeCachePath(into, path, use), script.createCachedData());
    },
  };
}
