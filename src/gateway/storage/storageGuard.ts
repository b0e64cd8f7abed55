import type { Clock } from "../../base/clock.js";
import { DISK_LIMIT, type DiskUse, type MeasureDisk, shareInUse } from "../../base/diskUse.js";
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
  /**
   * What is wrong, to be shown to operators; undefined while work is taken.
   * @param moreBytes what is about to be written besides; default nothing
   */
  problem(moreBytes?: number): RpcError | undefined;
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
  const state: { use?: DiskUse; stopped: boolean } = { stopped: false };
  let cancel = (): void => undefined;

  const look = async (): Promise<void> => {
    const before = isTooFull(shareOf(state.use));
    try {
      state.use = await measure(path);
    } catch (error) {
      if (state.use !== undefined) log.warn({ err: error }, "the disk of the home cannot be measured");
      delete state.use;
    }
    const inUse = shareOf(state.use);
    const after = isTooFull(inUse);
    if (after && !before) log.error({ inUse }, "the disk is nearly full: no work is taken");
    if (before && !after) log.info({ inUse }, "the disk has room again: work is taken");
    if (!state.stopped) {
      cancel = clock.after(DISK_LOOK_MS, () => {
        void look();
      });
    }
  };
  await look();

  const problem = (moreBytes = 0): RpcError | undefined => {
    const share = shareOf(state.use, moreBytes);
    if (share === undefined || !isTooFull(share)) return undefined;
    const limit = percent(DISK_LIMIT);
    const is = moreBytes === 0 ? "is" : `would, with ${String(moreBytes)} bytes more, be`;
    return new RpcError("STORAGE_FULL", {
      message: `The disk that holds the gateway's home ${is} ${percent(share)} full; from ${limit} on no work is taken.`,
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

function shareOf(use: DiskUse | undefined, moreBytes = 0): number | undefined {
  if (use === undefined) return undefined;
  return shareInUse({ usedBytes: use.usedBytes + moreBytes, freeBytes: Math.max(0, use.freeBytes - moreBytes) });
}

function isTooFull(share: number | undefined): boolean {
  return share !== undefined && share >= DISK_LIMIT;
}

function percent(share: number): string {
  return `${String(Math.floor(share * 100))} %`;
}
