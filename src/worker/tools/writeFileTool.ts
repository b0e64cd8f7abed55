import { z } from "zod";

import type { Random } from "../../base/random.js";
import { defineTool } from "./defineTool.js";
import type { Tool } from "./tool.js";
import { replaceFile } from "./workspaceFiles.js";
import { TOOL_FOLDER, workspaceParts } from "./workspacePath.js";

/** Largest file that is written, bytes. */
const FILE_BYTES = 1_048_576;

const parameters = z.strictObject({
  path: z.string().min(1).describe("Path of the file inside the workspace; folders that are missing are made."),
  content: z.string().describe("The whole new content of the file."),
});

/** Writes a text file of the workspace. */
export function writeFileTool(workspace: string, random: Random): Tool {
  return defineTool({
    name: "write_file",
    description: ["Writes a text file inside the workspace, in the place of one that is there."],
    parameters,
    async run({ path, content }) {
      const bytes = Buffer.byteLength(content, "utf8");
      if (bytes > FILE_BYTES) {
        throw new Error(`content: has ${String(bytes)} bytes; a file may have ${String(FILE_BYTES)}.`);
      }
      const parts = workspaceParts(path, workspace);
      if (parts[0] === TOOL_FOLDER) throw new Error(`path: ${TOOL_FOLDER} belongs to the tools.`);
      const replaced = await replaceFile(workspace, parts, content, random);
      return `${replaced ? "Replaced" : "Wrote"} ${parts.join("/")} (${String(bytes)} bytes).`;
    },
  });
}
