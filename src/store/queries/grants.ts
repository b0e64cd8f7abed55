import type { Queryable } from "../sql.js";

/** A command that an agent may run without asking. */
export interface GrantRow {
  readonly grantId: string;
  readonly agent: string;
  readonly command: string;
  readonly grantedBy: string;
  /** Epoch milliseconds. */
  readonly grantedAt: number;
}

/** Grants, oldest first, after a place. */
export function listGrants(
  from: Queryable,
  filter: {
    readonly agent?: string;
    readonly after?: { readonly grantedAt: number; readonly grantId: string };
    readonly limit: number;
  },
): readonly GrantRow[] {
  const { agent, after, limit } = filter;
  return from.all<GrantRow>(
    `SELECT grant_id AS grantId, agent, command, granted_by AS grantedBy, granted_at AS grantedAt FROM grants
     WHERE (?1 IS NULL OR agent = ?1) AND (granted_at > ?2 OR (granted_at = ?2 AND grant_id > ?3))
     ORDER BY granted_at, grant_id LIMIT ?4`,
    agent ?? null,
    after?.grantedAt ?? -1,
    after?.grantId ?? "",
    limit,
  );
}
