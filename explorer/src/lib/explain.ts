/** Near misses: rules that almost fired on a row. */

import { holds, type Rule, type Term } from "./rules";

/** A rule with exactly one term that fails. */
export interface NearMiss {
  readonly place: number;
  readonly failing: Term;
  /** How far the value is from satisfying the term, in the given units; infinite if there is no such distance. */
  readonly distance: number;
}

/** The near misses on a row of encoded values, the nearest first. */
export function nearMisses(set: { readonly rules: readonly Pick<Rule, "terms">[] }, values: ArrayLike<number>, units: ArrayLike<number>): NearMiss[] {
  const found: NearMiss[] = [];
  set.rules.forEach((rule, place) => {
    const failing = rule.terms.filter((term) => !holds(term, values[term.feature]));
    if (failing.length === 1) found.push({ place, failing: failing[0], distance: distanceTo(failing[0], values[failing[0].feature], units) });
  });
  return found.sort((a, b) => a.distance - b.distance || a.place - b.place);
}

function distanceTo(term: Term, value: number, units: ArrayLike<number>): number {
  if (term.missing) return Infinity;
  if (term.codes !== null) return term.codes.length > 0 && value === value ? 1 : Infinity;
  if (value !== value || term.low >= term.high) return Infinity;
  return Math.max(value - term.high, term.low - value) / units[term.feature];
}
