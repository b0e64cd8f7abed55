import { defineCommand } from "../command.js";
import type { Tx } from "../sql.js";
import { cancelQueuedInput } from "../turns/cancelQueuedInput.js";

/** A sending session that has read the end of its delivery by itself. */
export interface ConsumeRequest {
  readonly deliveryId: string;
  readonly sessionId: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * Takes back the input that would tell a session what it has just read, while that input still waits: the end is told
 * once, whichever way comes first. Another session's look changes nothing.
 * @returns whether an input was taken back.
 */
export const consumeEnd = defineCommand({
  name: "delivery.consume",
  run: (tx: Tx, { deliveryId, sessionId, now }: ConsumeRequest): boolean => {
    const row = tx.get<{ inputId: string | null }>(
      `SELECT told_input_id AS inputId FROM deliveries
       WHERE delivery_id = ? AND sender_session_id = ? AND ended_at IS NOT NULL`,
      deliveryId,
      sessionId,
    );
    const inputId = row?.inputId ?? undefined;
    return inputId !== undefined && cancelQueuedInput(tx, { inputId, now });
  },
});
