import type { Queryable } from "../sql.js";

/** Inputs with an unknown outcome that is still to be told in one way or another, in the order of their ends. */
export function untoldOutcomes(at: Queryable): readonly string[] {
  return at
    .all<{ input_id: string }>(
      "SELECT input_id FROM untold JOIN inputs USING (input_id) GROUP BY input_id ORDER BY MIN(ended_at), input_id",
    )
    .map((row) => row.input_id);
}
