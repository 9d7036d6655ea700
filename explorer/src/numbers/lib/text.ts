/** Numbers for numbers' sake: amounts, additions and linear terms in words, as Python words them. */

import { featureName, formatNumber, shortNumber } from "../../lib/text";
import type { LinearTerm, NumberRules } from "./rules";

/** A number as it is shown; more than nine digits are rounded to six. */
export function amount(number: number): string {
  if (!Number.isFinite(number)) return shortNumber(number);
  const text = formatNumber(number);
  const nDigits = text.split("e")[0].replace(/^[-0.]+|[-0.]+$/g, "").replace(".", "").length;
  return withCommas(minus(nDigits <= 9 ? text : formatNumber(Number(number.toPrecision(6)))));
}

/** 258000.5 as 258,000.5. */
function withCommas(text: string): string {
  return text.includes("e") ? text : text.replace(/\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
}

/** The same with a sign: `+1.4`, `−0.6`. */
export function signed(number: number): string {
  const text = amount(number);
  return text.startsWith("−") ? text : `+${text}`;
}

/** At most four significant digits, for charts and means. */
export function short(number: number): string {
  return minus(shortNumber(Number.isFinite(number) ? Number(number.toPrecision(4)) : number));
}

export function shortSigned(number: number): string {
  return number > 0 ? `+${short(number)}` : short(number);
}

function minus(text: string): string {
  return text.replace(/^-/, "−");
}

/** "price", or "number" where what is predicted has no name. */
export function responseName(set: NumberRules): string {
  return set.response ?? "number";
}

/** The range in which a value counts, and what a missing one counts as: `0.5 to 15; 3.9 if missing`. */
export function describeLimits({ fill, low, high }: LinearTerm): string {
  const range = Number.isFinite(low) ? (Number.isFinite(high) ? [`${amount(low)} to ${amount(high)}`] : [`at least ${amount(low)}`]) : Number.isFinite(high) ? [`at most ${amount(high)}`] : [];
  return [...range, ...(fill === 0 ? [] : [`${amount(fill)} if missing`])].join("; ");
}

export function describeLinear(term: LinearTerm, set: NumberRules): string {
  return `${signed(term.coefficient)} × ${featureName(set.features[term.feature])}`;
}
