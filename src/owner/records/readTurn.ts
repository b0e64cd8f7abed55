import type { Turn } from "../../gen/talaria/gateway/v1/turn_service.js";
import { turnRows } from "../../store/queries/turns.js";
import type { Queryable } from "../../store/sql.js";
import { toTurn } from "./turnRecord.js";

/** Reads a turn by its input. */
export function readTurn(at: Queryable, inputId: string): Turn | undefined {
  const rows = turnRows(at, inputId);
  return rows === undefined ? undefined : toTurn(rows);
}
