import { cpus, loadavg, release, totalmem } from "node:os";
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

/** What a run ran on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMib: number;
  readonly system: string;
  readonly node: string;
  /** Magic number of the file system that the homes are on. */
  readonly fileSystem: string;
}

/** Describes this machine without naming it. */
export function describeMachine(): Machine {
  const all = cpus();
  return {
    cpu: all[0]?.model ?? "unknown",
    cores: all.length,
    memoryMib: Math.round(totalmem() / 1_048_576),
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    fileSystem: `0x${statfsSync(tmpdir()).type.toString(16)}`,
  };
}

/** Runnable processes of the last minute, this run's own included. */
export function loadOfLastMinute(): number {
  return Math.round((loadavg()[0] ?? 0) * 100) / 100;
}
