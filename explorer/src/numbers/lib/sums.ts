/**
 * Predictions as sums, exactly as Python adds (rules/sums.py): short decimals are counted in a common unit, so that they
 * are whole numbers, which doubles add without rounding, and one division gives the result. Numbers with too many digits
 * are added as doubles, base first, in the order of the rules. Linear terms follow, each product rounded once.
 */

import { type Bits, rowsOf } from "../../lib/bits";
import { holds } from "../../lib/rules";
import { type Table, valueAt } from "../../lib/table";
import type { LinearTerm, NumberRules } from "./rules";

/** The base and the additions as they are added, and the divisor of the result. */
export interface ScaledSum {
  readonly start: number;
  readonly additions: Float64Array;
  readonly divisor: number;
}

/** Powers of 10 up to this one are exact doubles. */
const MAX_DECIMALS = 22;

/** A finite double as the shortest decimal that reads back as it: digits · 10^−decimals. */
function decimalOf(number: number): { digits: bigint; decimals: number } {
  const [mantissa, exponent] = number.toExponential().split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  const digits = BigInt(whole + fraction);
  return { digits, decimals: digits === 0n ? 0 : fraction.length - Number(exponent) };
}

export function scaledSum(base: number, additions: readonly number[]): ScaledSum {
  const numbers = [base, ...additions].map(decimalOf);
  const decimals = numbers.reduce((most, number) => Math.max(most, number.decimals), 0);
  if (decimals <= MAX_DECIMALS) {
    const units = numbers.map((number) => number.digits * 10n ** BigInt(decimals - number.decimals));
    if (units.reduce((sum, unit) => sum + (unit < 0n ? -unit : unit), 0n) < 2n ** 53n) {
      const [start, ...rest] = units.map(Number);
      return { start, additions: Float64Array.from(rest), divisor: Number(`1e${decimals}`) };
    }
  }
  return { start: base, additions: Float64Array.from(additions), divisor: 1 };
}

const known = new WeakMap<NumberRules, ScaledSum>();

/** Made once per rule set. */
export function sumOf(set: NumberRules): ScaledSum {
  let found = known.get(set);
  if (found === undefined) known.set(set, (found = scaledSum(set.base, set.rules.map((rule) => rule.addition))));
  return found;
}

/** The value that is multiplied by the coefficient. */
export function countedValue(term: LinearTerm, value: number): number {
  return Math.min(Math.max(value !== value ? term.fill : value, term.low), term.high);
}

/** What the link makes of a sum. Browsers may round the last digit of the exponential differently. */
export function responseOf(sum: number, link: NumberRules["link"]): number {
  return link === "log" ? Math.exp(sum) : sum;
}

/** The sum on one row of encoded values. */
export interface RowSum {
  /** Places of the rules that hold. */
  readonly fired: readonly number[];
  /** The base and the rules, without the linear terms. */
  readonly ofRules: number;
  /** What each linear term adds. */
  readonly products: readonly number[];
  readonly sum: number;
  readonly response: number;
}

export function sumOnRow(set: NumberRules, values: ArrayLike<number>): RowSum {
  const { start, additions, divisor } = sumOf(set);
  const fired: number[] = [];
  let total = start;
  set.rules.forEach((rule, place) => {
    if (!rule.terms.every((term) => holds(term, values[term.feature]))) return;
    fired.push(place);
    total += additions[place];
  });
  const ofRules = total / divisor;
  const products = set.linear.map((term) => term.coefficient * countedValue(term, values[term.feature]));
  const sum = products.reduce((sum, product) => sum + product, ofRules);
  return { fired, ofRules, products, sum, response: responseOf(sum, set.link) };
}

/** The predictions on all rows of a report, given the rows on which each rule holds. */
export function predictAll(set: NumberRules, table: Table, covers: readonly Bits[]): Float64Array {
  const { start, additions, divisor } = sumOf(set);
  const sums = new Float64Array(table.nRows).fill(start);
  covers.forEach((cover, place) => {
    for (const row of rowsOf(cover)) sums[row] += additions[place];
  });
  for (let row = 0; row < sums.length; row++) sums[row] /= divisor;
  for (const term of set.linear) {
    const column = table.columns[term.feature];
    for (let row = 0; row < sums.length; row++) sums[row] += term.coefficient * countedValue(term, column === null ? NaN : valueAt(column, row));
  }
  return set.link === "log" ? sums.map((sum) => responseOf(sum, "log")) : sums;
}
