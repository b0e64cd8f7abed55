import type { Queryable } from "../sql.js";

/** Names this database towards other gateways: another value means that its memory of keys is not the one asked before. */
export function readStoreId(from: Queryable): string {
  const row = from.get<{ value: string }>("SELECT value FROM meta WHERE key = 'store_id'");
  if (row === undefined) throw new Error("the store has no id");
  return row.value;
}
