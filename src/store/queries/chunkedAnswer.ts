import type { Queryable } from "../sql.js";

/** An execution's answer where it came in chunks; empty where it did not. */
export function chunkedAnswer(at: Queryable, executionId: string): string {
  return at
    .all<{ text: string }>("SELECT text FROM answer_chunks WHERE execution_id = ? ORDER BY sequence", executionId)
    .map((chunk) => chunk.text)
    .join("");
}
