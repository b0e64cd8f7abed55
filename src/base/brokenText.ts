/**
 * What stands between the characters of a text without being seen as part of it: line breaks, the escape sequences of terminals, other
 * control characters and zero-width ones; also as JSON writes them.
 */
const SEAM =
  /(?:\u001b|\\u001b)(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]{0,200}(?:\u0007|\u001b\\))?|[\u0000-\u001f\u007f\u00ad\u200b-\u200f\u2060\ufeff]|\\(?:[nrt]|u00[01][0-9a-f]|u200[b-f]|u2060|ufeff)/gi;

const UNSEEN =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]{0,200}(?:\u0007|\u001b\\))?|[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** `text` without what a terminal does not show; its lines and tabs stay. */
export function withoutUnseen(text: string): string {
  return text.replace(UNSEEN, "");
}

/**
 * Replaces every occurrence of `parts` that is broken by line breaks or unseen characters, with what breaks it. One that stands whole
 * is replaced too.
 * @param parts longest first; an occurrence inside another one counts for nothing
 */
export function replaceBroken(text: string, parts: readonly string[], replacement: string): string {
  const bare = text.replace(SEAM, "");
  if (bare.length === text.length) return text;
  const present = parts.filter((part) => bare.includes(part));
  if (present.length === 0) return text;
  const places = placesIn(text);
  const ranges: (readonly [from: number, to: number])[] = [];
  for (const part of present) {
    for (let at = bare.indexOf(part); at >= 0; at = bare.indexOf(part, at + part.length)) {
      const [from, to] = [places[at] ?? 0, (places[at + part.length - 1] ?? 0) + 1];
      if (ranges.every(([begin, end]) => to <= begin || from >= end)) ranges.push([from, to]);
    }
  }
  ranges.sort(([a], [b]) => b - a);
  return ranges.reduce((rest, [from, to]) => rest.slice(0, from) + replacement + rest.slice(to), text);
}

/** Where each character of the bare text stands in the whole one. */
function placesIn(text: string): readonly number[] {
  const places: number[] = [];
  let at = 0;
  for (const { index, 0: seam } of text.matchAll(SEAM)) {
    for (; at < index; at += 1) places.push(at);
    at = index + seam.length;
  }
  for (; at < text.length; at += 1) places.push(at);
  return places;
}
