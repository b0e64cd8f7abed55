import { pino } from "pino";

import { redact } from "./redaction.js";
import type { SecretRegistry } from "./secretRegistry.js";

/** Structured logging: fields first, then a message. A child adds fields to every line. */
export type Logger = pino.Logger;

/** Where finished lines go; each ends with a line feed. */
export interface LogDestination {
  /** Takes one line. */
  write(line: string): unknown;
}

/** What {@link createLogger} needs. */
export interface LoggerOptions {
  /** Least severe level written; default `info`. */
  readonly level?: string;
  /** Default: standard error, written at once so that the last words before a crash are kept. */
  readonly destination?: LogDestination;
  /** Exact secrets to hide besides the known shapes. */
  readonly secrets?: SecretRegistry;
}

/**
 * A JSON logger whose finished lines are scrubbed, so that secrets in nested values, lists, messages and error stacks
 * are covered alike. A line stays valid JSON.
 */
export function createLogger({ level = "info", destination, secrets }: LoggerOptions = {}): Logger {
  const sink: LogDestination = destination ?? pino.destination({ fd: 2, sync: true });
  return pino(
    { level, base: { pid: process.pid }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line: string) => void sink.write(scrubLine(line, secrets)) },
  );
}

/** A logger that writes nothing, for tests. */
export function silentLogger(): Logger {
  return pino({ level: "silent" });
}

function scrubLine(line: string, secrets: SecretRegistry | undefined): string {
  const clean = redact(line, secrets);
  if (clean === line || isJson(clean)) return clean;
  return `${JSON.stringify({ level: 50, msg: "a log line could not be scrubbed in place", line: clean })}\n`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
