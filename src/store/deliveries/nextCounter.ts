import type { Tx } from "../sql.js";

const STATEMENTS = {
  lane: {
    raise: "UPDATE delivery_counters SET lane = lane + ? WHERE one = 1",
    read: "SELECT lane AS value FROM delivery_counters WHERE one = 1",
  },
  receipt: {
    raise: "UPDATE delivery_counters SET receipt = receipt + ? WHERE one = 1",
    read: "SELECT receipt AS value FROM delivery_counters WHERE one = 1",
  },
};

/**
 * Takes the next number of a counter, or several: `lane` orders deliveries in their lanes, `receipt` orders changes for peers.
 * Two statements, since SQLite gives one with RETURNING a journal of its own. @returns the last of them
 */
export function nextCounter(tx: Tx, name: keyof typeof STATEMENTS, count = 1): number {
  const { raise, read } = STATEMENTS[name];
  tx.run(raise, count);
  const row = tx.get<{ value: number }>(read);
  if (row === undefined) throw new Error(`the counter ${name} is missing`);
  return row.value;
}
