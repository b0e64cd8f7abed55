import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

import { fitting } from "../base/fitting.js";
import { LIMITS } from "../base/limits.js";
import { RpcError } from "./rpcError.js";

/** A place in a list: the sort key of the last row of a page. */
export type PagePlace = readonly (string | number)[];

/** Makes and reads the page tokens of one home: opaque, and refused where they were not made for the same list and filter. */
export interface PageTokens {
  /** The token that continues after `place`. */
  make(list: PagePlace, place: PagePlace): string;
  /** The place that a token names; undefined for the first page. @throws RpcError INVALID_PAGE_TOKEN. */
  read(list: PagePlace, token: string): PagePlace | undefined;
}

const MAC_BYTES = 16;

/** Signs with a key derived from the home's, so that tokens outlive a restart and nobody else can make one. */
export function createPageTokens(homeKey: Uint8Array): PageTokens {
  const key = Buffer.from(hkdfSync("sha256", homeKey, "", "talaria page token", 32));
  const macOf = (list: PagePlace, place: string): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([list, place]))
      .digest()
      .subarray(0, MAC_BYTES);
  return {
    make(list, place) {
      const text = JSON.stringify(place);
      return Buffer.concat([macOf(list, text), Buffer.from(text, "utf8")]).toString("base64url");
    },
    read(list, token) {
      if (token === "") return undefined;
      const bytes = Buffer.from(token, "base64url");
      const text = bytes.subarray(MAC_BYTES).toString("utf8");
      const mac = bytes.subarray(0, MAC_BYTES);
      if (mac.length !== MAC_BYTES || !timingSafeEqual(mac, macOf(list, text)))
        throw new RpcError("INVALID_PAGE_TOKEN");
      return JSON.parse(text) as PagePlace;
    },
  };
}

/** Rows of a page: what was asked for, or the default for 0. */
export function pageSizeOf(asked: number): number {
  return asked === 0 ? LIMITS.pageSize : asked;
}

/**
 * One page made of up to `size + 1` rows: the rows, and the place to go on from where there are more. A page holds fewer than `size` where
 * more would be too much for one message.
 * @param textBytes bytes of a row's texts that may be long; default none
 */
export function cutPage<Row>(
  rows: readonly Row[],
  size: number,
  textBytes: (row: Row) => number = () => 0,
): { readonly page: readonly Row[]; readonly last?: Row } {
  const most = Math.max(1, fitting(rows, textBytes, LIMITS.pageBytes).length);
  const page = rows.slice(0, Math.min(size, most));
  const last = rows.length > page.length ? page.at(-1) : undefined;
  return last === undefined ? { page } : { page, last };
}
