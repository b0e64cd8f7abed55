import { StorageError } from "../base/storageError.js";

/** Primary result codes that mean that there is no room. */
const FULL: ReadonlySet<number | string> = new Set([13, "database or disk is full"]);

/**
 * Primary result codes that mean that the database could not be used, as opposed to a statement that was wrong. The texts
 * are SQLite's own for the same codes: an error of a statement that returns many rows carries no code.
 */
const UNAVAILABLE: ReadonlySet<number | string> = new Set([
  5,
  "database is locked",
  6,
  "database table is locked",
  7,
  "out of memory",
  8,
  "attempt to write a readonly database",
  10,
  "disk I/O error",
  11,
  "database disk image is malformed",
  14,
  "unable to open database file",
  26,
  "file is not a database",
]);

/** The storage failure that `error` means, or undefined where it is none (a broken constraint, a command's refusal). */
export function toStorageError(error: unknown): StorageError | undefined {
  if (error instanceof StorageError) return error;
  if (!(error instanceof Error)) return undefined;
  const code = (error as { errcode?: unknown }).errcode;
  const sign = typeof code === "number" ? code & 0xff : error.message;
  if (FULL.has(sign)) return new StorageError("full", "no room left in the store", { cause: error });
  if (UNAVAILABLE.has(sign)) {
    return new StorageError("unavailable", `the store cannot be used: ${error.message}`, { cause: error });
  }
  return undefined;
}
