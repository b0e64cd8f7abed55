import type { ProcessFacts, ProcessIdentity } from "../../base/processIdentity.js";
import type { ProcessTable } from "../../base/processTable.js";
import { groupMembers } from "../../base/processTable.js";
import type { ReadLaunchMark } from "./launchMark.js";

/** A launch whose leader and whose known members are gone. */
export interface MarkedLaunch {
  readonly launchId: string;
  /** The launched process, which led the group. */
  readonly leader: ProcessIdentity;
}

/**
 * The survivors of a launch that its mark proves: they bear the launch's own id, are in the group and the session that it led, and are no
 * older than it. A group has members of one session only, and nobody enters a session from outside, so that one proved member proves the
 * group, also where its number has been used again.
 */
export function proveByMark(
  { launchId, leader }: MarkedLaunch,
  table: ProcessTable,
  markOf: ReadLaunchMark,
): readonly ProcessFacts[] {
  return groupMembers(leader.pid, table).filter(({ pid, birthTicks, session }) => {
    if (session !== leader.pid || birthTicks < leader.birthTicks || markOf(pid) !== launchId) return false;
    // The number could have changed hands between the two looks.
    return table.read(pid)?.birthTicks === birthTicks;
  });
}
