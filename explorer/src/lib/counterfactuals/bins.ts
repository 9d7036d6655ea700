/** The bins into which the thresholds of all rules cut the axis of a feature. */

import { nextAbove, shortestDecimal } from "../decimals";
import { holds, type RuleSet } from "../rules";
import type { Column } from "../table";
import { finiteValues } from "./units";

/** How far from a threshold a readable value may lie, in units of the feature's spread. */
const SLACK = 0.01;

/** The bins of one feature, and the value to move to in each from either side. */
export interface Axis {
  readonly feature: number;
  /** Upper ends of all bins but the last; null for categories, whose bins are their codes. */
  readonly cuts: Float64Array | null;
  readonly nBins: number;
  readonly fromBelow: Float64Array;
  readonly fromAbove: Float64Array;
  /** Per rule that tests the feature, by place: in which bins its term holds. */
  readonly accepts: ReadonlyMap<number, Uint8Array>;
}

/** Per feature that rules test, all finite thresholds, ascending. */
export function cutsOf(set: RuleSet): Map<number, Float64Array> {
  const found = new Map<number, Set<number>>();
  for (const rule of set.rules) {
    for (const { feature, low, high } of rule.terms) {
      let cuts = found.get(feature);
      if (cuts === undefined) found.set(feature, (cuts = new Set()));
      for (const bound of [low, high]) if (Number.isFinite(bound)) cuts.add(bound);
    }
  }
  return new Map([...found].map(([feature, cuts]) => [feature, Float64Array.from(cuts).sort()]));
}

export function axisOf(set: RuleSet, place: number, cuts: Float64Array | undefined, unit: number, column: Column | null): Axis {
  const { kind, categories } = set.features[place];
  if (kind === "categorical") {
    const codes = Float64Array.from((categories ?? []).keys());
    return { feature: place, cuts: null, nBins: codes.length, fromBelow: codes, fromAbove: codes, accepts: acceptedBins(set, place, null, codes) };
  }
  if (kind === "binary") {
    const values = Float64Array.of(0, 1);
    return { feature: place, cuts: Float64Array.of(0), nBins: 2, fromBelow: values, fromAbove: values, accepts: acceptedBins(set, place, null, values) };
  }
  const thresholds = cuts ?? new Float64Array(0);
  const [fromBelow, fromAbove] = nearestValues(thresholds, unit, column !== null && holdsWholeNumbers(column));
  return { feature: place, cuts: thresholds, nBins: thresholds.length + 1, fromBelow, fromAbove, accepts: acceptedBins(set, place, thresholds, fromBelow) };
}

function holdsWholeNumbers(column: Column): boolean {
  const values = finiteValues(column);
  return values.length > 0 && values.every(Number.isInteger);
}

/** Per bin the values to move to from below and from above; NaN or infinite where there is none. */
function nearestValues(cuts: Float64Array, unit: number, isWhole: boolean): [below: Float64Array, above: Float64Array] {
  const below = new Float64Array(cuts.length + 1).fill(NaN);
  const above = Float64Array.of(...cuts, Infinity);
  for (let bin = 0; bin <= cuts.length; bin++) {
    const low = bin === 0 ? -Infinity : cuts[bin - 1];
    const high = bin === cuts.length ? Infinity : cuts[bin];
    if (isWhole) {
      const last = Math.floor(high);
      above[bin] = last > low ? last : NaN;
      const first = Number.isFinite(low) ? Math.floor(low) + 1 : Infinity;
      below[bin] = low < first && first <= high ? first : NaN;
      continue;
    }
    if (Number.isFinite(low)) {
      const first = nextAbove(low);
      const last = Math.max(Math.min(high, low + SLACK * unit), first);
      if (Number.isFinite(last)) below[bin] = shortestDecimal(first, nextAbove(last), first);
    }
    if (Number.isFinite(high) && Number(high.toPrecision(4)) !== high) {
      const first = Math.max(nextAbove(low), high - SLACK * unit);
      if (Number.isFinite(first)) above[bin] = shortestDecimal(first, nextAbove(high), high);
    }
  }
  return [below, above];
}

/** In which bins each rule's term holds. Every bound is a cut, so a bin lies inside an interval or outside of it. */
function acceptedBins(set: RuleSet, place: number, cuts: Float64Array | null, values: Float64Array): Map<number, Uint8Array> {
  const accepts = new Map<number, Uint8Array>();
  set.rules.forEach((rule, r) => {
    for (const term of rule.terms) {
      if (term.feature !== place) continue;
      const isInside = (bin: number) =>
        cuts === null
          ? holds(term, values[bin])
          : (bin === 0 ? -Infinity : cuts[bin - 1]) >= term.low && (bin === cuts.length ? Infinity : cuts[bin]) <= term.high;
      accepts.set(r, Uint8Array.from(values, (_, bin) => (isInside(bin) ? 1 : 0)));
    }
  });
  return accepts;
}

/** The bin of a value; −1 for an unknown category. */
export function binOf(axis: Axis, value: number): number {
  if (axis.cuts === null) return value >= 0 && value < axis.nBins ? value : -1;
  let low = 0;
  let high = axis.cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (axis.cuts[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
