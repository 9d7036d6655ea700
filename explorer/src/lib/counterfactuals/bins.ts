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
  /** Places of the rules that test whether the feature is missing. */
  readonly acceptMissing: ReadonlySet<number>;
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
  const acceptMissing = new Set([...set.rules.keys()].filter((r) => set.rules[r].terms.some((term) => term.feature === place && term.missing)));
  if (kind === "categorical") {
    const codes = Float64Array.from((categories ?? []).keys());
    return { feature: place, cuts: null, nBins: codes.length, fromBelow: codes, fromAbove: codes, accepts: acceptedBins(set, place, null, codes), acceptMissing };
  }
  if (kind === "binary") {
    const values = Float64Array.of(0, 1);
    return { feature: place, cuts: Float64Array.of(0), nBins: 2, fromBelow: values, fromAbove: values, accepts: acceptedBins(set, place, null, values), acceptMissing };
  }
  const thresholds = cuts ?? new Float64Array(0);
  const [fromBelow, fromAbove] = nearestValues(thresholds, unit, rangeOf(column));
  return { feature: place, cuts: thresholds, nBins: thresholds.length + 1, fromBelow, fromAbove, accepts: acceptedBins(set, place, thresholds, fromBelow), acceptMissing };
}

/** The range of the values in the report, which no change leads out of; and whether all are whole numbers. */
interface ValueRange {
  readonly least: number;
  readonly most: number;
  readonly isWhole: boolean;
}

function rangeOf(column: Column | null): ValueRange {
  const values = column === null ? new Float64Array(0) : finiteValues(column);
  if (values.length === 0) return { least: -Infinity, most: Infinity, isWhole: false };
  return { least: values.reduce((a, b) => Math.min(a, b)), most: values.reduce((a, b) => Math.max(a, b)), isWhole: values.every(Number.isInteger) };
}

/** Per bin the values to move to from below and from above; NaN where there is none. */
function nearestValues(cuts: Float64Array, unit: number, range: ValueRange): [below: Float64Array, above: Float64Array] {
  const below = new Float64Array(cuts.length + 1);
  const above = new Float64Array(cuts.length + 1);
  for (let bin = 0; bin <= cuts.length; bin++) {
    const low = bin === 0 ? -Infinity : cuts[bin - 1];
    const high = bin === cuts.length ? Infinity : cuts[bin];
    below[bin] = lowestValue(low, Math.min(high, range.most), unit, range.isWhole);
    above[bin] = highestValue(Math.max(nextAbove(low), range.least), high, unit, range.isWhole);
  }
  return [below, above];
}

/** The lowest readable value above `low` and up to `high`. */
function lowestValue(low: number, high: number, unit: number, isWhole: boolean): number {
  const first = isWhole ? Math.floor(low) + 1 : nextAbove(low);
  if (!Number.isFinite(low) || !(first <= high)) return NaN;
  if (isWhole) return first;
  const last = Math.max(Math.min(high, low + SLACK * unit), first);
  return Number.isFinite(last) ? shortestDecimal(first, nextAbove(last), first) : NaN;
}

/** The highest readable value from `low` to `high`. */
function highestValue(low: number, high: number, unit: number, isWhole: boolean): number {
  const last = isWhole ? Math.floor(high) : high;
  if (!Number.isFinite(last) || !(low <= last)) return NaN;
  if (isWhole || Number(last.toPrecision(4)) === last) return last;
  const first = Math.max(low, last - SLACK * unit);
  return Number.isFinite(first) ? shortestDecimal(first, nextAbove(last), last) : last;
}

/** In which bins of known values each rule's term holds. Every bound is a cut, so a bin lies inside an interval or outside of it. */
function acceptedBins(set: RuleSet, place: number, cuts: Float64Array | null, values: Float64Array): Map<number, Uint8Array> {
  const accepts = new Map<number, Uint8Array>();
  set.rules.forEach((rule, r) => {
    for (const term of rule.terms) {
      if (term.feature !== place) continue;
      const isInside = (bin: number) => {
        if (term.missing) return false;
        if (cuts === null) return holds(term, values[bin]);
        return (bin === 0 ? -Infinity : cuts[bin - 1]) >= term.low && (bin === cuts.length ? Infinity : cuts[bin]) <= term.high;
      };
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
