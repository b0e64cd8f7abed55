import { StorageError } from "../base/storageError.js";

const FULL = 13;
/** Primary result codes that mean that the database could not be used, as opposed to a statement that was wrong. */
const UNAVAILABLE: ReadonlySet<number> = new Set([
  5 /* BUSY */, 6 /* LOCKED */, 7 /* NOMEM */, 8 /* READONLY */, 10 /* IOERR */, 11 /* CORRUPT */, 14 /* CANTOPEN */,
  26 /* NOTADB */,
]);

/** The storage failure that `error` means, or undefined where it is none (a broken constraint, a command's refusal). */
export function toStorageError(error: unknown): StorageError | undefined {
  if (error instanceof StorageError) return error;
  const code = (error as { errcode?: unknown } | null | undefined)?.errcode;
  if (typeof code !== "number" || !(error instanceof Error)) return undefined;
  const primary = code & 0xff;
  if (primary === FULL) return new StorageError("full", "no room left in the store", { cause: error });
  if (UNAVAILABLE.has(primary)) {
    return new StorageError("unavailable", `the store cannot be used: ${error.message}`, { cause: error });
  }
  return undefined;
}
