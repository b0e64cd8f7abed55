import { defineCommand } from "../command.js";

/** A process that the owner has started and not yet trusted. */
export interface LaunchRecord {
  readonly launchId: string;
  readonly epoch: number;
  readonly pid: number;
  /** Birth ticks, as decimal text: they outgrow a double. */
  readonly birth: string;
  readonly bootId: string;
  readonly processGroup: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Notes a launch before its token is given out, so that a later start can sweep what this one leaves behind. */
export const recordLaunch = defineCommand<LaunchRecord, null>({
  name: "launch.record",
  run(tx, launch) {
    tx.run(
      "INSERT INTO launches (launch_id, epoch, pid, birth, boot_id, process_group, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
      launch.launchId,
      launch.epoch,
      launch.pid,
      launch.birth,
      launch.bootId,
      launch.processGroup,
      launch.now,
    );
    return null;
  },
});
