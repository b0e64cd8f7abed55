import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { WorkerProgram } from "../../owner/pool/workerSpec.js";

/** Places of the worker's entry: beside the built command, and in `dist` where the source runs. */
const ENTRIES = ["../worker/main.js", "../../../dist/worker/main.js"];

/**
 * The worker that comes with this gateway, run by the gateway's own Node.
 * @throws Error where it was not built.
 */
export function workerProgram(environment: WorkerProgram["environment"], ownerSocket: string): WorkerProgram {
  const entries = ENTRIES.map((entry) => fileURLToPath(new URL(entry, import.meta.url)));
  const entry = entries.find((path) => existsSync(path));
  if (entry === undefined)
    throw new Error(`the worker is not built: run npm run build (looked for ${entries.join(", ")})`);
  return { command: [process.execPath, entry], environment, ownerSocket };
}
