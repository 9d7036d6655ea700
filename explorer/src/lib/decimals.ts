/** Doubles and their decimals, exactly as Python handles them (rules/decimals.py). */

/** The shortest text that reads back as this double; Python's `format_number` writes the same. */
export function formatNumber(number: number): string {
  return Object.is(number, -0) ? "0" : String(number);
}

const view = new DataView(new ArrayBuffer(8));

/** The least double above a number. */
export function nextAbove(number: number): number {
  if (number !== number || number === Infinity) return number;
  if (number === 0) return Number.MIN_VALUE;
  view.setFloat64(0, number);
  view.setBigInt64(0, view.getBigInt64(0) + (number > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

/** The greatest double below a number. */
export function nextBelow(number: number): number {
  return -nextAbove(-number);
}

/** A finite double without rounding: mantissa · 2^exponent. */
interface Binary {
  mantissa: bigint;
  exponent: number;
}

function binaryOf(number: number): Binary {
  view.setFloat64(0, number);
  const bits = view.getBigUint64(0);
  const fraction = bits & 0xfffffffffffffn;
  const power = Number((bits >> 52n) & 0x7ffn);
  const mantissa = power === 0 ? fraction : fraction | 0x10000000000000n;
  return { mantissa: bits >> 63n === 1n ? -mantissa : mantissa, exponent: Math.max(power, 1) - 1075 };
}

/** Whether `below` is at least as close to `centre` as `above`, without rounding the differences. */
function isCloser(below: number, above: number, centre: number): boolean {
  const parts = [centre, below, above].map(binaryOf);
  const least = Math.min(...parts.map((part) => part.exponent));
  const [c, b, a] = parts.map((part) => part.mantissa << BigInt(part.exponent - least));
  return 2n * c <= b + a;
}

/** The decimals with `nDigits` significant digits next to a number that is not 0: at most it, and at least it. */
function decimalsAround(number: number, nDigits: number): [number, number] {
  const { mantissa, exponent } = binaryOf(Math.abs(number));
  // 2^−e is 5^e · 10^−e, so that every double is a whole number times a power of ten.
  const digits = String(exponent >= 0 ? mantissa << BigInt(exponent) : mantissa * 5n ** BigInt(-exponent));
  const power = Math.min(exponent, 0);
  if (digits.length <= nDigits) return [number, number];
  const cut = digits.length - nDigits;
  const inner = BigInt(digits.slice(0, nDigits));
  const isExact = /^0*$/.test(digits.slice(nDigits));
  const near = Number(`${inner}e${power + cut}`);
  const far = isExact ? near : Number(`${inner + 1n}e${power + cut}`);
  return number > 0 ? [near, far] : [-far, -near];
}

/**
 * The double t with low ≤ t < high that has the fewest significant decimal digits; among equally short ones that
 * closest to `prefer`, and of two equally close ones the smaller. `low` is finite and below `high`.
 */
export function shortestDecimal(low: number, high: number, prefer: number): number {
  if (low <= 0 && high > 0) return 0;
  const last = nextBelow(high);
  const centre = Math.min(Math.max(prefer, low), last);
  for (let nDigits = 1; nDigits <= 17; nDigits++) {
    const [below, above] = decimalsAround(centre, nDigits);
    if (below < low) {
      if (above <= last) return above;
    } else if (above > last || below === above || isCloser(below, above, centre)) return below;
    else return above;
  }
  return centre;
}

/** `> 3`; or `>= 3` if that is what is meant: the number itself is the double just below 3. */
export function lowerBound(low: number): string {
  return isReadable(low) ? `> ${formatNumber(low)}` : `>= ${formatNumber(nextAbove(low))}`;
}

/** `<= 3`; or `< 3` if the number itself is the double just below 3. */
export function upperBound(high: number): string {
  return isReadable(high) ? `<= ${formatNumber(high)}` : `< ${formatNumber(nextAbove(high))}`;
}

/** Whether the next double is not much shorter to write, as 3 is than 2.9999999999999996. */
function isReadable(number: number): boolean {
  const above = nextAbove(number);
  if (!Number.isFinite(above)) return true;
  if (above === 0) return false;
  return formatNumber(above).length + 8 > formatNumber(number).length;
}
