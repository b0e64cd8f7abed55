// Compares the contract with the committed image of what was released, or with --update writes that image.
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { localBin, root } from "./lib/paths.mjs";
import { run } from "./lib/run.mjs";

/** The image of the contract that must stay readable and callable. */
export const baseline = join(root, "proto", "breaking-baseline.binpb");

/**
 * Compares the contract with the baseline.
 * @returns {Promise<{ code: number, output: string, skipped: boolean }>} `skipped` where no baseline is committed
 */
export async function breaking() {
  const name = relative(root, baseline);
  if (!existsSync(baseline)) {
    return { code: 0, output: `SKIPPED: ${name} does not exist; npm run breaking:update writes it\n`, skipped: true };
  }
  return { ...(await run(buf(), ["breaking", "proto", "--against", name])), skipped: false };
}

/** Writes the baseline from the contract as it is. */
async function update() {
  return run(buf(), ["build", "proto", "--exclude-source-info", "-o", relative(root, baseline)]);
}

function buf() {
  const path = localBin("buf");
  if (path === undefined) throw new Error("buf is not installed: run npm ci");
  return path;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const result = process.argv.includes("--update") ? await update() : await breaking();
  process.stdout.write(result.output);
  process.exitCode = result.code;
}
