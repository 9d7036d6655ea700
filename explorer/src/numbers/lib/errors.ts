/** How far the rules' numbers are from others, on the rows of the page. Pure functions. */

import type { Feature } from "../../lib/rules";
import { type Table, valueAt } from "../../lib/table";
import { formatCategory, shortNumber } from "../../lib/text";

export interface Fit {
  readonly nRows: number;
  /** The fraction of the variance that is explained; NaN if all numbers are the same. */
  readonly rSquared: number;
  readonly meanAbsolute: number;
  /** Mean absolute error of always predicting the mean. */
  readonly baseline: number;
}

export function fitOf(predicted: Float64Array, wanted: Float64Array): Fit {
  const n = wanted.length;
  const mean = wanted.reduce((sum, number) => sum + number, 0) / n;
  let [squared, variation, absolute, baseline] = [0, 0, 0, 0];
  for (let row = 0; row < n; row++) {
    const [error, centred] = [predicted[row] - wanted[row], wanted[row] - mean];
    squared += error ** 2;
    variation += centred ** 2;
    absolute += Math.abs(error);
    baseline += Math.abs(centred);
  }
  return { nRows: n, rSquared: variation > 0 ? 1 - squared / variation : NaN, meanAbsolute: absolute / n, baseline: baseline / n };
}

/** The value below which a fraction of the (sorted) numbers lies. */
export function quantile(sorted: Float64Array, part: number): number {
  if (sorted.length === 0) return NaN;
  const at = part * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}

/** Mean and middle 90 % of the numbers of some rows. */
export interface Spread {
  readonly n: number;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export function spreadOf(numbers: Float64Array, rows: ArrayLike<number>): Spread {
  const chosen = Float64Array.from(rows, (row) => numbers[row]).sort();
  const mean = chosen.reduce((sum, number) => sum + number, 0) / chosen.length;
  return { n: chosen.length, mean, low: quantile(chosen, 0.05), high: quantile(chosen, 0.95) };
}

/** Bars of equal width over the middle 98 % of numbers; the first and the last also hold those beyond. */
export interface Bars {
  readonly low: number;
  readonly high: number;
  readonly counts: readonly number[];
}

export function barsOf(numbers: Float64Array, nBars: number): Bars {
  const sorted = numbers.filter(Number.isFinite).sort();
  let [low, high] = [quantile(sorted, 0.01), quantile(sorted, 0.99)];
  if (!(low < high)) [low, high] = [low - 0.5, high + 0.5];
  const counts = Array.from({ length: nBars }, () => 0);
  for (const number of sorted) counts[Math.min(nBars - 1, Math.max(0, Math.floor((nBars * (number - low)) / (high - low))))]++;
  return { low, high, counts };
}

/** The rows of one bin of a feature: how far the rules are off there. */
export interface ErrorBin {
  readonly name: string;
  readonly nRows: number;
  /** Mean of predicted − wanted: above 0 where the rules say too much. */
  readonly mean: number;
  readonly meanAbsolute: number;
}

export interface FeatureErrors {
  readonly feature: number;
  readonly bins: readonly ErrorBin[];
  /** How much of the errors the bins explain: the root mean square of their means. */
  readonly deviation: number;
}

const N_BINS = 8;

/** The errors per bin of each of these features, those that deviate most first. */
export function errorsByFeature(errors: Float64Array, table: Table, features: readonly Feature[], places: readonly number[]): FeatureErrors[] {
  const found = places.flatMap((feature): FeatureErrors[] => {
    const column = table.columns[feature];
    if (column === null) return [];
    const about = features[feature];
    const cuts = about.kind === "numeric" ? cutsOf(column.values.slice(0, column.nKnown), errors.length, column.starts) : null;
    const nBins = cuts === null ? (about.categories?.length ?? 1) + 1 : cuts.length + 1;
    const [n, sum, absolute] = [0, 1, 2].map(() => new Float64Array(nBins + 1));
    for (let row = 0; row < errors.length; row++) {
      const bin = binOf(valueAt(column, row), cuts, nBins);
      n[bin]++;
      sum[bin] += errors[row];
      absolute[bin] += Math.abs(errors[row]);
    }
    const bins = Array.from(n, (rows, bin) => ({ name: binName(about, cuts, bin, nBins), nRows: rows, mean: sum[bin] / rows, meanAbsolute: absolute[bin] / rows })).filter((bin) => bin.nRows > 0);
    const spread = bins.reduce((total, bin) => total + bin.nRows * bin.mean ** 2, 0);
    return [{ feature, bins, deviation: Math.sqrt(spread / errors.length) }];
  });
  return found.sort((a, b) => b.deviation - a.deviation || a.feature - b.feature);
}

/** Values that cut a column into bins with about equally many rows; few values get a bin each. */
function cutsOf(values: Float64Array, nRows: number, starts: Uint32Array): number[] {
  if (values.length <= N_BINS) return Array.from(values.slice(0, -1));
  const cuts: number[] = [];
  for (let place = 0; place < values.length - 1; place++) {
    if (starts[place + 1] >= ((cuts.length + 1) * nRows) / N_BINS) cuts.push(values[place]);
  }
  return cuts.slice(0, N_BINS - 1);
}

function binOf(value: number, cuts: readonly number[] | null, nBins: number): number {
  if (value !== value) return nBins;
  if (cuts === null) return Math.min(value, nBins - 1);
  const bin = cuts.findIndex((cut) => value <= cut);
  return bin < 0 ? cuts.length : bin;
}

function binName(about: Feature, cuts: readonly number[] | null, bin: number, nBins: number): string {
  if (bin === nBins) return "missing";
  if (cuts === null) {
    if (about.categories === null) return bin === 0 ? "false" : "true";
    const category = about.categories[bin];
    return category === undefined ? "unknown category" : formatCategory(category, about);
  }
  if (cuts.length === 0) return "any value";
  if (bin === 0) return `≤ ${shortNumber(cuts[0])}`;
  return bin === cuts.length ? `> ${shortNumber(cuts[bin - 1])}` : `${shortNumber(cuts[bin - 1])} to ${shortNumber(cuts[bin])}`;
}
