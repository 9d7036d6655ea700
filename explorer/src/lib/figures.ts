/** Figures of rules that are compared: before and after an edit, or of two rule sets. Pure functions. */

import { grouped, percent, shortNumber } from "./text";

export interface Figure {
  readonly name: string;
  readonly value: number;
  /** A fraction of the rows or of the variance, an amount in the unit of what is predicted, or a count. */
  readonly unit: "share" | "amount" | "count";
  /** Whether more is better (1), less is better (−1), or neither (0). */
  readonly better: 1 | -1 | 0;
  /** A 95 % interval, in words. */
  readonly interval?: string;
}

export function share(name: string, value: number | null, more: Partial<Figure> = {}): Figure[] {
  return value === null ? [] : [{ name, value, unit: "share", better: 1, ...more }];
}

export function count(name: string, value: number): Figure {
  return { name, value, unit: "count", better: 0 };
}

export function figureText({ value, unit }: Figure): string {
  if (Number.isNaN(value)) return "–";
  return unit === "share" ? percent(value, 2) : unit === "count" ? grouped(value) : shortNumber(Number(value.toPrecision(3)));
}

/** By how much a figure changed, as text without a sign; shares in percentage points. */
export function changeText(before: Figure, after: Figure): { by: number; text: string } {
  const by = after.value - before.value;
  if (after.unit === "share") return { by, text: (100 * Math.abs(by)).toFixed(2) };
  return { by, text: shortNumber(Number(Math.abs(by).toPrecision(2))) };
}
