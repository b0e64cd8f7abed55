import { createHash } from "node:crypto";

import { countCodePoints, cutToCodePoints } from "../../base/codePoints.js";
import { LIMITS } from "../../base/limits.js";
import type { StoredReply } from "./storedDelivery.js";

/** The reply that a receipt carries for an answer: the text up to the inline limit, digest and size of the whole. */
export function makeReply(answer: string): StoredReply {
  const text = cutToCodePoints(answer, LIMITS.replyCodePoints);
  return {
    text,
    truncated: text.length < answer.length,
    sha256: createHash("sha256").update(answer, "utf8").digest(),
    codePoints: countCodePoints(answer),
  };
}
