import { build as bundle } from "esbuild";
import { cpSync, mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { build } from "../../scripts/build.mjs";

const root = join(import.meta.dirname, "..", "..");

/** Entries: the run itself and every process that it starts. */
const ENTRIES = [
  "run",
  "processes/gatewayProcess",
  "processes/pipeSource",
  "processes/peerServer",
  "processes/linkServer",
];

/**
 * Builds what is measured, the worker and the command as they are shipped included, into a directory of its own, so that a build elsewhere
 * changes nothing under way. @returns the directory; its caller removes it.
 */
export async function buildBench(): Promise<string> {
  const built = await build();
  if (built === "no tools") throw new Error("esbuild is not installed: run npm ci");
  // Inside node_modules, so that packages are found from there.
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, "bench-"));
  for (const program of ["worker", "cli"]) {
    cpSync(join(root, "dist", program), join(directory, program), { recursive: true });
  }
  await bundle({
    absWorkingDir: root,
    entryPoints: ENTRIES.map((entry) => `bench/${entry}.ts`),
    entryNames: "[name]",
    outdir: join(directory, "bench"),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    packages: "external",
    splitting: true,
    chunkNames: "chunk-[hash]",
    logLevel: "warning",
  });
  return directory;
}
