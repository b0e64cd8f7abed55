import { systemClock } from "../base/clock.js";
import { systemRandom } from "../base/random.js";
import { SecretRegistry } from "../base/secretRegistry.js";
import { endGroup } from "./endGroup.js";
import { EXIT_CODES } from "./exitCodes.js";
import { createLifeline } from "./lifeline.js";
import { runWorker } from "./worker.js";
import { DEFAULT_WORKER_BUDGETS } from "./workerBudgets.js";
import { createWorkerLog } from "./workerLog.js";
import type { WorkerProgram } from "./workerProgram.js";

/** Name of the environment variable with the owner socket's path. */
export const OWNER_SOCKET = "TALARIA_OWNER_SOCKET";

/** What a worker's entry gives to {@link runWorkerProcess}. */
export interface WorkerProcessOptions {
  /** What runs in it. */
  readonly program: WorkerProgram;
  /** Path of the built lifeline thread. */
  readonly lifelineScript: string;
  /** Keeps the compiled code for later starts; called once the worker has practised, else after a finished turn. */
  readonly keepCode: () => void;
}

/** Runs the worker of this process and ends the process with its exit code. */
export async function runWorkerProcess({ program, lifelineScript, keepCode }: WorkerProcessOptions): Promise<never> {
  const lifeline = createLifeline(lifelineScript, DEFAULT_WORKER_BUDGETS.orphanGraceMs);
  const secrets = new SecretRegistry();
  const log = createWorkerLog(secrets);
  const socketPath = process.env[OWNER_SOCKET] ?? "";
  if (socketPath === "") {
    log.error(`${OWNER_SOCKET} is not set: workers are started by the gateway only`);
    process.exit(EXIT_CODES.internal);
  }
  const parts = { socketPath, lifeline, secrets, log, clock: systemClock, random: systemRandom, program };
  const code = await runWorker({ ...parts, practised: keepCode });
  if (code === EXIT_CODES.finished) keepCode();
  if (code === EXIT_CODES.ownerGone) endGroup(process.pid);
  process.exit(code);
}
