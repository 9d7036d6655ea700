/** What a person has to read, as Python's `metrics.reading_cost` counts it. Pure functions. */

import { type Feature, namedCategories, type Rule, type RuleSet, type Term } from "./rules";

export const READING_COST = "What there is to read: one per rule, per bound, and per category named; one for “is known” and “is missing”";

/** The reading cost of a rule set: the sum over its rules. */
export function readingCost(set: RuleSet): number {
  return set.rules.reduce((sum, rule) => sum + ruleCost(rule, set.features), 0);
}

/** One for the rule, and what its terms cost. */
export function ruleCost(rule: Pick<Rule, "terms">, features: readonly Feature[]): number {
  return rule.terms.reduce((sum, term) => sum + termCost(term, features[term.feature]), 1);
}

/** The number of bounds, or of categories by which the term is shown; at least 1, as for `is known` and `is missing`. */
function termCost(term: Term, feature: Feature): number {
  const nRead = term.codes === null ? [term.low, term.high].filter(Number.isFinite).length : namedCategories(term.codes, feature).codes.length;
  return Math.max(nRead, 1);
}
