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
   */
  keepCache(): void;
}

type ModuleFunction = (
  exports: object,
  require: NodeJS.Require,
  module: { readonly exports: object },
  filename: string,
  directory: string,
) => void;

/**
 * Loads a CommonJS script that is wrapped into a function of Node's five module parameters, with its compiled code from
 * `cacheDirectory`; a cache that does not fit is as good as none. The file must be ASCII.
 * @throws Error where the file cannot be read, and whatever the script throws.
 */
export function loadScript<Exports>(path: string, cacheDirectory: string | undefined): LoadedScript<Exports> {
  // One byte a character: read as UTF-8 it would be decoded first, and its text would take twice the memory if it were not ASCII.
  const source = readFileSync(path, "latin1");
  const cachePath = cacheDirectory === undefined ? undefined : codeCachePath(cacheDirectory, path);
  const cachedData = cachePath === undefined ? undefined : readCodeCache(cachePath);
  const script = new Script(source, {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const run = script.runInThisContext() as ModuleFunction;
  const module = { exports: {} };
  run(module.exports, createRequire(path), module, path, dirname(path));
  const cached = cachedData !== undefined && script.cachedDataRejected === false;
  let kept = cached;
  return {
    exports: module.exports as Exports,
    cached,
    keepCache() {
      if (kept || cachePath === undefined) return;
      kept = true;
      writeCodeCache(cachePath, script.createCachedData());
    },
  };
}
