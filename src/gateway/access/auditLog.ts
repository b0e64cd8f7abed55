import type { Logger } from "../../base/logger.js";
import { RotatingFile } from "../../base/rotatingFile.js";

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
 * Appends JSON lines to a {@link RotatingFile}.
 * @param rotateBytes size from which on a file is put aside
 */
export function createAuditLog(path: string, log: Logger, rotateBytes = ROTATE_BYTES): AuditLog {
  const file = new RotatingFile(path, { maxBytes: rotateBytes, kept: KEPT_FILES });
  let failing = false;
  return {
    write(entry) {
      try {
        file.append(`${JSON.stringify(entry)}\n`);
        failing = false;
      } catch (error) {
        // Once for each time that it begins to fail: a full disk must not fill the log as well.
        if (!failing) log.error({ err: error }, "the audit log cannot be written");
        failing = true;
      }
    },
    close() {
      file.close();
    },
  };
}
