import { cutToCodePoints, toWellFormed } from "../../base/codePoints.js";
import { DIRECTION_MARKS } from "../../base/directionMarks.js";

const HIDDEN = new RegExp(`[\\p{Cc}\\p{Cn}\\p{Co}${DIRECTION_MARKS}]`, "gu");

/**
 * A name that came from elsewhere, fit to be shown on one line: control, unassigned and private-use characters and direction
 * marks left out, trimmed and cut. It is never parsed and never routes.
 */
export function displayText(text: string, limit: number): string {
  const clean = text.replace(HIDDEN, "");
  return cutToCodePoints(toWellFormed(clean).trim(), limit, "…");
}
