import { cutToCodePoints, toWellFormed } from "../../base/codePoints.js";

/**
 * A name that came from elsewhere, fit to be shown on one line: control, unassigned and private-use characters and direction
 * overrides left out, trimmed and cut. It is never parsed and never routes.
 */
export function displayText(text: string, limit: number): string {
  const clean = text.replace(/[\p{Cc}\p{Cn}\p{Co}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, "");
  return cutToCodePoints(toWellFormed(clean).trim(), limit, "…");
}
