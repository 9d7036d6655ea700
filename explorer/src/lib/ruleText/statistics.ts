/** The check of a rule's numbers, worded as Python's rules/rule.py words it. */

import type { Statistic } from "../rules";
import { strOfFloat } from "./python";

/** The problem with the numbers of a rule, or null. */
export function statisticsProblem({ confidence, cover, correct, weight }: Record<Statistic, number>): string | null {
  if (!(confidence >= 0 && confidence <= 1)) {
    return `The rule has confidence ${strOfFloat(confidence)}; it must lie between 0 and 1`;
  }
  // Sums of sample weights may differ in their last digits.
  if (!(correct >= 0 && correct * (1 - 1e-9) <= cover && cover < Infinity)) {
    const [given, right] = [strOfFloat(cover), strOfFloat(correct)];
    return `The rule covers ${given} rows and is correct on ${right}; expected 0 ≤ correct ≤ cover, both finite`;
  }
  return Number.isFinite(weight) ? null : `The rule has weight ${strOfFloat(weight)}; it must be finite`;
}
