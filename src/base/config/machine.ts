import { hostname, totalmem } from "node:os";

/** What defaults depend on. */
export interface Machine {
  /** The host's name as the system gives it. */
  readonly hostname: string;
  /** Physical memory in bytes. */
  readonly totalMemoryBytes: number;
}

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  return { hostname: hostname(), totalMemoryBytes: totalmem() };
}

/** A gateway name made from a host name: its first label in lower case, other characters as `-`; `gateway` if nothing is left. */
export function gatewayNameFrom(host: string): string {
  const label = host.split(".")[0] ?? "";
  const slug = label
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .replace(/-+$/, "")
    .slice(0, 64);
  return slug === "" ? "gateway" : slug;
}

/** Turns that run at once unless configured: one per 256 MiB of memory, at least 1 and at most 64. */
export function defaultWorkerCap(totalMemoryBytes: number): number {
  return Math.min(64, Math.max(1, Math.floor(totalMemoryBytes / (256 * 1024 * 1024))));
}
