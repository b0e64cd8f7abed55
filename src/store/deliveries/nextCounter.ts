import type { Tx } from "../sql.js";

/** Takes the next number of a counter: `lane` orders deliveries in their lanes, `receipt` orders changes for peers. */
export function nextCounter(tx: Tx, name: "lane" | "receipt"): number {
  const row = tx.get<{ value: number }>(
    "UPDATE delivery_counters SET value = value + 1 WHERE name = ? RETURNING value",
    name,
  );
  if (row === undefined) throw new Error(`the counter ${name} is missing`);
  return row.value;
}
