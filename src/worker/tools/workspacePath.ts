import { relative, isAbsolute } from "node:path";

/** Longest path that a tool takes, UTF-16 units. */
const PATH_LIMIT = 4_096;
/** Folder of the workspace that belongs to the tools. */
export const TOOL_FOLDER = ".talaria";

/**
 * The parts of a path inside the workspace, as a model writes it: relative to the workspace, or absolute and below it. Pure.
 * @returns the names from the workspace down, never empty
 * @throws Error for what leaves the workspace or names nothing in it.
 */
export function workspaceParts(path: string, workspace: string): readonly string[] {
  if (path.length > PATH_LIMIT || path.includes("\0")) throw new Error("path: is not a path.");
  const inside = isAbsolute(path) ? relative(workspace, path) : path;
  if (isAbsolute(inside)) throw new Error("path: lies outside the workspace.");
  const parts = inside.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw new Error('path: lies outside the workspace, or says so with "..".');
  if (parts.length === 0) throw new Error("path: names no file.");
  return parts;
}
