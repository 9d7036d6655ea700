/** What the rules predict as one value of a row changes. Pure functions. */

import { nextAbove } from "../../lib/decimals";
import type { NumberRules } from "./rules";
import { sumOnRow } from "./sums";

/** Along a part of the axis, from just above `from` up to `to`, the prediction goes from `start` to `end`. */
export interface CurvePart {
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly end: number;
}

/** With the link "log", a linear term bends the curve; this many straight parts stand for it. */
const N_BENT = 24;

/** The prediction for every value between two ends of a numeric feature. */
export function curveOf(set: NumberRules, values: readonly number[], feature: number, low: number, high: number): CurvePart[] {
  const at = (value: number): number => sumOnRow(set, values.map((other, place) => (place === feature ? value : other))).response;
  const inside = cutsOf(set, feature).filter((cut) => cut > low && cut < high);
  const isBent = set.link === "log" && set.linear.some((term) => term.feature === feature);
  const steps = isBent ? Array.from({ length: N_BENT - 1 }, (_, i) => low + ((high - low) * (i + 1)) / N_BENT) : [];
  const ends = [...new Set([low, ...inside, ...steps, high])].sort((a, b) => a - b);
  // A bound belongs to the part below it, so that part begins just above the last one.
  return ends.slice(1).map((to, i) => ({ from: ends[i], to, start: at(i === 0 ? low : nextAbove(ends[i])), end: at(to) }));
}

/** Values at which the prediction may jump or bend. */
function cutsOf(set: NumberRules, feature: number): number[] {
  const cuts = set.rules.flatMap((rule) => rule.terms.filter((term) => term.feature === feature).flatMap((term) => [term.low, term.high]));
  for (const term of set.linear) if (term.feature === feature) cuts.push(term.low, term.high);
  return cuts.filter(Number.isFinite);
}

/** The prediction for each category (or false and true), then for a missing value. */
export function predictionsOf(set: NumberRules, values: readonly number[], feature: number): { categories: number[]; missing: number } {
  const at = (value: number): number => sumOnRow(set, values.map((other, place) => (place === feature ? value : other))).response;
  const nCategories = set.features[feature].categories?.length ?? (set.features[feature].kind === "binary" ? 2 : 0);
  return { categories: Array.from({ length: nCategories }, (_, code) => at(code)), missing: at(NaN) };
}
