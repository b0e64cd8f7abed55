import type { Reason } from "../rpc/reasons.js";

/** Something that a command cannot do, in the terms of the person who typed it. */
export class CliError extends Error {
  override readonly name = "CliError";
  /** Why; the exit code follows from it. */
  readonly reason: Reason;
  /** What to do about it. */
  readonly hint: string;

  constructor(reason: Reason, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.hint = hint;
  }
}
