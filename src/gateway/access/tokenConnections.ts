import type { ClientToken } from "../../base/clientTokens.js";
import type { Clock } from "../../base/clock.js";
import type { Connection } from "../../rpc/connection.js";
import type { TokenTable } from "./tokenTable.js";

/** How often it is asked whether tokens have been taken back while connections live that came by one, in milliseconds. */
export const TOKEN_LOOK_INTERVAL_MS = 1_000;

/** The live connections on which tokens were accepted. */
export interface TokenConnections {
  /** Notes that a token was accepted on a connection. */
  note(connection: Connection, token: ClientToken): void;
}

/**
 * Cuts a connection when a token that was accepted on it is not valid any more or has another role: a stream that was opened with it
 * would otherwise go on for as long as its holder likes. The file is looked at once a second, and only while such connections live.
 */
export function createTokenConnections(tokens: Pick<TokenTable, "current">, clock: Clock): TokenConnections {
  // Of each connection, what was accepted on it, each once.
  const live = new Map<Connection, Set<string>>();
  let seen: readonly ClientToken[] | undefined;
  let cancel: (() => void) | undefined;
  const arm = (): void => {
    cancel ??= clock.after(TOKEN_LOOK_INTERVAL_MS, look);
  };
  function look(): void {
    cancel = undefined;
    const current = tokens.current();
    if (current !== seen) {
      seen = current;
      const valid = new Set(current.map(markOf));
      const cut = [...live].filter(([, marks]) => [...marks].some((mark) => !valid.has(mark)));
      for (const [connection] of cut) {
        live.delete(connection);
        connection.destroy();
      }
    }
    if (live.size > 0) arm();
  }
  return {
    note(connection, token) {
      const marks = live.get(connection);
      if (marks !== undefined) {
        marks.add(markOf(token));
        return;
      }
      if (connection.closed) return;
      live.set(connection, new Set([markOf(token)]));
      connection.onClose(() => {
        live.delete(connection);
        if (live.size > 0) return;
        cancel?.();
        cancel = undefined;
      });
      arm();
    },
  };
}

function markOf({ sha256, role }: ClientToken): string {
  return `${sha256} ${role}`;
}
