import { reasonError } from "../../rpc/rpcError.js";

const FORM = /^d1\.([1-9][0-9]{0,15})$/;

/** The token of the page after a delivery; opaque to clients. */
export function pageToken(sequence: number): string {
  return Buffer.from(`d1.${String(sequence)}`, "utf8").toString("base64url");
}

/** The place that a token stands for; undefined for the first page. @throws RpcError INVALID_PAGE_TOKEN. */
export function placeOfToken(token: string): number | undefined {
  if (token === "") return undefined;
  const [, place] = FORM.exec(Buffer.from(token, "base64url").toString("utf8")) ?? [];
  if (place === undefined || pageToken(Number(place)) !== token) throw reasonError("INVALID_PAGE_TOKEN");
  return Number(place);
}
