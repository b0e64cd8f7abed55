import type { Trial } from "./trial.js";

/** What not every worker can do; a check that needs it may be skipped, which the table shows. */
export const CAPABILITIES = [
  "tools",
  "tool-bounds",
  "prompts",
  "store",
  "long-answers",
  "failures",
  "children",
  "spin",
  "outbox",
] as const;

/** One of {@link CAPABILITIES}. */
export type Capability = (typeof CAPABILITIES)[number];

/** One rule of the contract, tried with a fresh worker. */
export interface Check {
  /** Short name, unique. */
  readonly name: string;
  /** The rule, in a sentence. */
  readonly rule: string;
  /** What the worker must be able to do; undefined for what every worker must. */
  readonly needs?: Capability;
  /** Tries it. @returns what was seen. @throws CheckFailure where the rule was broken. */
  readonly run: (trial: Trial) => Promise<string>;
}
