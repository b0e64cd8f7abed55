import { defineCommand } from "../command.js";

/** Keeps what was found in the group of a launch that could not be proved to be of it; the record stays open. */
export const noteUnproved = defineCommand<{ readonly launchId: string; readonly found: string }, null>({
  name: "launch.unproved",
  run(tx, { launchId, found }) {
    tx.run("UPDATE launches SET unproved = ? WHERE launch_id = ? AND gone_at IS NULL", found, launchId);
    return null;
  },
});
