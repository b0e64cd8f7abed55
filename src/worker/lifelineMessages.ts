import type { ProcessFacts } from "../base/processIdentity.js";
import type { LaunchLine } from "./launchToken.js";

/** What the lifeline's thread starts from. */
export interface LifelineStart {
  /** Milliseconds that the process may live once its owner is gone. */
  readonly graceMs: number;
  /** What was read of the launch pipe before the thread. */
  readonly line: LaunchLine;
  /** The worker and its first ancestors as they were at its start. */
  readonly self: ProcessFacts | undefined;
  readonly ancestors: readonly ProcessFacts[];
}

/** What the lifeline's thread tells the main loop. */
export type LifelineEvent =
  { readonly kind: "token"; readonly token: string } | { readonly kind: "noToken" } | { readonly kind: "ownerGone" };

/** What the main loop tells the lifeline's thread. */
export type LifelineOrder =
  /** Milliseconds that the process may live once its owner is gone. */
  | { readonly kind: "grace"; readonly ms: number }
  /** The Attach stream is lost, so the owner is as good as gone: the grace begins. */
  | { readonly kind: "orphaned" };
