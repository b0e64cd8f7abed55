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

/** Trims a body and checks its length. @throws RpcError EMPTY_BODY or BODY_TOO_LONG. */
export function checkBody(text: string): CheckedBody {
  const body = text.trim();
  if (body === "") throw reasonError("EMPTY_BODY");
  if (exceedsCodePoints(body, LIMITS.bodyCodePoints)) {
    throw reasonError("BODY_TOO_LONG", undefined, {
      metadata: { code_points: String(countCodePoints(body)), limit: String(LIMITS.bodyCodePoints) },
    });
  }
  return { body, bodyCodePoints: countCodePoints(body), bodyBytes: Buffer.byteLength(body, "utf8") };
}
