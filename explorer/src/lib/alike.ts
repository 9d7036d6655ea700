/** An order in which similar rules are next to each other: by class, then from each rule to the most similar one left. */

import type { Rule, RuleSet } from "./rules";

/** Beyond this number of rules, only equal sets of features bring rules together. */
const MOST_PAIRED = 600;

export function alikeTogether(set: RuleSet, places: readonly number[]): number[] {
  const byClass = new Map<number, number[]>();
  for (const place of places) {
    const { classIndex } = set.rules[place];
    byClass.set(classIndex, [...(byClass.get(classIndex) ?? []), place]);
  }
  const classes = [...byClass.keys()].sort((a, b) => a - b);
  return classes.flatMap((c) => chained(set, byClass.get(c) ?? []));
}

function chained(set: RuleSet, places: readonly number[]): number[] {
  if (places.length > MOST_PAIRED) {
    const key = (place: number) => set.rules[place].terms.map((term) => term.feature).join();
    return [...places].sort((a, b) => key(a).localeCompare(key(b), "en", { numeric: true }) || a - b);
  }
  const parts = new Map(places.map((place) => [place, partsOf(set.rules[place])]));
  const left = new Set(places);
  const order: number[] = [];
  let last = places[0];
  while (left.size > 0) {
    let [best, likeness] = [-1, -1];
    for (const place of left) {
      const own = order.length === 0 ? (place === last ? 2 : 0) : similarity(parts.get(last), parts.get(place));
      if (own > likeness) [best, likeness] = [place, own];
    }
    left.delete(best);
    order.push(best);
    last = best;
  }
  return order;
}

/** What a rule tests: features, and the sides on which it bounds them. */
function partsOf(rule: Rule): ReadonlySet<string> {
  return new Set(
    rule.terms.flatMap(({ feature, low, high, codes }) => {
      const sides = [low > -Infinity ? `${feature}>` : "", high < Infinity ? `${feature}<` : ""].filter((side) => side !== "");
      return [String(feature), ...sides, ...(codes ?? []).map((code) => `${feature}=${code}`)];
    }),
  );
}

function similarity(a: ReadonlySet<string> | undefined, b: ReadonlySet<string> | undefined): number {
  if (a === undefined || b === undefined) return 0;
  let common = 0;
  for (const part of a) if (b.has(part)) common++;
  return common / Math.max(1, a.size + b.size - common);
}
