/** The unit of distance of a feature: its standard deviation, as NumPy computes it. */

import { type Column, valueAt } from "../table";

/** The change that counts as a distance of 1: the standard deviation in the report, or else the range of thresholds. */
export function unitOf(cuts: Float64Array, column: Column | null): number {
  const isUnit = (spread: number) => spread > 0 && spread < Infinity;
  let spread = cuts.length > 0 ? cuts[cuts.length - 1] - cuts[0] : 0;
  if (column !== null) spread = standardDeviation(finiteValues(column));
  // One threshold: changes relative to its size.
  if (!isUnit(spread)) spread = cuts.reduce((largest, cut) => Math.max(largest, Math.abs(cut)), 0);
  return isUnit(spread) ? spread : 1;
}

export function finiteValues(column: Column): Float64Array {
  return Float64Array.from({ length: column.codes.length }, (_, row) => valueAt(column, row)).filter(Number.isFinite);
}

/** As NumPy computes it, to the last bit. */
function standardDeviation(values: Float64Array): number {
  if (values.length === 0) return 0;
  const mean = pairwiseSum(values, 0, values.length) / values.length;
  const squares = values.map((value) => (value - mean) * (value - mean));
  return Math.sqrt(pairwiseSum(squares, 0, squares.length) / squares.length);
}

/** NumPy's order of summation. */
function pairwiseSum(values: Float64Array, from: number, n: number): number {
  if (n < 8) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += values[from + i];
    return sum;
  }
  if (n <= 128) {
    const r = values.slice(from, from + 8);
    let i = 8;
    for (; i < n - (n % 8); i += 8) for (let k = 0; k < 8; k++) r[k] += values[from + i + k];
    let sum = r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
    for (; i < n; i++) sum += values[from + i];
    return sum;
  }
  const half = Math.floor(n / 2);
  const first = half - (half % 8);
  return pairwiseSum(values, from, first) + pairwiseSum(values, from + first, n - first);
}
