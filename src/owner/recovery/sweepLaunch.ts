import type { LaunchRow } from "../../store/queries/turns.js";
import { endLaunch } from "../../store/turns/endLaunch.js";
import { noteUnproved } from "../../store/turns/noteUnproved.js";
import { groupMembers } from "../../base/processTable.js";
import { endEscaped } from "../launch/endEscaped.js";
import { killLaunched } from "../launch/killLaunched.js";
import { ProcessGroup } from "../launch/processGroup.js";
import { stayingProcesses } from "../launch/stayingProcesses.js";
import type { RecoveryParts } from "./recover.js";

/**
 * Ends what an earlier epoch's launch left behind. What cannot be proved to be of it is left alone: the record then stays open with what
 * was found, and the next start looks again.
 * @param sessionId session whose turn it ran, whose background processes stay; undefined for none
 */
export async function sweepLaunch(
  parts: RecoveryParts,
  launch: LaunchRow,
  sessionId: string | undefined,
): Promise<void> {
  const { store, clock, table, log } = parts;
  const { launch_id: launchId } = launch;
  if (launch.boot_id === table.bootId() && !(await killed(parts, launch, sessionId))) {
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

async function killed(parts: RecoveryParts, launch: LaunchRow, sessionId: string | undefined): Promise<boolean> {
  const { store, table, clock, marksOf } = parts;
  const leader = { pid: launch.pid, birthTicks: BigInt(launch.birth) };
  const group = new ProcessGroup(leader, table, clock);
  if (launch.worker_pid !== null && launch.worker_birth !== null) {
    group.remember({ pid: launch.worker_pid, birthTicks: BigInt(launch.worker_birth) });
  }
  const marked = { launchId: launch.launch_id, leader };
  if (!(await killLaunched(group, marked, table, (pid) => marksOf(pid)?.launch))) return false;
  const staying = sessionId === undefined ? [] : stayingProcesses(store, sessionId);
  await endEscaped({ launch: marked, table, marksOf, others: new Set(), staying }, group.lastLook, parts);
  return true;
}
