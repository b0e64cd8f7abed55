import type { Tx } from "../sql.js";

/** Places that were never given before. */
export interface Places {
  /** Order of admission, and of a delivery in its lane. */
  readonly lane: number;
  /** Order of changes for peers; the last one given where none was asked for. */
  readonly receipt: number;
}

/**
 * Takes the next place in the order of lanes, and in that of receipts where `receipt` says so. Two statements, since SQLite
 * gives one with RETURNING a journal of its own.
 */
export function takePlaces(tx: Tx, { receipt }: { readonly receipt: boolean }): Places {
  tx.run("UPDATE delivery_counters SET lane = lane + 1, receipt = receipt + ? WHERE one = 1", receipt ? 1 : 0);
  const places = tx.get<{ lane: number; receipt: number }>("SELECT lane, receipt FROM delivery_counters WHERE one = 1");
  if (places === undefined) throw new Error("the counters are missing");
  return places;
}
