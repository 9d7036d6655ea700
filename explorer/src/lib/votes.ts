/** How rules vote: the same arithmetic as Python's rules/voting.py. */

import type { Scalar, Voting } from "../payload";
import type { Rule, RuleSet } from "./rules";

/** The votes that a rule adds to its class where it fires. */
export function votesOf(rule: Rule, voting: Voting): number {
  switch (voting) {
    case "confidence":
      return Math.floor(1000 * rule.confidence + 0.5);
    case "weights":
      return rule.weight;
    case "majority":
    case "share":
      return 1;
  }
}

/** Whether a rule takes votes from its class where it fires; only a weight below 0 does. */
export function speaksAgainst(rule: Pick<Rule, "weight">, voting: Voting): boolean {
  return voting === "weights" && rule.weight < 0;
}

/** Places of rules, those that speak for a decision (or against another class) first, among these the ones with most votes. */
export function strongestFirst(places: readonly number[], set: RuleSet, decision: number): number[] {
  const votes = (place: number) => Math.abs(votesOf(set.rules[place], set.voting));
  const isFor = (place: number) => Number((set.rules[place].classIndex === decision) !== speaksAgainst(set.rules[place], set.voting));
  return [...places].sort((a, b) => isFor(b) - isFor(a) || votes(b) - votes(a) || a - b);
}

/** The votes that a row starts with if no rule with priority fires. */
export function startOf(set: RuleSet): readonly number[] {
  return set.voting === "weights" ? set.base : set.base.map(() => 0);
}

export interface Divisors {
  readonly others: Float64Array;
  readonly priority: Float64Array;
}

export function divisorsOf(set: RuleSet): Divisors {
  const others = new Float64Array(set.classes.length).fill(1);
  const priority = others.slice();
  if (set.voting === "share") {
    others.fill(0);
    priority.fill(0);
    for (const rule of set.rules) (rule.priority ? priority : others)[rule.classIndex]++;
    for (const counts of [others, priority]) counts.forEach((n, c) => (counts[c] = Math.max(n, 1)));
  }
  return { others, priority };
}

/** The largest score; ties go to the default class, then to the lowest place. */
export function winner(scores: ArrayLike<number>, defaultIndex: number): number {
  let best = 0;
  for (let c = 1; c < scores.length; c++) if (scores[c] > scores[best]) best = c;
  return scores[defaultIndex] === scores[best] ? defaultIndex : best;
}

/** Whether the largest score does not lead by the margin that these rules ask for, so that they abstain. */
export function abstains(scores: ArrayLike<number>, { abstention }: RuleSet): boolean {
  if (abstention === null) return false;
  let largest = scores[0];
  for (let c = 1; c < scores.length; c++) if (scores[c] > largest) largest = scores[c];
  let nNear = 0;
  for (let c = 0; c < scores.length; c++) if (largest - scores[c] < abstention.margin) nNear++;
  return nNear > 1;
}

/** What rules may say of a row: a class or, last, that they abstain. */
export function outcomesOf({ classes, abstention }: Pick<RuleSet, "classes" | "abstention">): readonly Scalar[] {
  return abstention === null ? classes : [...classes, abstention.label];
}

/** Probabilities of the scores, as `RuleSet.predict_proba` computes them. */
export function probabilitiesOf(scores: ArrayLike<number>, set: RuleSet): number[] {
  const list = Array.from(scores);
  if (set.voting === "weights") {
    const scaled = list.map((score) => score / set.scale);
    const largest = Math.max(...scaled);
    const powers = scaled.map((score) => Math.exp(score - largest));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / sum);
  }
  const sum = list.reduce((a, b) => a + b, 0);
  return list.map((score) => (sum > 0 ? score / sum : 1 / list.length));
}
