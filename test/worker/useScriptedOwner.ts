import { afterAll, afterEach, beforeAll } from "vitest";
import { LaunchedWorker, type LaunchSettings } from "./launchedWorker.js";
import { startScriptedOwner, type Attachment, type ScriptedOwner } from "./scriptedOwner.js";

/** A scripted owner for a test file, and what is launched against it: all of it is gone after each test. */
export interface OwnerFixture {
  readonly owner: ScriptedOwner;
  /** Starts a worker. */
  launch(settings?: LaunchSettings): LaunchedWorker;
  /** Starts a worker and waits until it has said hello. */
  attach(settings?: LaunchSettings): Promise<{ worker: LaunchedWorker; attachment: Attachment }>;
}

/** Registers the hooks of {@link OwnerFixture}. */
export function useScriptedOwner(): OwnerFixture {
  let owner: ScriptedOwner | undefined;
  const launched: LaunchedWorker[] = [];
  beforeAll(async () => {
    owner = await startScriptedOwner();
  });
  afterEach(async () => {
    for (const worker of launched.splice(0)) {
      worker.dispose();
      await worker.exited();
    }
  });
  afterAll(async () => {
    await owner?.close();
  });
  const launch = (settings?: LaunchSettings): LaunchedWorker => {
    const worker = new LaunchedWorker(owner?.socketPath ?? "", settings);
    launched.push(worker);
    return worker;
  };
  return {
    get owner() {
      if (owner === undefined) throw new Error("the owner has not started");
      return owner;
    },
    launch,
    async attach(settings) {
      const worker = launch(settings);
      if (owner === undefined) throw new Error("the owner has not started");
      const attachment = await owner.attached();
      return { worker, attachment };
    },
  };
}
