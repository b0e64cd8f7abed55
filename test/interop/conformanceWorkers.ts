import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

import { paths } from "./paths.js";

/** Where workers of these tests are built: inside the package, whose own name they import. */
const directory = join(paths.root, "dist", "conformance");

/** Builds a worker out of one TypeScript file, so that a start of it takes no compiler. @returns its path. */
export async function buildWorker(source: string, name: string): Promise<string> {
  mkdirSync(directory, { recursive: true });
  const outfile = join(directory, `${name}.mjs`);
  await build({
    entryPoints: [join(paths.root, source)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    external: ["talaria/worker"],
    logLevel: "silent",
  });
  return outfile;
}
