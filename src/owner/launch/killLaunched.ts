import type { ProcessTable } from "../../base/processTable.js";
import type { ReadLaunchMark } from "./launchMark.js";
import type { ProcessGroup } from "./processGroup.js";
import { type MarkedLaunch, proveByMark } from "./proveByMark.js";

/**
 * Kills what is left of a launch and waits until it is proved gone: what its leader or a noted member proves, then what only its mark does.
 * False where what is left is not provably of it; that is left alone.
 */
export async function killLaunched(
  group: ProcessGroup,
  launch: MarkedLaunch,
  table: ProcessTable,
  markOf: ReadLaunchMark,
): Promise<boolean> {
  if (await group.kill()) return true;
  const survivors = proveByMark(launch, table, markOf);
  for (const one of survivors) group.remember(one);
  return survivors.length > 0 && group.kill();
}
