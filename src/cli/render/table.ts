import { visible } from "./visible.js";

/** What a person sees of a table without rows. */
const NONE = "(none)";

/**
 * Columns of text, aligned, two spaces apart; no white space at the ends of lines. A cell is one line, whatever is in it.
 * @param columns width of the terminal: a table that is wider is shown as one block a row, a line for each cell that is not empty
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[], columns = Infinity): string {
  const clean = rows.map((row) => row.map((cell) => visible(cell)));
  const all = [head, ...clean];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const width = widths.reduce((sum, one) => sum + one + 2, -2);
  if (width > columns) return rows.length === 0 ? NONE : blocks(head, clean);
  // A program that reads the table wants its head alone; a person wants to be told that this is all.
  if (rows.length === 0 && columns !== Infinity) return `${head.join("  ")}\n${NONE}`;
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function blocks(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const names = Math.max(...head.map((name) => name.length));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (cell === "" ? "" : `${(head[column] ?? "").toLowerCase().padEnd(names)}  ${cell}`))
        .filter((line) => line !== "")
        .join("\n"),
    )
    .join("\n\n");
}
