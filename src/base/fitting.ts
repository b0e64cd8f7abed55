/** What a row takes besides its long texts, bytes: names, ids, times. */
const BESIDES = 1_024;

/**
 * The first rows that fit together in one message.
 * @param textBytes bytes of a row's texts that may be long
 * @param most bytes that all of them may take
 */
export function fitting<Row>(rows: readonly Row[], textBytes: (row: Row) => number, most: number): readonly Row[] {
  let left = most;
  const end = rows.findIndex((row) => (left -= textBytes(row) + BESIDES) < 0);
  return end < 0 ? rows : rows.slice(0, end);
}
