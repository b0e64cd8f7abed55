import { systemClock } from "../base/clock.js";
import { systemRandom } from "../base/random.js";
import { SecretRegistry } from "../base/secretRegistry.js";
import { EXIT_CODES } from "./exitCodes.js";
import type { Lifeline } from "./lifeline.js";
import { runWorker } from "./worker.js";
import { createWorkerLog } from "./workerLog.js";

/** Name of the environment variable with the owner socket's path. */
export const OWNER_SOCKET = "TALARIA_OWNER_SOCKET";

/** Runs the worker of this process and ends the process with its exit code. */
export async function startWorker(lifeline: Lifeline): Promise<never> {
  const secrets = new SecretRegistry();
  const log = createWorkerLog(secrets);
  const socketPath = process.env[OWNER_SOCKET] ?? "";
  if (socketPath === "") {
    log.error(`${OWNER_SOCKET} is not set: workers are started by the gateway only`);
    process.exit(EXIT_CODES.internal);
  }
  process.exit(await runWorker({ socketPath, lifeline, secrets, log, clock: systemClock, random: systemRandom }));
}
