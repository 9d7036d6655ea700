/** Intervals of fractions, as Python's `metrics.wilson_interval` computes them. */

import { percent } from "./text";

/** The normal quantile of a 95 % interval. */
const Z = 1.959963984540054;

/** Wilson's 95 % interval of a fraction of `n` rows. */
export function wilson(hits: number, n: number): readonly [number, number] {
  if (n === 0) return [0, 1];
  const part = hits / n;
  const scale = 1 + (Z * Z) / n;
  const middle = (part + (Z * Z) / (2 * n)) / scale;
  const half = (Z / scale) * Math.sqrt((part * (1 - part)) / n + (Z * Z) / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** `97.2 %`, and `96.9–97.5` for the interval. */
export function intervalText([low, high]: readonly [number, number]): string {
  return `${percent(low).replace(" %", "")}–${percent(high).replace(" %", "")}`;
}
