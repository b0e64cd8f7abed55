import { ConfigError } from "../base/configError.js";
import { RpcError } from "../rpc/rpcError.js";
import { reasonEntry } from "../rpc/reasons.js";
import { CliError } from "./cliError.js";
import { EXIT_FAILURE, exitCodeOf } from "./exitCodes.js";
import { printable } from "./render/printable.js";
import type { Terminal } from "./terminal.js";

/** How much of an error is shown, and how. */
export interface ReportStyle {
  /** Adds the details of a status, and the stack of a fault of the program. */
  readonly verbose: boolean;
  readonly json: boolean;
}

/** An error as it is shown. */
export interface ErrorText {
  /** Of the registry; `USAGE` for a wrong command line, `FAULT` for a fault of the program. */
  readonly reason: string;
  /** What happened. */
  readonly message: string;
  /** What to do; empty for nothing. */
  readonly hint: string;
  /** Shown on lines of their own. */
  readonly facts?: Readonly<Record<string, string>>;
  /** What is shown only where details are asked for. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Tells what went wrong: reason, what happened, what to do. Returns the exit code. */
export function reportError(caught: unknown, terminal: Terminal, style: ReportStyle): number {
  const error = caught instanceof ConfigError ? fromConfig(caught) : (fromSystem(caught) ?? caught);
  if (!(error instanceof CliError || error instanceof RpcError)) {
    printError(terminal, fault(error), style);
    return EXIT_FAILURE;
  }
  const { message, hint } = error;
  if (error instanceof CliError) {
    const { reason, foreignReason, facts } = error;
    const cause = error.cause instanceof RpcError ? { cause: error.cause.message, ...error.cause.details } : undefined;
    const details = cause === undefined ? {} : { details: cause };
    printError(terminal, { reason: foreignReason ?? reason, message, hint, facts, ...details }, style);
  } else {
    const { code, retryable } = { code: reasonEntry(error.reason).code, retryable: error.retryable };
    const details = { code, retryable, ...error.details };
    printError(terminal, { reason: error.wireReason ?? error.reason, message, hint, details }, style);
  }
  return exitCodeOf(error.reason);
}

/** Writes an error to standard error: on lines for people, or as one JSON value. */
export function printError(
  terminal: Pick<Terminal, "err" | "paint">,
  { reason, message, hint, facts = {}, details }: ErrorText,
  { verbose, json }: ReportStyle,
): void {
  if (json) {
    terminal.err(JSON.stringify({ error: { reason, message, hint, ...facts, ...(verbose ? { details } : {}) } }));
    return;
  }
  // What a worker or a peer has said is in all of them.
  terminal.err(`${terminal.paint("err", ["bold", "red"], printable(reason))}: ${printable(message)}`);
  if (hint !== "") terminal.err(`  ${printable(hint)}`);
  const more = verbose ? Object.entries(details ?? {}) : [];
  for (const [name, value] of [...Object.entries(facts), ...more]) {
    terminal.err(printable(`  ${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`));
  }
}

/** A file or folder that the system refused: no fault of the program, whoever met it. */
function fromSystem(error: unknown): CliError | undefined {
  const { code, syscall, message } = error as Partial<NodeJS.ErrnoException>;
  if (!(error instanceof Error) || typeof code !== "string" || typeof syscall !== "string") return undefined;
  if (syscall === "uv_cwd") {
    const gone = "The folder in which this was started is gone.";
    return new CliError("STORAGE_UNAVAILABLE", gone, "Change to another folder.", { cause: error });
  }
  const full = code === "ENOSPC" || code === "EDQUOT";
  const hint = full ? "Free space there, and try again." : "Check that path, and who may use it.";
  return new CliError(full ? "STORAGE_FULL" : "STORAGE_UNAVAILABLE", message ?? code, hint, { cause: error });
}

function fault(error: unknown): ErrorText {
  const message = error instanceof Error ? error.message : String(error);
  const hint = "This is a fault of the program itself; --verbose shows where.";
  return { reason: "FAULT", message, hint, details: { stack: error instanceof Error ? error.stack : undefined } };
}

function fromConfig(error: ConfigError): CliError {
  const { hint = reasonEntry("CONFIG_INVALID").hint } = error;
  return new CliError("CONFIG_INVALID", error.message.replace(` (${hint})`, ""), hint);
}
