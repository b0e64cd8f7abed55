// Builds dist/: the libraries, whose packages stay outside, and the command's and the worker's files, each whole in itself.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { BuiltBefore } from "./lib/builtBefore.mjs";
import { licencesOf } from "./lib/licences.mjs";
import { filesBelow, root } from "./lib/paths.mjs";

/** A script that an entry runs through V8 itself, to give it compiled code from a cache: a function, as Node wraps modules. */
const wrapper = {
  banner:
    '(function (exports, require, module, __filename, __dirname, __host) { "use strict"; ' +
    'const __moduleUrl = require("node:url").pathToFileURL(__filename).href;',
  footer: "})",
};

/** The script that has what the command imports by `import()`: the code of its commands. */
const COMMANDS = "commands";

/**
 * What is built. A `library` target shares chunks and imports its packages; the others become one self-contained CommonJS file,
 * which starts faster. A `script` target is wrapped and named after its content; the target that `loads` it knows its name as
 * `SCRIPT`. A script without an entry file of its own is made of what the target that loads it imports by `import()`.
 * @typedef {{ entry: string, outdir: string, kind: "command" | "library" | "script" | "file" | "module", loads?: string }} Target
 * @type {readonly Target[]}
 */
const targets = [
  { entry: "src/worker/startWorker.ts", outdir: "dist/worker", kind: "script" },
  { entry: "src/worker/lifelineThread.ts", outdir: "dist/worker", kind: "file" },
  { entry: "src/worker/packages/modelPackages.ts", outdir: "dist/worker", kind: "file" },
  { entry: "src/worker/packages/mcpPackages.ts", outdir: "dist/worker", kind: "file" },
  { entry: "src/worker/packages/acpPackages.ts", outdir: "dist/worker", kind: "file" },
  { entry: "src/worker/main.ts", outdir: "dist/worker", kind: "file", loads: "src/worker/startWorker.ts" },
  { entry: "src/worker/sdk/index.ts", outdir: "dist/sdk", kind: "library" },
  { entry: "src/client/index.ts", outdir: "dist/client", kind: "library" },
  { entry: "src/cli/top/showScreen.ts", outdir: "dist/cli", kind: "module" },
  { entry: "src/cli/packages/x509Packages.ts", outdir: "dist/cli", kind: "file" },
  { entry: COMMANDS, outdir: "dist/cli", kind: "script" },
  { entry: "src/cli/main.ts", outdir: "dist/cli", kind: "command", loads: COMMANDS },
];

/** Packages that no bundle holds: those with machine code, and those that an installation may leave out. */
const outside = [
  "koffi",
  "@photostructure/sqlite",
  ...Object.keys(JSON.parse(readFileSync(join(root, "package.json"), "utf8")).optionalDependencies ?? {}),
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

/**
 * Leaves what the command imports by `import()` to the script of commands.
 * @param {Set<string>} found gets the paths of those modules
 * @returns {import("esbuild").Plugin}
 */
const commandsOutside = (found) => ({
  name: "commands-outside",
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\// }, ({ path, kind, resolveDir }) => {
      if (kind !== "dynamic-import") return undefined;
      const module = relative(root, join(resolveDir, path)).replace(/\.js$/, ".ts");
      found.add(module);
      return { path: module, namespace: "commands-script" };
    });
    build.onLoad({ filter: /^/, namespace: "commands-script" }, ({ path }) => ({
      contents: `module.exports = require("./src/cli/commandsScript.ts").commandModule(${JSON.stringify(path)});`,
      resolveDir: root,
    }));
  },
});

/**
 * Makes the script of commands: its modules by their paths. The classes of errors are those of the command that loads it, and the
 * screen of `talaria top` is a file beside it, because its packages are ES modules that wait at their top level.
 * @param {ReadonlySet<string>} modules
 * @returns {import("esbuild").Plugin}
 */
