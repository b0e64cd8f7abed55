import type { Reason } from "../rpc/reasons.js";

/** What may be given to the constructor of {@link CliError}. */
export interface CliErrorOptions extends ErrorOptions {
  /** Facts that are shown on lines of their own, by their names. */
  readonly facts?: Readonly<Record<string, string>>;
  /** The reason as a foreign gateway spelled it, where the registry does not know it. */
  readonly foreignReason?: string;
}

/** Something that a command cannot do, in the terms of the person who typed it. */
export class CliError extends Error {
  override readonly name = "CliError";
  /** Why; the exit code follows from it. */
  readonly reason: Reason;
  /** What to do about it. */
  readonly hint: string;
  /** See {@link CliErrorOptions.facts}. */
  readonly facts: Readonly<Record<string, string>>;
  /** See {@link CliErrorOptions.foreignReason}. */
  readonly foreignReason: string | undefined;

  constructor(reason: Reason, message: string, hint: string, options: CliErrorOptions = {}) {
    super(message, options);
    this.reason = reason;
    this.hint = hint;
    this.facts = options.facts ?? {};
    this.foreignReason = options.foreignReason;
  }
}
