import { writeSync } from "node:fs";
import { redact } from "../base/redaction.js";
import type { SecretRegistry } from "../base/secretRegistry.js";

/** Facts of a log line; must be JSON values. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** The worker's own log: JSON lines on standard error, which the owner drains into a file. */
export interface WorkerLog {
  /** Something worth knowing. */
  info(message: string, fields?: LogFields): void;
  /** Something odd that the turn survives. */
  warn(message: string, fields?: LogFields): void;
  /** Something that ends the turn. */
  error(message: string, fields?: LogFields): void;
}

/** Where finished lines go; each ends with a line feed. */
export type LogSink = (line: string) => void;

/**
 * Makes the log. Lines are scrubbed of `secrets` and of the known shapes, and written at once, so that the last words before
 * a crash are kept. It is smaller than the gateway's logger because it is part of every worker's start.
 */
export function createWorkerLog(secrets: SecretRegistry, sink: LogSink = writeToStandardError): WorkerLog {
  const write = (level: string, message: string, fields: LogFields = {}): void => {
    sink(`${redact(JSON.stringify({ level, pid: process.pid, msg: message, ...fields }), secrets)}\n`);
  };
  return {
    info: (message, fields) => {
      write("info", message, fields);
    },
    warn: (message, fields) => {
      write("warn", message, fields);
    },
    error: (message, fields) => {
      write("error", message, fields);
    },
  };
}

function writeToStandardError(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // Nobody reads: a log must never end a turn.
  }
}
