import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { crc32 } from "node:zlib";

/** What every cache file's name ends with. */
const SUFFIX = ".cache";
/** Files of a cache directory that are kept: one for each script, Node and set of flags, the newest. */
const KEPT_FILES = 12;
/** Bytes of the checksum that ends a file. V8 takes a cache with a changed byte for a good one and may crash in it. */
const CHECKSUM_BYTES = 4;

/** The Node that compiles: a cache is good for exactly this. */
export interface CompilingNode {
  /** Node's version, such as `v20.20.2`. */
  readonly version: string;
  readonly v8: string;
  readonly arch: string;
  /** Arguments and options of Node itself, some of which change how V8 compiles. */
  readonly flags: readonly string[];
}

/** The Node of this process. */
export function thisNode(): CompilingNode {
  const { version, versions, arch, execArgv, env } = process;
  return { version, v8: versions.v8, arch, flags: [...execArgv, env["NODE_OPTIONS"] ?? ""] };
}

/**
 * Where the cache of a script is kept. The script's own name must name its content.
 * @param use tells apart the caches of one script that does different things; empty for one that has one use
 */
export function codeCachePath(directory: string, script: string, use = "", node: CompilingNode = thisNode()): string {
  const flags = crc32(JSON.stringify(node.flags)).toString(16);
  const name = use === "" ? basename(script) : `${basename(script)}-${use}`;
  return join(directory, `${name}-${node.version}-${node.v8}-${node.arch}-${flags}${SUFFIX}`);
}

/** Reads a cache; undefined where there is none or where it is not whole. Never throws. */
export function readCodeCache(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const end = bytes.length - CHECKSUM_BYTES;
    if (end <= 0) return undefined;
    const data = bytes.subarray(0, end);
    return crc32(data) === bytes.readUInt32LE(end) ? data : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes a cache, by renaming and readable for its owner alone, and removes the oldest ones over {@link KEPT_FILES}. Two
 * writers do not disturb each other: each one's file is whole. Never throws. @returns whether it was written.
 */
export function writeCodeCache(path: string, data: Buffer): boolean {
  const partial = `${path}.${String(process.pid)}.partial`;
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(data));
  try {
    rmSync(partial, { force: true });
    writeFileSync(partial, Buffer.concat([data, checksum]), { mode: 0o600, flag: "wx" });
    renameSync(partial, path);
    prune(dirname(path));
    return true;
  } catch {
    // No directory, none that can be written, or no space: the next start compiles again.
    removeQuietly(partial);
    return false;
  }
}

function prune(directory: string): void {
  const files = readdirSync(directory)
    .filter((name) => name.endsWith(SUFFIX) || name.endsWith(".partial"))
    .map((name) => join(directory, name))
    .map((path) => ({ path, writtenMs: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.writtenMs - a.writtenMs);
  for (const { path } of files.slice(KEPT_FILES)) removeQuietly(path);
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Somebody else's file, or a directory that cannot be written.
  }
}
