/** The rule of another set that is most like a rule, and what differs, in words. Pure functions. */

import { type Bits, countBits, countCommon } from "./bits";
import type { RuleKind } from "./kind";
import { type AnyRule, type AnyRules, sameTerm } from "./rules";
import { describeCondition, describeTerm, featureName, MOST_CATEGORIES } from "./text";

export interface Nearest {
  readonly place: number;
  /** Rows that both cover ÷ rows that one of them covers. */
  readonly shared: number;
}

/** Rules with the rows of the page on which each of them holds. */
export interface Covered<S extends AnyRules = AnyRules> {
  readonly set: S;
  readonly covers: readonly Bits[];
}

/**
 * The nearest rule of `other`, by the rows that both cover and the features that both test; null if none has anything in
 * common. Both sets are over the features of the page.
 */
export function nearestRule<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, rule: R, cover: Bits, own: S, other: Covered<S>): Nearest | null {
  const features = new Set(rule.terms.map((term) => term.feature));
  const n = countBits(cover);
  let best: Nearest | null = null;
  let most = 0;
  other.set.rules.forEach((candidate, place) => {
    const common = countCommon(cover, other.covers[place]);
    const shared = common / Math.max(1, n + countBits(other.covers[place]) - common);
    const nCommon = candidate.terms.filter((term) => features.has(term.feature)).length;
    const alike = nCommon / Math.max(1, features.size + candidate.terms.length - nCommon);
    const likeness = (shared + 0.5 * alike) * (kind.isAlike(rule, own, candidate, other.set) ? 1 : 0.25);
    if (likeness > most) [best, most] = [{ place, shared }, likeness];
  });
  return best;
}

/** What a rule has instead of the nearest one: `age ≤ 45 instead of ≤ 47, without job = nurse`. Terms over the same features. */
export function differenceInWords<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, rule: R, own: S, nearest: R, other: S): string {
  const [first, last] = kind.insteadOf(rule, own, nearest, other);
  const parts = [...first];
  const { features } = other;
  for (const term of rule.terms) {
    const feature = features[term.feature];
    const before = nearest.terms.find((one) => one.feature === term.feature);
    if (before === undefined) parts.push(`also ${describeTerm(term, feature, MOST_CATEGORIES)}`);
    else if (!sameTerm(term, before)) parts.push(`${featureName(feature)} ${describeCondition(term, feature, MOST_CATEGORIES)} instead of ${describeCondition(before, feature, MOST_CATEGORIES)}`);
  }
  for (const term of nearest.terms) {
    if (!rule.terms.some((one) => one.feature === term.feature)) parts.push(`without ${describeTerm(term, features[term.feature], MOST_CATEGORIES)}`);
  }
  return [...parts, ...last].join(", ") || "the same conditions";
}
