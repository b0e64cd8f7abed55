import { defineCommand } from "../command.js";

/** Notes that a launch's process group is proved gone. */
export const endLaunch = defineCommand<{ readonly launchId: string; readonly now: number }, null>({
  name: "launch.end",
  run(tx, { launchId, now }) {
    tx.run("UPDATE launches SET gone_at = ? WHERE launch_id = ? AND gone_at IS NULL", now, launchId);
    return null;
  },
});
