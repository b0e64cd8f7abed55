import type { Tx } from "../sql.js";

const STATEMENTS = {
  lane: {
    raise: "UPDATE delivery_counters SET lane = lane + 1 WHERE one = 1",
    read: "SELECT lane AS value FROM delivery_counters WHERE one = 1",
  },
  receipt: {
    raise: "UPDATE delivery_counters SET receipt = receipt + 1 WHERE one = 1",
    read: "SELECT receipt AS value FROM delivery_counters WHERE one = 1",
  },
};

/**
 * Takes the next number of a counter: `lane` orders deliveries in their lanes, `receipt` orders changes for peers.
 * Two statements, since SQLite gives one with RETURNING a journal of its own.
 */
export function nextCounter(tx: Tx, name: keyof typeof STATEMENTS): number {
  const { raise, read } = STATEMENTS[name];
  tx.run(raise);
  const row = tx.get<{ value: number }>(read);
  if (row === undefined) throw new Error(`the counter ${name} is missing`);
  return row.value;
}
