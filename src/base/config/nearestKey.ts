/**
 * The known key that a typo most likely meant: at most 3 edits, and fewer than half of the typed length. Two neighbours that changed
 * places are one edit. Else the only key that goes on where the typed one ends, such as `hello_ms` after `hello`.
 */
export function nearestKey(typed: string, known: readonly string[]): string | undefined {
  let best: { key: string; edits: number } | undefined;
  for (const key of known) {
    const edits = editDistance(typed.toLowerCase(), key.toLowerCase());
    if (edits <= 3 && edits * 2 < typed.length + 1 && (!best || edits < best.edits)) best = { key, edits };
  }
  const [longer, ...more] = known.filter((key) => typed !== "" && key.startsWith(`${typed.toLowerCase()}_`));
  return best?.key ?? (more.length === 0 ? longer : undefined);
}

function editDistance(a: string, b: string): number {
  let beforePrevious: readonly number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replace = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swap = swapped ? (beforePrevious[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(replace, swap, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
