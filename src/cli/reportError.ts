import { ConfigError } from "../base/configError.js";
import { RpcError } from "../rpc/rpcError.js";
import { reasonEntry } from "../rpc/reasons.js";
import { CliError } from "./cliError.js";
import { EXIT_FAILURE, exitCodeOf } from "./exitCode.js";
import type { Terminal } from "./terminal.js";

/** Tells what went wrong: reason, what happened, what to do. Returns the exit code. */
export function reportError(
  caught: unknown,
  terminal: Terminal,
  { verbose, json }: { readonly verbose: boolean; readonly json: boolean },
): number {
  const error = caught instanceof ConfigError ? fromConfig(caught) : caught;
  if (!(error instanceof CliError || error instanceof RpcError)) {
    terminal.err(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return EXIT_FAILURE;
  }
  const reason = error instanceof RpcError ? (error.wireReason ?? error.reason) : error.reason;
  if (json) terminal.err(JSON.stringify({ error: { reason, message: error.message, hint: error.hint } }));
  else {
    terminal.err(`${reason}: ${error.message}`);
    if (error.hint !== "") terminal.err(`  ${error.hint}`);
    if (verbose && error instanceof RpcError) terminal.err(`  ${JSON.stringify(error.details)}`);
  }
  return exitCodeOf(error.reason);
}

function fromConfig(error: ConfigError): CliError {
  const { hint = reasonEntry("CONFIG_INVALID").hint } = error;
  return new CliError("CONFIG_INVALID", error.message.replace(` (${hint})`, ""), hint);
}
