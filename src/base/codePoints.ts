/** Length in Unicode code points, the unit of every text bound in the contract. A lone surrogate counts as one. */
export function countCodePoints(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length - 1; i++) {
    if (isPairAt(text, i)) {
      pairs++;
      i++;
    }
  }
  return text.length - pairs;
}

/** Whether `text` has more than `limit` code points; stops counting as soon as that is known. */
export function exceedsCodePoints(text: string, limit: number): boolean {
  return text.length > limit && indexAfter(text, limit) < text.length;
}

/**
 * The first `limit` code points of `text`; never splits a surrogate pair.
 * @param mark appended where something was cut, and counted in the limit.
 */
export function cutToCodePoints(text: string, limit: number, mark = ""): string {
  if (!exceedsCodePoints(text, limit)) return text;
  const room = limit - countCodePoints(mark);
  return room < 0 ? text.slice(0, indexAfter(text, limit)) : text.slice(0, indexAfter(text, room)) + mark;
}

/** `text` in pieces of at most `limit` code points, which splits no surrogate pair; none for an empty one. */
export function piecesOf(text: string, limit: number): readonly string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== "";) {
    const end = indexAfter(rest, limit);
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return pieces;
}

/** `text` without white space at either end, then cut to `limit` code points. */
export function trimToCodePoints(text: string, limit: number, mark = ""): string {
  return cutToCodePoints(text.trim(), limit, mark);
}

/** Replaces each lone surrogate and each U+0000 by U+FFFD, so that the text survives UTF-8 and the store unchanged afterwards. */
export function toWellFormed(text: string): string {
  return text.replace(/\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, "\uFFFD");
}

function indexAfter(text: string, codePoints: number): number {
  let index = 0;
  for (let left = codePoints; left > 0 && index < text.length; left--) index += isPairAt(text, index) ? 2 : 1;
  return index;
}

function isPairAt(text: string, index: number): boolean {
  const high = text.charCodeAt(index);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(index + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}
