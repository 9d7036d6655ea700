/** Round numbers for the axis of a chart. */

/** About `n` round numbers between two ends, evenly spaced. */
export function ticksBetween(low: number, high: number, n: number): number[] {
  const width = high - low;
  if (!(width > 0) || !Number.isFinite(width)) return [low];
  const power = 10 ** Math.floor(Math.log10(width / n));
  const step = [1, 2, 5, 10].map((part) => part * power).find((step) => width / step <= n) ?? 10 * power;
  const ticks: number[] = [];
  for (let at = Math.ceil(low / step); at * step <= high; at++) ticks.push(Number((at * step).toPrecision(12)));
  return ticks;
}
