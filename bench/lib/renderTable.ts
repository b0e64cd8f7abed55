import type { Goal, Row } from "./row.js";
import type { Spread } from "./stats.js";

const HEADER = ["goal", "metric", "burst", "value", "baseline", "ratio", "goal is", "verdict", "CPU us recv/send"];

/** The rows as a Markdown table that is readable as plain text too. */
export function renderTable(rows: readonly Row[]): string {
  const cells = [HEADER, ...rows.map(cellsOf)];
  const widths = HEADER.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(HEADER), rule, ...cells.slice(1).map(line)].join("\n");
}

function cellsOf(row: Row): string[] {
  const { cpu } = row;
  const ends = cpu === undefined ? "" : `${number(cpu.receiver)}/${number(cpu.sender)}`;
  const other = cpu?.baseline === undefined ? "" : ` (${number(cpu.baseline.receiver)}/${number(cpu.baseline.sender)})`;
  return [
    row.goalName,
    row.metric,
    row.burst === undefined ? "" : String(row.burst),
    `${figure(row.value)} ${row.unit}`,
    row.baseline === undefined ? "" : `${row.baselineName}: ${figure(row.baseline)}`,
    row.ratio === undefined ? "" : figure(row.ratio),
    row.goal === undefined ? "" : goalText(row.goal),
    row.verdict === "no goal" ? "" : row.verdict,
    ends + other,
  ];
}

function goalText({ of, atMost, atLeast, stretch }: Goal): string {
  const bound = atMost === undefined ? `>= ${number(atLeast ?? 0)}` : `<= ${number(atMost)}`;
  return `${of} ${bound}${stretch === undefined ? "" : `, stretch ${number(stretch)}`}`;
}

function figure({ median, min, max }: Spread): string {
  return min === max ? number(median) : `${number(median)} (${number(min)}-${number(max)})`;
}

/** Three significant digits, and thousands as `k`. */
function number(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (value >= 10_000) return `${String(Number((value / 1_000).toPrecision(3)))}k`;
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
