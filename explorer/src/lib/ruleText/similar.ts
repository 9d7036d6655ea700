/** The known name that was probably meant, by the same measure as Python's difflib.get_close_matches. */

const CUTOFF = 0.6;

/** The known name most similar to `name`, of equally similar ones the last by code points; null if none is similar. */
export function closest(name: string, known: Iterable<string>): string | null {
  const letters = Array.from(name);
  let best: string | null = null;
  let bestRatio = CUTOFF;
  for (const other of known) {
    const ratio = similarity(Array.from(other), letters);
    if (ratio > bestRatio || (ratio === bestRatio && (best === null || isAfter(other, best)))) [best, bestRatio] = [other, ratio];
  }
  return best;
}

/** The fraction of all letters of both that lie in matching blocks. */
function similarity(a: readonly string[], b: readonly string[]): number {
  const nBoth = a.length + b.length;
  if (nBoth === 0) return 1;
  // At most all letters of the shorter one match.
  if ((2 * Math.min(a.length, b.length)) / nBoth < CUTOFF) return 0;
  const places = new Map<string, number[]>();
  b.forEach((letter, j) => places.set(letter, [...(places.get(letter) ?? []), j]));
  return (2 * matching(a, 0, a.length, 0, b.length, places)) / nBoth;
}

/** The letters of the longest common block (the first of equals), and of the matching blocks on both sides of it. */
function matching(
  a: readonly string[],
  aFrom: number,
  aTo: number,
  bFrom: number,
  bTo: number,
  places: ReadonlyMap<string, readonly number[]>,
): number {
  let [bestI, bestJ, size] = [aFrom, bFrom, 0];
  let lengths = new Map<number, number>();
  for (let i = aFrom; i < aTo; i++) {
    const next = new Map<number, number>();
    for (const j of places.get(a[i]) ?? []) {
      if (j < bFrom || j >= bTo) continue;
      const length = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > size) [bestI, bestJ, size] = [i - length + 1, j - length + 1, length];
    }
    lengths = next;
  }
  if (size === 0) return 0;
  return (
    size +
    matching(a, aFrom, bestI, bFrom, bestJ, places) +
    matching(a, bestI + size, aTo, bestJ + size, bTo, places)
  );
}

function isAfter(a: string, b: string): boolean {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = (left[i].codePointAt(0) ?? 0) - (right[i].codePointAt(0) ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return left.length > right.length;
}
