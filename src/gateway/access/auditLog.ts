import { chmodSync, closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";

import type { Logger } from "../../base/logger.js";

/** One call that was to change something. It never holds a body or a secret. */
export interface AuditEntry {
  /** When it came, ISO 8601. */
  readonly at: string;
  /** Who called: `client:<name>` as the gateway derived it, or `unknown` before that. */
  readonly who: string;
  /** Role of the caller; empty where it is unknown. */
  readonly role: string;
  /** Where it came from: `unix` or an address with its port. */
  readonly from: string;
  /** User and process at the other end of a Unix socket, where the kernel says so. */
  readonly uid?: number;
  readonly pid?: number;
  /** Full name of the method. */
  readonly what: string;
  /** `OK`, or the reason of the registry. */
  readonly outcome: string;
  /** How long it took, milliseconds. */
  readonly ms: number;
}

/** Where calls that change something are recorded. */
export interface AuditLog {
  /** Adds an entry. A failure to write is logged and costs nobody their call. */
  write(entry: AuditEntry): void;
  /** Lets go of the file. */
  close(): void;
}

/** Size from which on a file is put aside, bytes, and how many of those are kept. */
const ROTATE_BYTES = 8 * 1024 * 1024;
const KEPT_FILES = 4;

/**
 * Appends JSON lines to a file of mode 0600. A full file becomes `<file>.1`, that one `<file>.2`, and so on; the oldest goes.
 * @param rotateBytes size from which on a file is put aside
 */
export function createAuditLog(file: string, log: Logger, rotateBytes = ROTATE_BYTES): AuditLog {
  let descriptor: number | undefined;
  let size = 0;
  let failing = false;
  const open = (): number => {
    const opened = openSync(file, "a", 0o600);
    chmodSync(file, 0o600);
    size = fstatSync(opened).size;
    return opened;
  };
  const close = (): void => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  const rotate = (): void => {
    close();
    for (let number = KEPT_FILES - 1; number >= 0; number -= 1) {
      const from = number === 0 ? file : `${file}.${String(number)}`;
      try {
        renameSync(from, `${file}.${String(number + 1)}`);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      }
    }
  };
  return {
    write(entry) {
      const line = Buffer.from(`${JSON.stringify(entry)}\n`);
      try {
        descriptor ??= open();
        if (size > 0 && size + line.length > rotateBytes) {
          rotate();
          descriptor = open();
        }
        size += writeSync(descriptor, line);
        failing = false;
      } catch (error) {
        // Once for each time that it begins to fail: a full disk must not fill the log as well.
        if (!failing) log.error({ err: error }, "the audit log cannot be written");
        failing = true;
        close();
      }
    },
    close,
  };
}
