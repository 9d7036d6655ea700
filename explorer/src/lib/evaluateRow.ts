/** The decision on one row of values, whether or not it is in the report. */

import { holds, type RuleSet } from "./rules";
import { type Table, valueAt } from "./table";
import { abstains, divisorsOf, startOf, votesOf, winner } from "./votes";

/** The decision on one row of encoded values (one per feature, NaN where missing). */
export interface RowEvaluation {
  /** Places of the rules that fire. */
  readonly fired: readonly number[];
  /** Whether rules with priority decide, so that other rules that fire are overruled. */
  readonly isPriority: boolean;
  readonly scores: Float64Array;
  /** The class that leads, which is decided unless the rules abstain. */
  readonly decision: number;
  readonly isAbstained: boolean;
}

export function evaluateRow(set: RuleSet, values: ArrayLike<number>): RowEvaluation {
  const fired: number[] = [];
  set.rules.forEach((rule, r) => {
    if (rule.terms.every((term) => holds(term, values[term.feature]))) fired.push(r);
  });
  const isPriority = fired.some((r) => set.rules[r].priority);
  const scores = isPriority ? new Float64Array(set.classes.length) : Float64Array.from(startOf(set));
  for (const r of fired) {
    const rule = set.rules[r];
    if (rule.priority === isPriority) scores[rule.classIndex] += votesOf(rule, set.voting);
  }
  const divisors = divisorsOf(set);
  const divisor = isPriority ? divisors.priority : divisors.others;
  for (let c = 0; c < scores.length; c++) scores[c] /= divisor[c];
  return { fired, isPriority, scores, decision: winner(scores, set.defaultIndex), isAbstained: abstains(scores, set) };
}

/** The encoded values of a row of the table; null for features whose values are not in the report. */
export function rowValues(table: Table, row: number): (number | null)[] {
  return table.columns.map((column) => (column === null ? null : valueAt(column, row)));
}
