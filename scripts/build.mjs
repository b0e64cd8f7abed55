// Builds dist/: the command, whose packages stay outside, and the worker's files, each whole in itself.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { filesBelow, root } from "./lib/paths.mjs";

/** Bundled CommonJS packages look for these three names, which an ES module does not have. */
const commonJsNames = [
  'import { createRequire as __nodeCreateRequire } from "node:module";',
  'import { fileURLToPath as __nodeFileURLToPath } from "node:url";',
  "const require = __nodeCreateRequire(import.meta.url);",
  "const __filename = __nodeFileURLToPath(import.meta.url);",
  'const __dirname = __nodeFileURLToPath(new URL(".", import.meta.url));',
].join("\n");

/** What is built: `single` entries become one self-contained file, the others share chunks and import their packages. */
const targets = [
  { entry: "src/cli/main.ts", outdir: "dist/cli", single: false, executable: true },
  { entry: "src/worker/main.ts", outdir: "dist/worker", single: true, executable: false },
  { entry: "src/worker/lifelineThread.ts", outdir: "dist/worker", single: true, executable: false },
];

/** A file of an earlier build is removed after this long, in milliseconds: a running process may still import its chunks. */
const staleAfterMs = 3_600_000;

/**
 * @param {(typeof targets)[number]} target
 * @returns {import("esbuild").BuildOptions}
 */
function options(target) {
  return {
    absWorkingDir: root,
    entryPoints: [target.entry],
    outdir: target.outdir,
    bundle: true,
    write: false,
    platform: "node",
    target: "node20",
    format: "esm",
    sourcemap: "linked",
    logLevel: "silent",
    ...(target.single
      ? { external: ["koffi"], banner: { js: commonJsNames } }
      : {
          packages: "external",
          splitting: true,
          chunkNames: "chunk-[hash]",
          banner: target.executable ? { js: "#!/usr/bin/env node" } : {},
        }),
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
 * Builds every target whose entry file exists.
 * @param {{ clean?: boolean }} [settings] `clean` removes every file of earlier builds at once
 * @returns {Promise<{ built: string[], missing: string[] } | "no tools">} entry paths; "no tools" where esbuild is not
 *   installed. Throws with esbuild's messages where a target does not build.
 */
export async function build(settings = {}) {
  const esbuild = await import("esbuild").catch(() => undefined);
  if (esbuild === undefined) return "no tools";
  const present = targets.filter((target) => existsSync(join(root, target.entry)));
  const results = await Promise.all(
    present.map(async (target) => ({ target, result: await esbuild.build(options(target)) })),
  );

  const made = new Set();
  for (const { target, result } of results) {
    for (const file of result.outputFiles ?? []) {
      const isEntry = !file.path.endsWith(".map") && !/[\\/]chunk-[^\\/]*$/.test(file.path);
      place(file.path, file.contents, target.executable && isEntry ? 0o755 : 0o644);
      made.add(file.path);
    }
  }
  const dist = join(root, "dist");
  for (const path of filesBelow(dist).map((name) => join(dist, name))) {
    if (made.has(path)) continue;
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
