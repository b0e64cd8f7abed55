import { createDeferred } from "../../base/deferred.js";
import type { LaunchId } from "../../base/ids.js";
import type { ProcessIdentity } from "../../base/processIdentity.js";
import type { WorkerLink } from "../attach/workerLink.js";
import type { ProcessGroup } from "./processGroup.js";
import type { ProcessExit } from "./spawner.js";

/** One started worker process, from its launch record to the proof that its group is gone. */
export interface Launch {
  readonly id: LaunchId;
  /** The launched process; the worker itself or a launcher above it. */
  readonly process: ProcessIdentity;
  readonly group: ProcessGroup;
  /** Epoch milliseconds. */
  readonly launchedAt: number;
  /** Resolves with the proved worker; rejects where it ended or was refused before. */
  readonly attached: Promise<WorkerLink>;
  /** Resolves when the launched process has ended. */
  readonly exited: Promise<ProcessExit>;
  /** How it ended; undefined while it lives. */
  readonly exit: ProcessExit | undefined;
  /** Gives the proved worker to whoever waits for {@link attached}. */
  attach(link: WorkerLink): void;
  /** Says that no worker will attach. Later calls, and a call after {@link attach}, do nothing. */
  fail(error: Error): void;
  /** Closes the launch pipe: tells the worker that nobody owns it any more. */
  closePipe(): void;
}

/** What {@link createLaunch} is made of. */
export interface LaunchParts {
  readonly id: LaunchId;
  readonly process: ProcessIdentity;
  readonly group: ProcessGroup;
  readonly launchedAt: number;
  readonly exited: Promise<ProcessExit>;
  readonly closePipe: () => void;
}

/** Makes the record of a started worker process. */
export function createLaunch(parts: LaunchParts): Launch {
  const attached = createDeferred<WorkerLink>();
  // Somebody who gave up on the launch must not turn its end into an unhandled rejection.
  attached.promise.catch(() => undefined);
  let exit: ProcessExit | undefined;
  void parts.exited.then((how) => {
    exit = how;
  });
  return {
    ...parts,
    attached: attached.promise,
    get exit() {
      return exit;
    },
    attach: (link) => {
      attached.resolve(link);
    },
    fail: (error) => {
      attached.reject(error);
    },
  };
}
