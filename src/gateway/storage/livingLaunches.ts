import type { ProcessTable } from "../../base/processTable.js";
import type { ReadLaunchMark } from "../../owner/launch/launchMark.js";

/** The launches that living processes come from, by the mark in their environment. */
export function livingLaunches(table: ProcessTable, markOf: ReadLaunchMark): readonly string[] {
  return [...new Set(table.list().flatMap(({ pid }) => markOf(pid) ?? []))];
}
