import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { constants as zlib, gunzipSync } from "node:zlib";

import { type Manifest, MANIFEST, manifestSchema } from "./backupFormat.js";

/** Bytes of a file that its description is looked for in, packed and unpacked: it comes first and is short. */
const HEAD_BYTES = 4_096;
const UNPACKED_BYTES = 8 * 1_048_576;
/** Bytes of a block of a tar file. */
const BLOCK = 512;

/**
 * What a file says of itself where it is, beyond doubt, a whole backup of a home: a plain file of one name, gzipped from its first byte to
 * its end, a tar of whole blocks that begins with the description. Undefined for anything else, whatever it is called.
 * @throws the system's error where it cannot be opened or read
 */
export function ownBackup(path: string): Manifest | undefined {
  // Neither a link is followed nor a pipe waited for.
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = fstatSync(file);
    const { size, nlink, uid } = status;
    if (!status.isFile() || nlink !== 1 || uid !== process.getuid?.() || size < BLOCK / 8) return undefined;
    return endsWhole(file, size) ? described(file) : undefined;
  } finally {
    closeSync(file);
  }
}

/** Whether the last four bytes, the length before packing, are those of a tar file. Source: RFC 1952, section 2.3.1. */
function endsWhole(file: number, size: number): boolean {
  const unpacked = read(file, 4, size - 4).readUInt32LE();
  return unpacked > 0 && unpacked % BLOCK === 0;
}

function described(file: number): Manifest | undefined {
  let head: Buffer;
  try {
    head = gunzipSync(read(file, HEAD_BYTES, 0), { finishFlush: zlib.Z_SYNC_FLUSH, maxOutputLength: UNPACKED_BYTES });
  } catch {
    return undefined;
  }
  // Name and size of a tar's first entry. Source: POSIX, pax, ustar interchange format.
  const name = textOf(head.subarray(0, 100));
  const size = Number.parseInt(textOf(head.subarray(124, 136)), 8);
  if (name !== MANIFEST || !(size > 0) || head.length < BLOCK + size) return undefined;
  try {
    return manifestSchema.safeParse(JSON.parse(head.toString("utf8", BLOCK, BLOCK + size))).data;
  } catch {
    return undefined;
  }
}

function read(file: number, bytes: number, at: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  return buffer.subarray(0, readSync(file, buffer, 0, bytes, at));
}

function textOf(field: Buffer): string {
  return field.toString("latin1").replace(/\0.*$/s, "").trim();
}
