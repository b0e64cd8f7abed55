import { timingSafeEqual } from "node:crypto";
import { statSync } from "node:fs";

import type { ClientToken } from "../../base/clientTokens.js";
import { hashOfToken, readClientTokens } from "../../base/clientTokens.js";
import type { Logger } from "../../base/logger.js";

/** The tokens that are valid at this moment. */
export interface TokenTable {
  /** The entry of a token, compared in constant time with every entry; undefined where it is not valid. */
  find(token: string): ClientToken | undefined;
  /** The entries; the same list for as long as the file has not changed. */
  current(): readonly ClientToken[];
}

/**
 * Follows the token file: each look-up first asks the file system whether it has changed, so that a token works from the
 * moment it is made and stops at once when it is revoked. A file that cannot be read lets nobody in.
 */
export function createTokenTable(file: string, log: Logger): TokenTable {
  let seen: string | undefined;
  let entries: readonly ClientToken[] = [];
  let tokens: readonly { readonly token: ClientToken; readonly hash: Buffer }[] = [];
  const refresh = (): void => {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    const mark = stat === undefined ? "" : [stat.ino, stat.mtimeNs, stat.size, stat.mode].join(" ");
    if (mark === seen) return;
    seen = mark;
    entries = [];
    try {
      entries = readClientTokens(file);
    } catch (error) {
      log.error({ err: error }, "the client tokens cannot be read: no token is accepted");
    }
    tokens = entries.map((token) => ({ token, hash: Buffer.from(token.sha256, "hex") }));
  };
  return {
    find(token) {
      refresh();
      const hash = hashOfToken(token);
      let found: ClientToken | undefined;
      for (const entry of tokens) if (timingSafeEqual(entry.hash, hash)) found = entry.token;
      return found;
    },
    current() {
      refresh();
      return entries;
    },
  };
}
