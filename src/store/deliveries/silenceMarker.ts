import { exceedsCodePoints } from "../../base/codePoints.js";

/** An answer longer than this is never a marker, code points. */
const LONGEST_MARKER = 64;
const MARKERS: ReadonlySet<string> = new Set(["silent", "noreply", "静默", "沉默"]);
const EDGES = /^[\s\p{P}]+|[\s\p{P}]+$/gu;
const INSIDE = /[\s_]+/gu;

/**
 * Whether a whole answer says that its agent chose not to answer: empty, or one of `SILENT`, `NO_REPLY` and their Chinese
 * forms, whatever the case, the spaces inside and the punctuation around. Prose that mentions a marker is none.
 */
export function isSilence(answer: string): boolean {
  const text = answer.trim();
  if (text === "") return true;
  if (exceedsCodePoints(text, LONGEST_MARKER)) return false;
  return MARKERS.has(text.replace(EDGES, "").replace(INSIDE, "").toLowerCase());
}
