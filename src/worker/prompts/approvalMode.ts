import { AuthorKind, type Author } from "../../gen/talaria/types/v1/author.js";
import { ApprovalMode } from "../../gen/talaria/types/v1/policy.js";

/** What happens when a tool needs approval in one turn. */
export type TurnApprovals = "ask" | "deny" | "allow";

/** Whose inputs a policy's ALLOW covers: people of this gateway, its own agents and the gateway itself. */
const COVERED: ReadonlySet<AuthorKind | undefined> = new Set([
  AuthorKind.AUTHOR_KIND_CLIENT,
  AuthorKind.AUTHOR_KIND_LOCAL_AGENT,
  AuthorKind.AUTHOR_KIND_GATEWAY,
]);

/**
 * What a policy means for a turn that this author's input started. Nothing bypasses approval for a peer's or relay's message: there,
 * and for an author that is not known, a person is asked. Source: DESIGN section 4, ApprovalMode.
 */
export function turnApprovals(mode: ApprovalMode, author: Author | undefined): TurnApprovals {
  switch (mode) {
    case ApprovalMode.APPROVAL_MODE_DENY:
      return "deny";
    case ApprovalMode.APPROVAL_MODE_ALLOW:
      return COVERED.has(author?.kind) ? "allow" : "ask";
    default:
      return "ask";
  }
}