const commandsInside = (modules) => ({
  name: "commands-inside",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${COMMANDS}$`) }, ({ path, kind }) =>
      kind === "entry-point" ? { path, namespace: "entry" } : undefined,
    );
    build.onLoad({ filter: /^/, namespace: "entry" }, () => {
      const lines = [...modules].sort().map((path) => `${JSON.stringify(path)}: () => require("./${path}"),`);
      return { contents: `export const modules = {\n${lines.join("\n")}\n};`, resolveDir: root };
    });
    build.onResolve({ filter: /\/(cliError|configError|rpcError|storageError)\.js$/ }, ({ path }) => ({
      path: basename(path, ".js"),
      namespace: "host",
    }));
    build.onLoad({ filter: /^/, namespace: "host" }, ({ path }) => ({
      contents: `module.exports = __host.modules.${path};`,
    }));
    // V8 reads through all of a script before it runs any of it, so what a start does not need is left out of it.
    build.onResolve({ filter: /^(@peculiar\/x509|reflect-metadata)$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "./x509Packages.cjs", external: true } : undefined,
    );
    // grpc-js asks for it where channelz or ORCA is served, which nothing here does.
    build.onResolve({ filter: /^@grpc\/proto-loader$/ }, ({ path }) => ({ path, external: true }));
    // Messages of zod in other languages than ours.
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
    build.onResolve({ filter: /\/showScreen\.js$/ }, () => ({ path: "showScreen", namespace: "module-beside" }));
    build.onLoad({ filter: /^/, namespace: "module-beside" }, ({ path }) => ({
      contents: `export const ${path} = async (...given) => (await __host.importModule("./${path}.mjs")).${path}(...given);`,
    }));
  },
});

/** A file of an earlier build is removed after this long, in milliseconds: a running process may still import its chunks. */
const staleAfterMs = 3_600_000;

/**
 * @param {Target} target
 * @param {string} script name of the script that it loads; empty for a target that loads none
 * @param {Set<string>} modules what the command imports by `import()`: found by its build, told to the script of commands
 * @returns {import("esbuild").BuildOptions}
 */
function options(target, script, modules) {
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
    ...(target.kind === "library" || target.kind === "module"
      ? {
          format: "esm",
          packages: "external",
          ...(target.kind === "module"
            ? { outExtension: { ".js": ".mjs" } }
            : { splitting: true, chunkNames: "chunk-[hash]" }),
        }
      : { format: "cjs", external: outside }),
    // The command keeps its name: its folder is marked as CommonJS.
    ...(target.kind === "command"
      ? { banner: { js: "#!/usr/bin/env node" }, plugins: [commandsOutside(modules)] }
      : {}),
    ...(target.kind === "file" || target.kind === "script" ? { outExtension: { ".js": ".cjs" } } : {}),
    ...(target.loads === undefined ? {} : { define: { SCRIPT: JSON.stringify(script) } }),
    ...(target.kind === "script"
      ? {
          plugins: [target.entry === COMMANDS ? commandsInside(modules) : packagesOutside],
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
 * Builds every target whose entry file exists, and gathers the licences of the packages that went into the files. A target that
 * the last build made of the same sources is left as it is.
 * @param {{ clean?: boolean, into?: string }} [settings] `clean` builds every target and removes every file of earlier builds at
 *   once; `into` is an absolute path of a folder that gets the `dist` (default: the checkout)
 * @returns {Promise<{ built: string[], missing: string[] } | "no tools">} entry paths; "no tools" where esbuild is not
 *   installed. Throws with esbuild's messages where a target does not build.
 */
export async function build(settings = {}) {
  const esbuild = await import("esbuild").catch(() => undefined);
  if (esbuild === undefined) return "no tools";
  const present = targets.filter(({ entry }) => entry === COMMANDS || existsSync(join(root, entry)));
  const modules = new Set();
  const into = settings.into ?? root;
  const before = new BuiltBefore(root, settings.clean !== true);
  /** What a target is made of and gives; `contents` is empty where the files of the last build stand where they belong. */
  const run = async (target, script, looks = false) => {
    const { absWorkingDir: _, ...chosen } = options(target, script, modules);
    const key = before.key([chosen, looks, target.entry === COMMANDS ? [...modules].sort() : []]);
    const known = before.find(key);
    if (known !== undefined) {
      const files = into === root ? [] : Object.keys(known.outputs);
      const contents = new Map(files.map((path) => [path, readFileSync(join(root, path))]));
      return { target, made: known, contents };
    }
    const found = new Set();
    const { outputFiles = [], metafile } = await esbuild.build(options(target, script, looks ? found : modules));
    const contents = new Map(looks ? [] : outputFiles.map(({ path, contents }) => [relative(root, path), contents]));
    return { target, made: before.add(key, Object.keys(metafile?.inputs ?? {}), contents, found), contents };
  };
  // The command first without its script's name, for what it imports.
  const command = present.filter(({ kind }) => kind === "command");
  for (const { made } of await Promise.all(command.map((target) => run(target, "", true))))
    for (const module of made.found) modules.add(module);
  const scripts = await Promise.all(present.filter(({ kind }) => kind === "script").map((target) => run(target, "")));
  const scriptNames = new Map(
    scripts.map(({ target, made }) => [
      target.entry,
      basename(Object.keys(made.outputs).find((path) => path.endsWith(".cjs")) ?? ""),
    ]),
  );
  const others = present.filter(({ kind }) => kind !== "script");
  const rest = await Promise.all(others.map((target) => run(target, scriptNames.get(target.loads ?? "") ?? "")));
  // The entry comes after the script that it names.
  const results = [...scripts, ...rest];

  const made = new Set();
  const put = (path, content, mode) => {
    place(path, content, mode);
    made.add(path);
  };
  for (const { target, made: files, contents } of results) {
    for (const path of Object.keys(files.outputs)) made.add(join(into, path));
    for (const [path, content] of contents) {
      const isEntry = !path.endsWith(".map") && !/[\\/]chunk-[^\\/]*$/.test(path);
      put(join(into, path), content, target.kind === "command" && isEntry ? 0o755 : 0o644);
    }
  }
  const dist = join(into, "dist");
  put(join(dist, "cli", "package.json"), Buffer.from('{ "type": "commonjs" }\n'), 0o644);
  const inputs = results.flatMap(({ made: files }) => Object.keys(files.inputs));
  put(join(dist, "LICENCES.txt"), Buffer.from(licencesOf(inputs)), 0o644);
  for (const path of filesBelow(dist).map((name) => join(dist, name))) {
    // The declarations are made by `npm run build:types`, for a package.
    if (made.has(path) || path.startsWith(join(dist, "types"))) continue;
    const ageMs = Date.now() - statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (settings.clean === true || ageMs > staleAfterMs) rmSync(path, { force: true });
  }
  if (into === root) before.save();
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
