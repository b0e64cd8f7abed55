// Builds dist/: the command and the library for workers, whose packages stay outside, and the worker's files, each whole in itself.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { licencesOf } from "./lib/licences.mjs";
import { filesBelow, root } from "./lib/paths.mjs";

/** A script that the worker's entry runs through V8 itself, to give it compiled code from a cache: a function, as Node wraps modules. */
const wrapper = {
  banner:
    '(function (exports, require, module, __filename, __dirname) { "use strict"; ' +
    'const __moduleUrl = require("node:url").pathToFileURL(__filename).href;',
  footer: "})",
};

/**
 * What is built. A `command` or `library` target shares chunks and imports its packages; the others become one self-contained
 * CommonJS file, which starts faster. A `script` target is wrapped and named after its content, and the later targets know its name
 * as `WORKER_SCRIPT`.
 * @typedef {{ entry: string, outdir: string, kind: "command" | "library" | "script" | "file" }} Target
 * @type {readonly Target[]}
 */
const targets = [
  { entry: "src/worker/startWorker.ts", outdir: "dist/worker", kind: "script" },
  { entry: "src/worker/lifelineThread.ts", outdir: "dist/worker", kind: "file" },
  { entry: "src/worker/packages/modelPackages.ts", outdir: "dist/worker", kind: "file" },
  { entry: "src/worker/packages/mcpPackages.ts", outdir: "dist/worker", kind: "file" },
  { entry: "src/worker/packages/acpPackages.ts", outdir: "dist/worker", kind: "file" },
  { entry: "src/worker/main.ts", outdir: "dist/worker", kind: "file" },
  { entry: "src/worker/sdk/index.ts", outdir: "dist/sdk", kind: "library" },
  { entry: "src/client/index.ts", outdir: "dist/client", kind: "library" },
  { entry: "src/cli/main.ts", outdir: "dist/cli", kind: "command" },
];

/**
 * Leaves what the worker's runtimes import from `src/worker/packages` outside its script, as files beside it: no start of a
 * worker reads them but one whose runtime needs them.
 * @type {import("esbuild").Plugin}
 */
const packagesOutside = {
  name: "packages-outside",
  setup(build) {
    build.onResolve({ filter: /\/packages\/\w+\.js$/ }, ({ path, kind }) =>
      kind === "dynamic-import" ? { path: `./${basename(path, ".js")}.cjs`, external: true } : undefined,
    );
  },
};

/** A file of an earlier build is removed after this long, in milliseconds: a running process may still import its chunks. */
const staleAfterMs = 3_600_000;

/**
 * @param {Target} target
 * @param {string} script name of the worker's script; empty before it is built
 * @returns {import("esbuild").BuildOptions}
 */
function options(target, script) {
  return {
    absWorkingDir: root,
    entryPoints: [target.entry],
    outdir: target.outdir,
    bundle: true,
    write: false,
    metafile: true,
    platform: "node",
    target: "node20",
    sourcemap: "linked",
    logLevel: "silent",
    ...(target.kind === "command" || target.kind === "library"
      ? {
          format: "esm",
          packages: "external",
          splitting: true,
          chunkNames: "chunk-[hash]",
          ...(target.kind === "command" ? { banner: { js: "#!/usr/bin/env node" } } : {}),
        }
      : { format: "cjs", outExtension: { ".js": ".cjs" }, external: ["koffi"] }),
    ...(target.kind === "file" ? { define: { WORKER_SCRIPT: JSON.stringify(script) } } : {}),
    ...(target.kind === "script"
      ? {
          plugins: [packagesOutside],
          entryNames: "[name]-[hash]",
          charset: "ascii",
          legalComments: "none",
          banner: { js: wrapper.banner },
          footer: { js: wrapper.footer },
          define: { "import.meta.url": "__moduleUrl" },
          // Code that comes from V8's cache has lost its way to `import()`; `require` is handed to the script and works.
          supported: { "dynamic-import": false },
        }
      : {}),
  };
}

/**
 * Writes a file by renaming, and only where its content differs, so that concurrent readers see whole files.
 * @param {string} path
 * @param {Uint8Array} content
 * @param {number} mode
 */
function place(path, content, mode) {
  if (existsSync(path) && (statSync(path).mode & 0o777) === mode && readFileSync(path).equals(content)) return;
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.partial`;
  writeFileSync(temporary, content, { mode });
  renameSync(temporary, path);
}

/**
 * Builds every target whose entry file exists, and gathers the licences of the packages that went into the files.
 * @param {{ clean?: boolean, into?: string }} [settings] `clean` removes every file of earlier builds at once; `into` is an
 *   absolute path of a folder that gets the `dist` (default: the checkout)
 * @returns {Promise<{ built: string[], missing: string[] } | "no tools">} entry paths; "no tools" where esbuild is not
 *   installed. Throws with esbuild's messages where a target does not build.
 */
export async function build(settings = {}) {
  const esbuild = await import("esbuild").catch(() => undefined);
  if (esbuild === undefined) return "no tools";
  const present = targets.filter((target) => existsSync(join(root, target.entry)));
  const run = async (target, script) => ({ target, result: await esbuild.build(options(target, script)) });
  const scripts = await Promise.all(present.filter(({ kind }) => kind === "script").map((target) => run(target, "")));
  const [script] = scripts
    .flatMap(({ result }) => result.outputFiles ?? [])
    .filter(({ path }) => path.endsWith(".cjs"));
  const others = present.filter(({ kind }) => kind !== "script");
  const rest = await Promise.all(others.map((target) => run(target, basename(script?.path ?? ""))));
  // The entry comes after the script that it names.
  const results = [...scripts, ...rest];

  const into = settings.into ?? root;
  const made = new Set();
  const put = (path, content, mode) => {
    place(path, content, mode);
    made.add(path);
  };
  for (const { target, result } of results) {
    for (const file of result.outputFiles ?? []) {
      const isEntry = !file.path.endsWith(".map") && !/[\\/]chunk-[^\\/]*$/.test(file.path);
      put(join(into, relative(root, file.path)), file.contents, target.kind === "command" && isEntry ? 0o755 : 0o644);
    }
  }
  const dist = join(into, "dist");
  const inputs = results.flatMap(({ result }) => Object.keys(result.metafile?.inputs ?? {}));
  put(join(dist, "LICENCES.txt"), Buffer.from(licencesOf(inputs)), 0o644);
  for (const path of filesBelow(dist).map((name) => join(dist, name))) {
    // The declarations are made by `npm run build:types`, for a package.
    if (made.has(path) || path.startsWith(join(dist, "types"))) continue;
    const ageMs = Date.now() - statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (settings.clean === true || ageMs > staleAfterMs) rmSync(path, { force: true });
  }
  return {
    built: present.map((target) => target.entry),
    missing: targets.filter((target) => !present.includes(target)).map((target) => target.entry),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const began = performance.now();
  try {
    const outcome = await build({ clean: process.argv.includes("--clean") });
    if (outcome === "no tools") throw new Error("esbuild is not installed: run npm ci");
    for (const entry of outcome.missing) console.log(`build: no ${entry}, skipped`);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`build: ${outcome.built.length} entries into ${relative(root, join(root, "dist"))} in ${seconds} s`);
  } catch (error) {
    console.error(`build: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
