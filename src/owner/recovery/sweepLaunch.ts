import type { LaunchRow } from "../../store/queries/turns.js";
import { endLaunch } from "../../store/turns/endLaunch.js";
import { noteUnproved } from "../../store/turns/noteUnproved.js";
import { groupMembers } from "../../base/processTable.js";
import { killLaunched } from "../launch/killLaunched.js";
import { ProcessGroup } from "../launch/processGroup.js";
import type { RecoveryParts } from "./recover.js";

/**
 * Ends what an earlier epoch's launch left behind. What cannot be proved to be of it is left alone: the record then stays open with what
 * was found, and the next start looks again.
 */
export async function sweepLaunch(parts: RecoveryParts, launch: LaunchRow): Promise<void> {
  const { store, clock, table, log } = parts;
  const { launch_id: launchId } = launch;
  if (launch.boot_id === table.bootId() && !(await killed(parts, launch))) {
    const found = groupMembers(launch.process_group, table).map(({ pid, birthTicks, session, uid }) => ({
      pid,
      birth: birthTicks.toString(),
      session,
      uid,
    }));
    log.error(
      { launch: launchId, group: launch.process_group, found },
      "a group cannot be proved to be ours; left alone",
    );
    await store.writer.execute(noteUnproved, { launchId, found: JSON.stringify(found) });
    return;
  }
  await store.writer.execute(endLaunch, { launchId, now: clock.now() });
}

function killed({ table, clock, markOf }: RecoveryParts, launch: LaunchRow): Promise<boolean> {
  const leader = { pid: launch.pid, birthTicks: BigInt(launch.birth) };
  const group = new ProcessGroup(leader, table, clock);
  if (launch.worker_pid !== null && launch.worker_birth !== null) {
    group.remember({ pid: launch.worker_pid, birthTicks: BigInt(launch.worker_birth) });
  }
  return killLaunched(group, { launchId: launch.launch_id, leader }, table, markOf);
}
