/** What is written at a time, UTF-16 units. */
const PIECE = 8_192;
/** What is looked at behind a cut: a secret that is longer than this is only found where it ends in the text. */
const AHEAD = 1_024;
/** Longest text in which a place is sought that no secret spans. */
const LONGEST = 65_536;

/** The beginning of a text, clean, and the rest of it as it came. */
export interface CutText {
  readonly clean: string;
  readonly rest: string;
}

/**
 * Cuts a piece off a text that may go on, between lines where there are any, so that no secret is cut in two: what is hidden in the text is
 * the same before the cut and behind it. Undefined while there is too little to tell.
 * @param hide makes a text clean
 */
export function cutClean(text: string, hide: (text: string) => string): CutText | undefined {
  if (text.length < PIECE + AHEAD) return undefined;
  const near = text.slice(0, PIECE + AHEAD);
  const whole = hide(near);
  for (let most = PIECE; most >= AHEAD; most /= 2) {
    const at = near.lastIndexOf("\n", most - 1) + 1 || wholeCharacters(near, most);
    const before = hide(near.slice(0, at));
    if (before + hide(near.slice(at)) === whole) return { clean: before, rest: text.slice(at) };
  }
  // Something is hidden that may be as long as a key's block: its end is waited for.
  return text.length < LONGEST ? undefined : { clean: hide(text), rest: "" };
}

/** A place no later than `at` that splits no surrogate pair. */
function wholeCharacters(text: string, at: number): number {
  return /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) ? at - 1 : at;
}
