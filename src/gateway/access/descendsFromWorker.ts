import type { ProcessFacts } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { ancestorsOf } from "../../base/processTable.js";
import type { LiveWorker } from "../ports.js";

/** Deeper process trees than this do not occur. */
const MAX_DEPTH = 1_000;

/** How a process relates to the workers. */
export type WorkerKinship = "none" | "descends" | "unknown";

/**
 * Whether a process is a worker, descends from one, or is or was in one's process group by itself or through an ancestor. The
 * group catches a child whose parent has ended.
 * @returns `unknown` where the process is gone, which a caller must treat as `descends`.
 */
export function descendsFromWorker(pid: number, workers: readonly LiveWorker[], table: ProcessTable): WorkerKinship {
  const own = table.read(pid);
  if (own === undefined) return "unknown";
  const line: readonly ProcessFacts[] = [own, ...ancestorsOf(pid, MAX_DEPTH, table)];
  const related = line.some((facts) =>
    workers.some(
      (worker) =>
        facts.processGroup === worker.processGroup ||
        (facts.pid === worker.pid && facts.birthTicks === worker.birthTicks),
    ),
  );
  return related ? "descends" : "none";
}
