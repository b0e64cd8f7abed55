import type { ConversationMessage } from "../../../gen/talaria/types/v1/conversation.js";

/** Rows that a summary is to stand for. */
export interface CompactionRange {
  readonly firstRow: bigint;
  readonly lastRow: bigint;
  /** The rows of the range that are not compacted yet, in order. */
  readonly rows: readonly ConversationMessage[];
}

/**
 * Chooses what to summarise: everything before the input, or, where the turn itself is what takes the room, everything up to now.
 * The input stays in the request in either case. Undefined where there is nothing to gain. Pure.
 * @param inputRow row of the input; undefined where a summary stands for it already
 */
export function planCompaction(
  rows: readonly ConversationMessage[],
  inputRow: bigint | undefined,
): CompactionRange | undefined {
  const living = rows.filter(({ compacted }) => !compacted);
  const earlier = living.filter(({ row }) => inputRow === undefined || row < inputRow);
  const later = living.filter(({ row }) => inputRow !== undefined && row > inputRow);
  const chosen = earlier.length > 0 && sizeOf(earlier) >= sizeOf(later) ? earlier : later.length > 0 ? living : earlier;
  const first = chosen[0];
  const last = chosen.at(-1);
  return first === undefined || last === undefined
    ? undefined
    : { firstRow: first.row, lastRow: last.row, rows: chosen };
}

function sizeOf(rows: readonly ConversationMessage[]): number {
  return rows.reduce(
    (sum, { text, toolCalls }) =>
      sum + text.length + toolCalls.reduce((calls, { argumentsJson }) => calls + argumentsJson.length, 0),
    0,
  );
}
