/** The rule of another set that is most like a rule, and what differs, in words. Pure functions. */

import { type Bits, countBits, countCommon } from "./bits";
import type { Evaluation } from "./evaluate";
import { type Rule, type RuleSet, sameTerm } from "./rules";
import { describeCondition, describeTerm, featureName, formatLabel, MOST_CATEGORIES, shortNumber } from "./text";

export interface Nearest {
  readonly place: number;
  /** Rows that both cover ÷ rows that one of them covers. */
  readonly shared: number;
}

/**
 * The nearest rule of `other`, by the rows that both cover and the features that both test; null if none has anything in
 * common. Both evaluations are on the rows of the page, over its features.
 */
export function nearestRule(rule: Rule, cover: Bits, own: RuleSet, other: Evaluation): Nearest | null {
  const label = own.classes[rule.classIndex];
  const features = new Set(rule.terms.map((term) => term.feature));
  const n = countBits(cover);
  let best: Nearest | null = null;
  let most = 0;
  other.set.rules.forEach((candidate, place) => {
    const common = countCommon(cover, other.covers[place]);
    const shared = common / Math.max(1, n + countBits(other.covers[place]) - common);
    const nCommon = candidate.terms.filter((term) => features.has(term.feature)).length;
    const alike = nCommon / Math.max(1, features.size + candidate.terms.length - nCommon);
    const likeness = (shared + 0.5 * alike) * (other.set.classes[candidate.classIndex] === label ? 1 : 0.25);
    if (likeness > most) [best, most] = [{ place, shared }, likeness];
  });
  return best;
}

/** What a rule has instead of the nearest one: `age ≤ 45 instead of ≤ 47, without job = nurse`. Terms over the same features. */
export function differenceInWords(rule: Rule, own: RuleSet, nearest: Rule, other: RuleSet): string {
  const parts: string[] = [];
  const [is, was] = [own.classes[rule.classIndex], other.classes[nearest.classIndex]];
  if (is !== was) parts.push(`for ${formatLabel(is)} instead of ${formatLabel(was)}`);
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
  if (own.voting === "weights" && other.voting === "weights" && rule.weight !== nearest.weight) parts.push(`weight ${shortNumber(rule.weight)} instead of ${shortNumber(nearest.weight)}`);
  return parts.join(", ") || "the same conditions";
}
