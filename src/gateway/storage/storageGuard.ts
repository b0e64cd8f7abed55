import type { Clock } from "../../base/clock.js";
import { DISK_LIMIT, type MeasureDisk, shareInUse } from "../../base/diskUse.js";
import type { Logger } from "../../base/logger.js";
import { RpcError } from "../../rpc/rpcError.js";
import { hasAdmittedWork } from "./hasAdmittedWork.js";

/** Between two looks at the disk, milliseconds. */
export const DISK_LOOK_MS = 5_000;

/** What {@link watchStorage} needs. */
export interface StorageGuardOptions {
  /** The home's root. */
  readonly path: string;
  readonly measure: MeasureDisk;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps a home from filling its disk. */
export interface StorageGuard {
  /** What is wrong, to be shown to operators; undefined while work is taken. */
  problem(): RpcError | undefined;
  /**
   * Judges what a command of the store has done, before it is kept.
   * @throws RpcError STORAGE_FULL where the command has taken work and the disk is too full for it.
   */
  readonly vet: (command: string, result: unknown) => void;
  /** Stops looking. */
  stop(): void;
}

/**
 * Looks at the disk, now and then every {@link DISK_LOOK_MS}. A disk that cannot be measured refuses nothing: the store says itself
 * when it can keep no more.
 */
export async function watchStorage({ path, measure, clock, log }: StorageGuardOptions): Promise<StorageGuard> {
  const state: { share?: number; stopped: boolean } = { stopped: false };
  let cancel = (): void => undefined;

  const look = async (): Promise<void> => {
    const before = isTooFull(state.share);
    try {
      state.share = shareInUse(await measure(path));
    } catch (error) {
      if (state.share !== undefined) log.warn({ err: error }, "the disk of the home cannot be measured");
      delete state.share;
    }
    const after = isTooFull(state.share);
    if (after && !before) log.error({ inUse: state.share }, "the disk is nearly full: no work is taken");
    if (before && !after) log.info({ inUse: state.share }, "the disk has room again: work is taken");
    if (!state.stopped) {
      cancel = clock.after(DISK_LOOK_MS, () => {
        void look();
      });
    }
  };
  await look();

  const problem = (): RpcError | undefined => {
    const { share } = state;
    if (share === undefined || !isTooFull(share)) return undefined;
    const limit = percent(DISK_LIMIT);
    return new RpcError("STORAGE_FULL", {
      message: `The disk that holds the gateway's home is ${percent(share)} full; from ${limit} on no work is taken.`,
    });
  };
  return {
    problem,
    vet(command, result) {
      const refusal = hasAdmittedWork(command, result) ? problem() : undefined;
      if (refusal !== undefined) throw refusal;
    },
    stop() {
      state.stopped = true;
      cancel();
    },
  };
}

function isTooFull(share: number | undefined): boolean {
  return share !== undefined && share >= DISK_LIMIT;
}

function percent(share: number): string {
  return `${String(Math.floor(share * 100))} %`;
}
