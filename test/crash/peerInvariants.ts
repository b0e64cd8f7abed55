import { expect } from "vitest";

import type { PeerPair, Side } from "./peerPair.js";

/** How a message has ended. */
export type MessageEnd = "replied" | "unknown" | "failed";

/** Waits for the end of a message and of the turn that tells its sender. @returns how it ended */
export async function endOf(pair: PeerPair, id: string): Promise<MessageEnd> {
  await pair.until("north", "it has ended and its sender was told", TOLD, id, id);
  const [delivery] = pair.rows<{ state: MessageEnd }>(
    "north",
    "SELECT state FROM deliveries WHERE delivery_id = ?",
    id,
  );
  if (delivery === undefined) throw new Error("the delivery is gone");
  return delivery.state;
}

const TOLD = `SELECT 1 FROM inputs JOIN deliveries ON deliveries.delivery_id = ? WHERE inputs.in_reply_to = ? AND inputs.state = 'ended'
  AND deliveries.ended_at IS NOT NULL`;

/** What holds for a message that has ended, whoever was killed on its way. */
export function checkMessage(pair: PeerPair, id: string): void {
  const [sent] = pair.rows<{ state: MessageEnd; attempt_epoch: number; body: string | null; told_count: number }>(
    "north",
    "SELECT state, attempt_epoch, body, told_count FROM deliveries WHERE delivery_id = ?",
    id,
  );
  expect(sent).toMatchObject({ attempt_epoch: 1, told_count: 1 });
  // A dead letter keeps its body for a redrive.
  expect(sent?.body === null).toBe(sent?.state !== "failed");
  const told = pair.rows("north", "SELECT state FROM inputs WHERE in_reply_to = ?", id);
  expect(told).toEqual([{ state: "ended" }]);
  const came = pair.rows<object>("south", "SELECT attempt_epoch, input_id FROM deliveries WHERE key = ?", id);
  expect(came).toMatchObject([{ attempt_epoch: 1 }]);
  // One input, and one turn of it: an execution that was cancelled had started nothing, and a worker that failed is replaced once.
  const turns = pair.rows(
    "south",
    `SELECT executions.state FROM executions JOIN deliveries USING (input_id)
     WHERE key = ? AND outcome <> 'cancelled' AND executions.execution_id IS NOT retried_execution_id`,
    id,
  );
  expect(turns).toHaveLength(1);
  const asked = pair.rows(
    "south",
    `SELECT 1 FROM messages JOIN executions USING (execution_id) JOIN deliveries USING (input_id) WHERE key = ? AND role = 'user'`,
    id,
  );
  expect(asked).toHaveLength(1);
}

/** What holds for both stores whenever nothing moves: accepted = ended + queued, and no turn is held. */
export function checkTotals(pair: PeerPair, accepted: number): void {
  for (const side of ["north", "south"] as const) {
    const [totals] = pair.rows<Record<string, number>>(side, "SELECT * FROM delivery_totals");
    const states = STATES.map((state) => totals?.[state] ?? 0);
    expect([side, states.reduce((sum, count) => sum + count, 0)]).toEqual([side, totals?.["accepted"]]);
    expect([side, totals?.["accepted"]]).toEqual([side, accepted]);
    expect(pair.rows(side, "SELECT 1 FROM deliveries WHERE state IN ('queued', 'claimed')")).toEqual([]);
  }
}

const STATES = ["queued", "claimed", "replied", "silent", "failed", "expired", "cancelled", "unknown"];

/** Kills a gateway and serves its home again. */
export async function killAndServe(pair: PeerPair, side: Side): Promise<void> {
  await pair.kill(side);
  await pair.serve(side);
}
