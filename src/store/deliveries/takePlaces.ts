import type { Tx } from "../sql.js";

/** Places that were never given before. */
export interface Places {
  /** Order of admission, and of a delivery in its lane. */
  readonly lane: number;
  /** Order of changes for peers. */
  readonly receipt: number;
}

/**
 * Takes the next places in the order of lanes and in that of receipts. Two statements, since SQLite gives one with RETURNING a
 * journal of its own. @returns the last of them
 */
export function takePlaces(tx: Tx, count: number): Places {
  tx.run("UPDATE delivery_counters SET lane = lane + ?1, receipt = receipt + ?1 WHERE one = 1", count);
  const places = tx.get<{ lane: number; receipt: number }>("SELECT lane, receipt FROM delivery_counters WHERE one = 1");
  if (places === undefined) throw new Error("the counters are missing");
  return places;
}
