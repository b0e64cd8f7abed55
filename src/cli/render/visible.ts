import { cutToCodePoints } from "../../base/codePoints.js";
import { DIRECTION_MARKS } from "../../base/directionMarks.js";

const STEERING = new RegExp(`[\\p{Cc}${DIRECTION_MARKS}]+`, "gu");

/**
 * A text of somebody else's on one line, without characters that steer a terminal or turn the direction of what follows.
 * @param limit most characters, as code points: close enough to columns; a mark stands where the text was cut
 */
export function visible(text: string, limit = Infinity): string {
  return cutToCodePoints(text.replaceAll(STEERING, " "), limit, "…");
}
