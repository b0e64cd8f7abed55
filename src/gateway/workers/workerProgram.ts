import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { HomePaths } from "../../base/home.js";
import type { WorkerProgram } from "../../owner/pool/workerSpec.js";

/** Places of the worker's entry: beside the built command, and in `dist` where the source runs. */
const ENTRIES = ["../worker/main.cjs", "../../../dist/worker/main.cjs"];

/**
 * The worker that comes with this gateway, run by the gateway's own Node. It keeps its compiled code in `cacheDir`.
 * @throws Error where it was not built.
 */
export function workerProgram(
  environment: WorkerProgram["environment"],
  { ownerSocket, cacheDir }: Pick<HomePaths, "ownerSocket" | "cacheDir">,
): WorkerProgram {
  const entries = ENTRIES.map((entry) => fileURLToPath(new URL(entry, import.meta.url)));
  const entry = entries.find((path) => existsSync(path));
  if (entry === undefined)
    throw new Error(`the worker is not built: run npm run build (looked for ${entries.join(", ")})`);
  return { command: [process.execPath, entry, cacheDir], environment, ownerSocket };
}
