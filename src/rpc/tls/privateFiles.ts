import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import type { Stats } from "node:fs";
import { link, lstat, mkdir, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { IdentityKeyError } from "./identityKeyError.js";

/** Bits of a mode that nobody but the owner may have on a private file or folder. */
const OTHERS_ANY = 0o077;
/** Bits of a mode that nobody but the owner may have on a file that others may read. */
const OTHERS_WRITE = 0o022;
/** Keys and certificates are a few hundred bytes; more is a mistake. */
const MAX_FILE_BYTES = 64 * 1024;

/**
 * Creates a folder with mode 0700 if it is missing, and refuses one that is a symbolic link, is not ours, or lets others in.
 * The parent must exist.
 *
 * @throws IdentityKeyError
 */
export async function ensurePrivateFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(ignoreCode("EEXIST"));
  const stats = await lstat(path);
  if (!stats.isDirectory())
    throw new IdentityKeyError("not_plain", path, "is not a directory; symbolic links are refused");
  checkOwnerAndMode(path, stats, OTHERS_ANY, "0700");
}

/** Who may read a file that {@link readOwnFile} accepts. */
export type FileSecrecy = "secret" | "public";

/**
 * Reads a small file of ours without following a symbolic link, checking the very file that is read. Undefined if it is missing.
 *
 * @param secrecy `secret` refuses any right of others, `public` refuses only their right to write
 * @throws IdentityKeyError
 */
export async function readOwnFile(path: string, secrecy: FileSecrecy): Promise<string | undefined> {
  let file;
  try {
    // O_NONBLOCK, because opening a FIFO for reading would otherwise wait for a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    // FreeBSD and macOS disagree with Linux about the code of a link that O_NOFOLLOW meets.
    if (hasCode(error, "ELOOP") || hasCode(error, "EMLINK")) {
      throw new IdentityKeyError("not_plain", path, "is a symbolic link, which is refused");
    }
    throw error;
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new IdentityKeyError("not_plain", path, "is not a regular file");
    const forbidden = secrecy === "secret" ? OTHERS_ANY : OTHERS_WRITE;
    checkOwnerAndMode(path, stats, forbidden, secrecy === "secret" ? "0600" : "0644");
    if (stats.size > MAX_FILE_BYTES)
      throw new IdentityKeyError("malformed", path, `is larger than ${MAX_FILE_BYTES} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/**
 * Creates a file with mode 0600, whole or not at all, and never replaces one: whoever is first wins, also between
 * processes, and the loser reads the winner's file.
 */
export async function createOnce(path: string, contents: string): Promise<void> {
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(contents);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    // link() and not rename(): rename would replace a key that another process has just published and pinned.
    await link(temporary, path).catch(ignoreCode("EEXIST"));
  } finally {
    await unlink(temporary);
  }
  const folder = await open(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function checkOwnerAndMode(path: string, stats: Stats, forbidden: number, wanted: string): void {
  const uid = process.getuid?.();
  if (uid !== undefined && stats.uid !== uid) {
    throw new IdentityKeyError("owner", path, `belongs to user ${stats.uid}, not to ${uid}`);
  }
  if ((stats.mode & forbidden) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
    throw new IdentityKeyError("mode", path, `has mode ${mode}, which lets others in; run: chmod ${wanted} ${path}`);
  }
}

function ignoreCode(code: string): (error: unknown) => void {
  return (error) => {
    if (!hasCode(error, code)) throw error;
  };
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
