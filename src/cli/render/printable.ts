import { DIRECTION_MARKS } from "../../base/directionMarks.js";

const STEERING = new RegExp(`(?![\\t\\n])[\\p{Cc}${DIRECTION_MARKS}]`, "gu");

/**
 * A text of somebody else's as a terminal may be given it: lines and tabs stay, characters that steer a terminal or turn the direction
 * of what follows become `?`. What an agent asks to run must read as what would run.
 */
export function printable(text: string): string {
  return text.replaceAll(STEERING, "?");
}
