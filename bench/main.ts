import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { buildBench } from "./lib/buildBench.js";

// Usage: npm run bench -- [--quick] [--rounds N] [--only SUITE,SUITE]
const directory = await buildBench();
try {
  const results = join(import.meta.dirname, "results");
  const args = [join(directory, "bench", "run.js"), "--results", results, ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  process.exitCode = code ?? 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
