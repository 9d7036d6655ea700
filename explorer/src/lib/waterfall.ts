/** How a decision comes about, vote by vote: from the base votes through every rule that fired to the totals. */

import type { RowEvaluation } from "./evaluateRow";
import type { RuleSet } from "./rules";
import { divisorsOf, startOf, strongestFirst, votesOf } from "./votes";

export interface Step {
  /** The rule's place; null for several rules together. */
  readonly place: number | null;
  readonly classIndex: number;
  /** What the rule adds to the total of its class. */
  readonly votes: number;
  /** The lead of the decided class over the runner-up, before and after this step. */
  readonly from: number;
  readonly to: number;
  /** Rules without priority do not count where one with priority fires. */
  readonly isOverruled: boolean;
}

export interface Waterfall {
  readonly decision: number;
  readonly runnerUp: number;
  /** Base votes per class; all 0 where there are none. */
  readonly base: readonly number[];
  /** The lead that the base votes give. */
  readonly start: number;
  readonly steps: readonly Step[];
  /** Votes per class. */
  readonly totals: readonly number[];
  readonly lead: number;
}

export function waterfallOf(set: RuleSet, found: RowEvaluation): Waterfall {
  const { fired, isPriority, scores, decision } = found;
  const totals = Array.from(scores);
  const runnerUp = totals.reduce((best, score, c) => (c !== decision && (best === decision || score > totals[best]) ? c : best), decision);
  const divisors = divisorsOf(set);
  const divisor = isPriority ? divisors.priority : divisors.others;
  const base = startOf(set).map((votes, c) => (isPriority ? 0 : votes / divisor[c]));
  const start = runnerUp === decision ? base[decision] : base[decision] - base[runnerUp];
  let lead = start;
  const steps = strongestFirst(fired, set, decision).map((place): Step => {
    const rule = set.rules[place];
    const isOverruled = rule.priority !== isPriority;
    const votes = isOverruled ? 0 : votesOf(rule, set.voting) / divisor[rule.classIndex];
    const from = lead;
    if (rule.classIndex === decision) lead += votes;
    else if (rule.classIndex === runnerUp) lead -= votes;
    return { place, classIndex: rule.classIndex, votes, from, to: lead, isOverruled };
  });
  return { decision, runnerUp, base, start, steps, totals, lead };
}
