import type { ProcessFacts } from "../base/processIdentity.js";

/**
 * Decides what an orphaned worker kills: its process group where the group was made for its launch, that is where the group's
 * leader is the worker itself or one of the ancestors given (at most the first three: a launcher may stand between), else
 * only itself. A shared group belongs to somebody else, who must not die with it.
 */
export function groupToKill(
  self: ProcessFacts,
  ancestors: readonly ProcessFacts[],
): { readonly kind: "group"; readonly pgid: number } | { readonly kind: "self" } {
  const leads = [self, ...ancestors].some(({ pid }) => pid === self.processGroup);
  return leads && self.processGroup > 1 ? { kind: "group", pgid: self.processGroup } : { kind: "self" };
}
