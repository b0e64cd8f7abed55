import { LIMITS } from "../base/limits.js";
import { ancestorsOf, groupMembers, systemProcessTable, type ProcessTable } from "../base/processTable.js";
import { signalProcess } from "../base/signalProcess.js";
import { groupToKill } from "./groupToKill.js";

/**
 * Kills what a worker whose owner is gone leaves in the group of its launch, such as children that a turn did not end. The worker
 * itself and a launcher above it end by themselves.
 */
export function endGroup(pid: number, table: ProcessTable = systemProcessTable): void {
  const self = table.read(pid);
  if (self === undefined) return;
  const target = groupToKill(self, ancestorsOf(pid, LIMITS.ancestorDepth, table));
  if (target.kind === "self") return;
  for (const member of groupMembers(target.pgid, table)) signalProcess(member, "SIGKILL", { table, ownPid: pid });
}
