import { DIRECTIVES } from "./directives.js";

const OPEN = "<!-- directives -->";
const CLOSE = "<!-- /directives -->";

/** The echo runtime's directives as a markdown table, columns padded as prettier pads them. */
export function directiveTable(): string {
  const rows = Object.values(DIRECTIVES).map(
    ({ usage, help }) => [`\`${usage.replaceAll("|", "\\|")}\``, help] as const,
  );
  const head = ["directive", "what it does"] as const;
  const width = (column: 0 | 1): number => Math.max(...[head, ...rows].map((row) => row[column].length));
  const line = (row: readonly [string, string]): string =>
    `| ${row[0].padEnd(width(0))} | ${row[1].padEnd(width(1))} |`;
  return [line(head), `| ${"-".repeat(width(0))} | ${"-".repeat(width(1))} |`, ...rows.map(line)].join("\n");
}

/** The text with its marked table replaced. @throws Error where the marks are missing. */
export function replaceDirectiveTable(text: string, table: string): string {
  const from = text.indexOf(OPEN);
  const to = text.indexOf(CLOSE);
  if (from < 0 || to < from) throw new Error("the marks of the directives table are missing");
  return `${text.slice(0, from)}${OPEN}\n\n${table}\n\n${text.slice(to)}`;
}
