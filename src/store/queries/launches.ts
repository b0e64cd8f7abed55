import type { Queryable } from "../sql.js";

/** Whether a worker was launched under this id in this home, now or before. */
export function isLaunch(at: Queryable, launchId: string): boolean {
  return at.get("SELECT 1 AS found FROM launches WHERE launch_id = ?", launchId) !== undefined;
}
