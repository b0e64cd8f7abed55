import { AuthorKind, type Author } from "../../gen/talaria/types/v1/author.js";

/** What kind of author, as plain data. */
export type AuthorKindName = "client" | "local_agent" | "peer_agent" | "relay_agent" | "gateway";

/** Who wrote something, as plain data. Rows keep it in this form. */
export interface AuthorFacts {
  readonly kind: AuthorKindName;
  /** Canonical identity, such as `agent:coder`. */
  readonly id: string;
  /** Name for people. */
  readonly displayName: string;
  /** Principal of the operator who acted on the author's behalf; empty when it acted itself. */
  readonly sentBy: string;
}

const KINDS: Readonly<Record<AuthorKindName, AuthorKind>> = {
  client: AuthorKind.AUTHOR_KIND_CLIENT,
  local_agent: AuthorKind.AUTHOR_KIND_LOCAL_AGENT,
  peer_agent: AuthorKind.AUTHOR_KIND_PEER_AGENT,
  relay_agent: AuthorKind.AUTHOR_KIND_RELAY_AGENT,
  gateway: AuthorKind.AUTHOR_KIND_GATEWAY,
};

/** An author as the contract writes it. */
export function toAuthor(author: AuthorFacts): Author {
  return { kind: KINDS[author.kind], id: author.id, displayName: author.displayName, sentBy: author.sentBy };
}
