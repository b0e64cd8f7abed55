import { WORKER_BUILD } from "./build.js";
import { preloadRuntime, runtimeLoader } from "./runtimes/registry.js";
import { runWorkerProcess, type WorkerProcessOptions } from "./workerProcess.js";

/** Runs the worker that comes with the gateway, whose runtimes are those of the registry. */
export function startWorker(options: Omit<WorkerProcessOptions, "program">): Promise<never> {
  return runWorkerProcess({
    ...options,
    program: { build: WORKER_BUILD, runtimes: runtimeLoader, preload: preloadRuntime },
  });
}
