import { constants, existsSync } from "node:fs";
import { mkdir, open, readlink, rename, rm, type FileHandle } from "node:fs/promises";
import { join } from "node:path";

import type { Random } from "../../base/random.js";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** The kernel's names for open folders, which stay with the folder whatever happens to its path. */
const HANDLES = "/proc/self/fd";

/** A folder inside a workspace that is held open. */
export interface HeldFolder {
  readonly handle: FileHandle;
  /** Path that leads through the handle where the system has such paths. */
  readonly path: string;
}

/** What a file of the workspace is opened for reading as. */
export interface OpenedFile {
  readonly handle: FileHandle;
  /** Bytes. */
  readonly size: number;
}

/**
 * Opens a file for reading, folder by folder, and follows no link on the way.
 * @param parts names from the workspace down. The caller closes the handle. @throws Error in words for a model.
 */
export async function openForReading(workspace: string, parts: readonly string[]): Promise<OpenedFile> {
  const shown = parts.join("/");
  const folder = await holdFolder(workspace, parts.slice(0, -1));
  try {
    // A pipe without a writer would hold the open for good.
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const handle = await open(join(folder.path, parts.at(-1) ?? ""), flags).catch((error: unknown) => {
      throw explained(error, shown);
    });
    const facts = await handle.stat();
    if (facts.isFile()) return { handle, size: facts.size };
    await handle.close();
    throw new Error(`path: ${shown} is ${facts.isDirectory() ? "a folder" : "no regular file"}.`);
  } finally {
    await folder.handle.close();
  }
}

/**
 * Puts a file into the workspace, whole or not at all, and follows no link on the way; folders that are missing are made.
 * @returns whether there was a file before. @throws Error in words for a model.
 */
export async function replaceFile(
  workspace: string,
  parts: readonly string[],
  content: string,
  random: Random,
): Promise<boolean> {
  const shown = parts.join("/");
  const name = parts.at(-1) ?? "";
  const folder = await holdFolder(workspace, parts.slice(0, -1), 0o777);
  const temporary = join(folder.path, `.${name.slice(0, 100)}.${random.bytes(6).toString("hex")}.partial`);
  const target = join(folder.path, name);
  try {
    const mode = await modeOf(target, shown);
    const file = await open(temporary, "wx", mode ?? 0o644).catch((error: unknown) => {
      throw explained(error, shown);
    });
    try {
      await file.writeFile(content, "utf8");
      if (mode !== undefined) await file.chmod(mode);
    } finally {
      await file.close();
    }
    await rename(temporary, target);
    return mode !== undefined;
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
    await folder.handle.close();
  }
}

/** Permissions of the regular file that is replaced; undefined where there is none. */
async function modeOf(path: string, shown: string): Promise<number | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw explained(error, shown);
  }
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw new Error(`path: ${shown} is ${facts.isDirectory() ? "a folder" : "no regular file"}.`);
    return facts.mode & 0o777;
  } finally {
    await handle.close();
  }
}

/**
 * Opens a folder of the workspace, folder by folder, and follows no link on the way.
 * @param parts names from the workspace down @param mode permissions of folders that are missing, which are made then; undefined makes
 * none. The caller closes the handle. @throws Error in words for a model.
 */
export async function holdFolder(workspace: string, parts: readonly string[], mode?: number): Promise<HeldFolder> {
  let held = await hold(workspace, "the workspace");
  for (const [index, part] of parts.entries()) {
    const shown = parts.slice(0, index + 1).join("/");
    const path = join(held.path, part);
    try {
      if (mode !== undefined) await mkdir(path, { mode }).catch(ignoreExisting);
      const next = await hold(path, shown);
      await held.handle.close();
      held = next;
    } catch (error) {
      await held.handle.close();
      throw error;
    }
  }
  return held;
}

async function hold(path: string, shown: string): Promise<HeldFolder> {
  const handle = await open(path, FOLDER).catch((error: unknown) => {
    throw explained(error, shown);
  });
  const through = `${HANDLES}/${String(handle.fd)}`;
  if (!existsSync(HANDLES)) return { handle, path };
  // The kernel's name must be usable: a container may show a /proc without it.
  const usable = await readlink(through).then(
    () => true,
    () => false,
  );
  return { handle, path: usable ? through : path };
}

function ignoreExisting(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
}

function explained(error: unknown, shown: string): Error {
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
      return new Error(`path: there is no ${shown}.`);
    case "ELOOP":
    case "EMLINK":
      return new Error(`path: ${shown} is a link, and links are not followed.`);
    case "ENOTDIR":
      return new Error(`path: ${shown} leads through a link or through something that is no folder.`);
    case "EISDIR":
      return new Error(`path: ${shown} is a folder.`);
    case "EACCES":
    case "EPERM":
      return new Error(`path: ${shown} may not be opened.`);
    default:
      return new Error(`path: ${shown} cannot be opened (${(error as NodeJS.ErrnoException).code ?? "unknown"}).`);
  }
}
