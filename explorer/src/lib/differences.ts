/** What differs between two rule sets, for the Compare view. Pure functions. */

import type { Scalar } from "../payload";
import type { Flips } from "./compare";
import type { Evaluation } from "./evaluate";
import type { RuleSet } from "./rules";

/** Decisions as places in the report's classes, so that they compare with its labels; unknown classes match none. */
export function relabelled(found: Evaluation, original: RuleSet): Evaluation {
  if (found.set.classes === original.classes) return found;
  const places = found.set.classes.map((label) => original.classes.indexOf(label)).map((place) => (place < 0 ? 0xffff : place));
  const placed = (codes: Uint16Array) => codes.map((code) => places[code] ?? 0xffff);
  return { ...found, decisions: placed(found.decisions), outcomes: placed(found.outcomes) };
}

interface Way {
  key: string;
  from: Scalar;
  to: Scalar;
  rows: number[];
}

/** Flips grouped by the decisions before and after, the most common first. */
export function waysOf(flips: Flips): Way[] {
  const ways = new Map<string, Way>();
  flips.rows.forEach((row, i) => {
    const [from, to] = [flips.before[i], flips.after[i]];
    const key = JSON.stringify([from, to]);
    const known = ways.get(key);
    if (known === undefined) ways.set(key, { key, from, to, rows: [row] });
    else known.rows.push(row);
  });
  return [...ways.values()].sort((a, b) => b.rows.length - a.rows.length);
}
