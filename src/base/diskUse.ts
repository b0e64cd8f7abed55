import { statfs } from "node:fs/promises";

/** From this part of a home's disk in use no work is taken: what runs needs the rest for its end. */
export const DISK_LIMIT = 0.95;

/** How full a disk is. */
export interface DiskUse {
  /** Bytes in use. */
  readonly usedBytes: number;
  /** Bytes that this user may still take. */
  readonly freeBytes: number;
}

/** Measures the disk that holds a path. */
export type MeasureDisk = (path: string) => Promise<DiskUse>;

/** Asks the file system. @throws (as rejection) the system's error where it does not say. */
export const measureDisk: MeasureDisk = async (path) => {
  const { bsize, blocks, bfree, bavail } = await statfs(path);
  return { usedBytes: (blocks - bfree) * bsize, freeBytes: bavail * bsize };
};

/** The part in use of what this user may take, 0 to 1; what the system keeps for itself counts for nothing. */
export function shareInUse({ usedBytes, freeBytes }: DiskUse): number {
  const total = usedBytes + freeBytes;
  return total > 0 ? usedBytes / total : 0;
}
