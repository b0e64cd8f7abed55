import type { Tx } from "../sql.js";
import { agentAuthorId } from "./authorIds.js";
import type { DeliveryDraft } from "./deliveryDraft.js";
import { waitLeft } from "./waitLeft.js";

/**
 * Whether two agents answer one another too fast: messages of the sender to the recipient, sent in turns that the recipient's
 * messages started. A tripped guard refuses for its cool-down.
 * @returns how long to wait, milliseconds; undefined where the message may pass.
 */
export function checkLoopGuard(tx: Tx, draft: DeliveryDraft): number | undefined {
  const other = agentAuthorId(draft.recipientGateway, draft.recipientAgent);
  if (draft.startedBy !== other) return undefined;
  const { bounds, now, sender } = draft;
  const tripped = tx.get<{ until: number }>(
    "SELECT until FROM loop_guards WHERE author_id = ? AND other_id = ?",
    sender.id,
    other,
  );
  const left = waitLeft(tripped?.until, now, bounds.loopCooldownMs);
  if (left > 0) return left;
  const row = tx.get<{ count: number }>(
    `SELECT COUNT(*) AS count FROM deliveries
     WHERE author_id = ? AND started_by = ? AND started_by <> '' AND created_at > ? AND created_at < ?`,
    sender.id,
    other,
    now - bounds.loopWindowMs,
    // Later ones were written by a clock that has been set back since.
    now + bounds.loopWindowMs,
  );
  if ((row?.count ?? 0) < bounds.loopMessages) return undefined;
  tx.run(
    `INSERT INTO loop_guards (author_id, other_id, until) VALUES (?, ?, ?)
     ON CONFLICT (author_id, other_id) DO UPDATE SET until = excluded.until`,
    sender.id,
    other,
    now + bounds.loopCooldownMs,
  );
  return bounds.loopCooldownMs;
}
