import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";

/** Rows of one call and kind, so that it does not hold the writer. */
export const FORGET_RECORDS = 256;
/** Executions of one call; each may have many store operations. */
const TRIM_EXECUTIONS = 16;

/** Which records are old enough to go. Times are epoch milliseconds. */
export interface ForgetRecords {
  /** Records that ended up to then go. */
  readonly endedBefore: number;
  /** Days of usage before this UTC day go. */
  readonly usageBefore: number;
  /** The epoch that runs. */
  readonly epoch: number;
  /** The boot that runs: no process of an earlier one is left. */
  readonly bootId: string;
  /** Launches of this boot that a living process may come from: they are known by their record. */
  readonly livingLaunches: readonly string[];
}

/** What one call did. */
export interface RecordsForgotten {
  /** Rows that went. */
  readonly removed: number;
  /** Whether more is due. */
  readonly more: boolean;
}

/**
 * Removes records of the gateway's own that were kept long enough: launches whose processes are gone, starts, prompts that have ended,
 * background processes that have, days of usage, and of ended executions what their store operations and their worker's proof were known
 * by. Transcripts, turns and their receipts are no such records.
 */
export const forgetRecords = defineCommand({
  name: "records.forget",
  run(tx: Tx, request: ForgetRecords): RecordsForgotten {
    const { endedBefore, usageBefore, epoch, bootId, livingLaunches } = request;
    const removed = [
      tx.run(
        `DELETE FROM launches WHERE launch_id IN
           (SELECT launch_id FROM launches WHERE gone_at IS NOT NULL AND gone_at <= ?
              AND (boot_id <> ? OR launch_id NOT IN (SELECT value FROM json_each(?))) ORDER BY gone_at LIMIT ?)`,
        endedBefore,
        bootId,
        JSON.stringify(livingLaunches),
        FORGET_RECORDS,
      ).changes,
      tx.run(
        `DELETE FROM epochs WHERE epoch IN
           (SELECT epoch FROM epochs WHERE epoch < ? AND started_at_ms <= ? ORDER BY epoch LIMIT ?)`,
        epoch,
        endedBefore,
        FORGET_RECORDS,
      ).changes,
      tx.run(
        `DELETE FROM prompts WHERE prompt_id IN
           (SELECT prompt_id FROM prompts WHERE ended_at IS NOT NULL AND ended_at <= ? ORDER BY ended_at LIMIT ?)`,
        endedBefore,
        FORGET_RECORDS,
      ).changes,
      tx.run(
        `DELETE FROM background_processes WHERE (session_id, process_id) IN
           (SELECT session_id, process_id FROM background_processes WHERE state = 'exited' AND updated_at <= ?
            ORDER BY updated_at LIMIT ?)`,
        endedBefore,
        FORGET_RECORDS,
      ).changes,
      tx.run(
        `DELETE FROM usage_days WHERE (day, agent) IN
           (SELECT day, agent FROM usage_days WHERE day < ? ORDER BY day, agent LIMIT ?)`,
        usageBefore,
        FORGET_RECORDS,
      ).changes,
    ];
    const trimmed = trimExecutions(tx, endedBefore);
    return {
      removed: removed.reduce((sum, rows) => sum + rows, trimmed.rows),
      more: trimmed.executions === TRIM_EXECUTIONS || removed.includes(FORGET_RECORDS),
    };
  },
});

function trimExecutions(tx: Tx, endedBefore: number): { readonly executions: number; readonly rows: number } {
  const executions = tx.all<{ id: string }>(
    `SELECT execution_id AS id FROM executions
     WHERE ended_at IS NOT NULL AND trimmed = 0 AND ended_at <= ? AND state IN ('finished', 'lost') ORDER BY ended_at LIMIT ?`,
    endedBefore,
    TRIM_EXECUTIONS,
  );
  let rows = 0;
  for (const { id } of executions) {
    rows += tx.run("DELETE FROM store_operations WHERE execution_id = ?", id).changes;
    tx.run("UPDATE executions SET trimmed = 1, evidence = NULL, adoption_digest = NULL WHERE execution_id = ?", id);
  }
  return { executions: executions.length, rows };
}
