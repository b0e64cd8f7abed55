/** What kind of author a row has; mirrors the contract's AuthorKind. */
export type StoredAuthorKind = "client" | "local_agent" | "peer_agent" | "relay_agent" | "gateway";

/** Who wrote an input or a transcript row, as rows keep it. */
export interface StoredAuthor {
  readonly kind: StoredAuthorKind;
  /** Canonical identity, such as `agent:coder`. */
  readonly id: string;
  /** Name for people. */
  readonly displayName: string;
  /** Principal of the operator who acted on the author's behalf; empty when it acted itself. */
  readonly sentBy: string;
}

/** The gateway itself, as the author of boundaries and notices. */
export const GATEWAY_AUTHOR: StoredAuthor = { kind: "gateway", id: "gateway", displayName: "gateway", sentBy: "" };

/** The author columns that inputs and messages share. */
export interface AuthorColumns {
  author_kind: string;
  author_id: string;
  author_name: string;
  author_sent_by: string;
}

/** Reads the author columns of a row. */
export function authorFromColumns(row: AuthorColumns): StoredAuthor {
  return {
    kind: row.author_kind as StoredAuthorKind,
    id: row.author_id,
    displayName: row.author_name,
    sentBy: row.author_sent_by,
  };
}

/** The author columns' values, in the order kind, id, name, sent_by. */
export function authorValues(author: StoredAuthor): [string, string, string, string] {
  return [author.kind, author.id, author.displayName, author.sentBy];
}
