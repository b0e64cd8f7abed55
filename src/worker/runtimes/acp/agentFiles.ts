import type { Random } from "../../../base/random.js";
import { openForReading, replaceFile } from "../../tools/workspaceFiles.js";
import { workspaceParts } from "../../tools/workspacePath.js";

/** Largest file that an agent reads or writes through the worker, bytes. */
const FILE_BYTES = 8 * 1_048_576;

/** Files that an agent asks the worker for: inside the workspace, and no links on the way. */
export class AgentFiles {
  readonly #workspace: string;
  readonly #random: Random;

  constructor(workspace: string, random: Random) {
    this.#workspace = workspace;
    this.#random = random;
  }

  /** Reads a text file, or `limit` lines of it from `line`, counted from 1. @throws Error in words. */
  async read(path: string, line = 1, limit = Number.POSITIVE_INFINITY): Promise<string> {
    const { handle, size } = await openForReading(this.#workspace, workspaceParts(path, this.#workspace));
    try {
      if (size > FILE_BYTES) throw new Error(`path: the file has ${String(size)} bytes, more than can be read.`);
      const text = await handle.readFile("utf8");
      if (line <= 1 && limit === Number.POSITIVE_INFINITY) return text;
      const from = Math.max(0, line - 1);
      return text
        .split("\n")
        .slice(from, from + limit)
        .join("\n");
    } finally {
      await handle.close();
    }
  }

  /** Writes a text file, whole or not at all. @throws Error in words. */
  async write(path: string, content: string): Promise<void> {
    if (Buffer.byteLength(content) > FILE_BYTES) throw new Error("content: is more than can be written.");
    await replaceFile(this.#workspace, workspaceParts(path, this.#workspace), content, this.#random);
  }
}
