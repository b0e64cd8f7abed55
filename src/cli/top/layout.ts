import { countCodePoints } from "../../base/codePoints.js";
import { visible } from "../render/visible.js";

/**
 * Fits a table into a width, each cell on one line: columns are as wide as their widest cell, the last ones go where there is no room, and the last that
 * stays is cut with a mark. One column always stays.
 * @returns lines of exactly `width` columns or less, the head first
 */
export function layout(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly string[] {
  const all = [head, ...rows.map((row) => row.map((cell) => visible(cell)))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => countCodePoints(row[column] ?? ""))));
  let shown = 1;
  let used = widths[0] ?? 0;
  for (; shown < widths.length; shown += 1) {
    const room = width - used - 2;
    const least = Math.min(widths[shown] ?? 0, MIN_COLUMN);
    if (room < least) break;
    used += 2 + (widths[shown] ?? 0);
    if (used >= width) {
      shown += 1;
      break;
    }
  }
  return all.map((row) => {
    const cells = row.slice(0, shown).map((cell, column) => padEnd(cell, widths[column] ?? 0));
    return visible(cells.join("  ").trimEnd(), width);
  });
}

/** A column that is cut keeps at least so many characters. */
const MIN_COLUMN = 6;

function padEnd(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - countCodePoints(text)));
}
