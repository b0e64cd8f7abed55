/** How bad a finding is; a `problem` keeps something from working, a `warning` will or may. */
export type FindingLevel = "ok" | "skipped" | "warning" | "problem";

/** What one check of the doctor has found. */
export interface Finding {
  /** What was looked at, such as `disk`. */
  readonly check: string;
  readonly level: FindingLevel;
  /** What was found. */
  readonly message: string;
  /** What to do; empty where nothing is to be done. */
  readonly fix: string;
}

/** All is well. */
export const ok = (check: string, message: string): Finding => ({ check, level: "ok", message, fix: "" });

/** It could not be looked at. */
export const skipped = (check: string, message: string): Finding => ({ check, level: "skipped", message, fix: "" });

/** It works, and will or may not for long. */
export const warning = (check: string, message: string, fix: string): Finding => ({
  check,
  level: "warning",
  message,
  fix,
});

/** It keeps something from working. */
export const problem = (check: string, message: string, fix: string): Finding => ({
  check,
  level: "problem",
  message,
  fix,
});
