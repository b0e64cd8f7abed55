import { Help } from "commander";

/** Columns that a description needs beside its term; with fewer it stands below it. */
const ROOM = 20;
/** Columns that a description below its term is moved in. */
const INDENT = 6;

/** One line of a list in a help: a term and what it means, side by side where the screen is wide enough. For commander's `formatItem`. */
export function formatHelpItem(term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  if (description === "" || width - termWidth - 4 >= ROOM) {
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  }
  const lines = helper.boxWrap(description, width - INDENT).split("\n");
  return [`  ${term}`, ...lines.map((line) => `${" ".repeat(INDENT)}${line}`)].join("\n");
}
