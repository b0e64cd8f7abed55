import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** What was found where a file was to be read. */
export type PlainFile =
  | { readonly kind: "read"; readonly bytes: Buffer }
  /** A pipe or a device. */
  | { readonly kind: "strange" }
  /** A file with more bytes than are read. */
  | { readonly kind: "large" };

/**
 * Reads a file that somebody else has put there, at once and without trust: a pipe is not waited for, a device not read, and of a file
 * no more than a little over the limit. Links are followed.
 * @param limit most bytes. @throws the system's error where it cannot be opened or read, as a folder cannot
 */
export function readPlainFile(path: string, limit: number): PlainFile {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const facts = fstatSync(file);
    if (!facts.isFile() && !facts.isDirectory()) return { kind: "strange" };
    if (facts.isFile() && facts.size > limit) return { kind: "large" };
    // Some files say that they are empty and are not, and one may grow meanwhile.
    const parts: Buffer[] = [];
    for (let left = limit + 1; left > 0;) {
      const part = Buffer.allocUnsafe(Math.min(left, Math.max(facts.size + 1, 4_096)));
      const bytes = readSync(file, part, 0, part.length, null);
      if (bytes === 0) return { kind: "read", bytes: Buffer.concat(parts) };
      parts.push(part.subarray(0, bytes));
      left -= bytes;
    }
    return { kind: "large" };
  } finally {
    closeSync(file);
  }
}
