import { z } from "zod";

import { defineTool } from "./defineTool.js";
import type { Tool } from "./tool.js";
import { openForReading } from "./workspaceFiles.js";
import { workspaceParts } from "./workspacePath.js";

/** Largest file that is looked into, bytes. */
const FILE_BYTES = 16 * 1_048_576;
/** Most that one call returns, bytes. */
const SHOWN_BYTES = 65_536;
/** Lines where the call does not say how many. */
const LINES = 1_000;

const parameters = z.strictObject({
  path: z.string().min(1).describe("Path of the file inside the workspace."),
  offset: z.int().min(1).optional().describe("First line to show, from 1."),
  limit: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe(`Most lines to show; ${String(LINES)} where it is left out.`),
});

/** Reads a text file of the workspace. */
export function readFileTool(workspace: string): Tool {
  return defineTool({
    name: "read_file",
    description: [
      "Reads a text file inside the workspace.",
      "A long file comes in parts: the last line of a part says with which offset to go on.",
    ],
    parameters,
    async run({ path, offset = 1, limit = LINES }) {
      const { handle, size } = await openForReading(workspace, workspaceParts(path, workspace));
      try {
        if (size > FILE_BYTES) throw new Error(`path: the file has ${String(size)} bytes, more than can be read.`);
        const bytes = await handle.readFile();
        if (bytes.includes(0)) return `[a binary file of ${String(bytes.length)} bytes]`;
        return partOf(bytes.toString("utf8"), offset, limit);
      } finally {
        await handle.close();
      }
    },
  });
}

function partOf(text: string, offset: number, limit: number): string {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return "[an empty file]";
  if (offset > lines.length) return `[the file has ${String(lines.length)} lines]`;
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > SHOWN_BYTES && shown.length > 0) break;
    shown.push(bytes > SHOWN_BYTES ? `${line.slice(0, SHOWN_BYTES / 4)} [… the line goes on]` : line);
  }
  const next = offset + shown.length;
  const more =
    next <= lines.length ? [`[… ${String(lines.length)} lines in all; go on with offset ${String(next)}]`] : [];
  return [...shown, ...more].join("\n");
}
