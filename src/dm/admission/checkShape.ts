import { countCodePoints, exceedsCodePoints } from "../../base/codePoints.js";
import { LIMITS } from "../../base/limits.js";
import { invalidField, reasonError } from "../../rpc/rpcError.js";

const KEY = /^[A-Za-z0-9._:-]{1,128}$/;

/** Checks a key. @throws RpcError INVALID_FIELD. */
export function checkKey(key: string, field = "request_id"): void {
  if (!KEY.test(key)) throw invalidField(field, "must be 1 to 128 characters of [A-Za-z0-9._:-]");
}

/** A body that may be sent. */
export interface CheckedBody {
  /** Without white space at either end. */
  readonly body: string;
  readonly bodyCodePoints: number;
  /** Bytes of UTF-8. */
  readonly bodyBytes: number;
}

/** Trims a body and checks it. @throws RpcError EMPTY_BODY, BODY_TOO_LONG, or INVALID_FIELD for U+0000, which no store keeps. */
export function checkBody(text: string): CheckedBody {
  const body = text.trim();
  if (body === "") throw reasonError("EMPTY_BODY");
  if (body.includes("\0")) throw invalidField("body", "must not hold U+0000");
  if (exceedsCodePoints(body, LIMITS.bodyCodePoints)) {
    throw reasonError("BODY_TOO_LONG", undefined, {
      metadata: { code_points: String(countCodePoints(body)), limit: String(LIMITS.bodyCodePoints) },
    });
  }
  const bodyBytes = Buffer.byteLength(body, "utf8");
  return { body, bodyBytes, bodyCodePoints: bodyBytes === body.length ? bodyBytes : countCodePoints(body) };
}
