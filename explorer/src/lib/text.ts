/** Numbers, terms and rules as text, worded as Python words them (rules/display.py). */

import type { Scalar } from "../payload";
import { formatNumber, lowerBound, upperBound } from "./decimals";
import { chosenCategoryName, chosenClassName, chosenFeatureName } from "./names";
import { type Feature, namedCategories, type Rule, type RuleSet, type Term } from "./rules";
import { speaksAgainst } from "./votes";

export { formatNumber };

/** Four significant digits, for charts and cells where the exact number is shown elsewhere. */
export function shortNumber(number: number): string {
  if (!Number.isFinite(number)) return Number.isNaN(number) ? "missing" : number > 0 ? "∞" : "−∞";
  if (Number.isInteger(number) && Math.abs(number) < 1e7) return grouped(number);
  return formatNumber(Number(number.toPrecision(4)));
}

/** Six significant digits, as Python shows values of a row: enough to recognise them. */
export function knownNumber(number: number): string {
  return formatNumber(Number(number.toPrecision(6)));
}

/** Made once: a format per call takes a hundred times as long. */
const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** 15216 as 15,216. */
export function grouped(number: number): string {
  return GROUPED.format(number);
}

/** Anything below 1 is shown as less than 100 %: 99.96 % as 99.9 %. */
export function percent(part: number, digits = 1): string {
  const shown = (100 * part).toFixed(digits);
  return `${Number(shown) === 100 && part < 1 ? (100 - 10 ** -digits).toFixed(digits) : shown} %`;
}

/** "1 rule", "2,000 rules". */
export function counted(n: number, one: string, many = `${one}s`): string {
  return n === 1 ? `1 ${one}` : `${grouped(n)} ${many}`;
}

/** A class as text: by the name chosen for it, else as in the data, quoted only where it could be misread. */
export function formatLabel(label: Scalar): string {
  return chosenClassName(label) ?? plainLabel(label);
}

/** A category of a feature as text. */
export function formatCategory(category: Scalar, feature: Feature): string {
  return chosenCategoryName(category, feature.name) ?? plainLabel(category);
}

/** The name of a feature: the one chosen for it, else the one in the data. */
export function featureName(feature: Pick<Feature, "name">): string {
  return chosenFeatureName(feature.name) ?? formatName(feature.name);
}

function plainLabel(label: Scalar): string {
  if (typeof label !== "string") return typeof label === "number" ? formatNumber(label) : String(label);
  const isPlain = label !== "" && label === label.trim() && !/[{},'"\p{C}]/u.test(label);
  return isPlain ? label : JSON.stringify(label);
}

/** The name of a layer or a rule set, quoted if it is blank. */
export function formatName(name: string): string {
  return name.trim() === "" ? JSON.stringify(name) : name;
}

/** The condition of a term without the name of its feature: `≤ 47`, `> 30, ≤ 47`, `nurse, cook`, `not nurse`. */
export function describeCondition(term: Term, feature: Feature, most = Infinity): string {
  if (term.missing) return "is missing";
  if (term.codes !== null) {
    const { codes, areExcluded } = namedCategories(term.codes, feature);
    const shown = categoriesOf(codes, feature, most).join(", ");
    return areExcluded ? (shown === "" ? "is known" : `not ${shown}`) : shown || "no category";
  }
  if (feature.kind === "binary" && binaryValue(term) !== null) return binaryValue(term) === 1 ? "true" : "false";
  const [above, below] = boundsOf(term);
  if (term.low >= term.high) return `${above} and ${below}`;
  if (term.low === -Infinity) return term.high === Infinity ? "is known" : below;
  return term.high === Infinity ? above : `${above}, ${below}`;
}

/** `> 30` and `≤ 47`; a bound just below a short number is shown as `≥ 30`, `< 47`. */
function boundsOf(term: Term): [above: string, below: string] {
  return [lowerBound(term.low).replace(">=", "≥"), upperBound(term.high).replace("<=", "≤")];
}

/** `age ≤ 47`, `30 < age ≤ 47`, `job ∉ {nurse, cook}`, `smokes = true`; at most `most` categories by name. */
export function describeTerm(term: Term, feature: Feature, most = Infinity): string {
  const name = isolated(featureName(feature));
  if (term.missing) return `${name} ${describeCondition(term, feature)}`;
  if (term.codes !== null) {
    const { codes, areExcluded } = namedCategories(term.codes, feature);
    const shown = categoriesOf(codes, feature, most);
    if (areExcluded && shown.length === 0) return `${name} is known`;
    if (shown.length === 1) return `${name} ${areExcluded ? "≠" : "="} ${shown[0]}`;
    return `${name} ${areExcluded ? "∉" : "∈"} {${shown.join(", ")}}`;
  }
  if (feature.kind === "binary" && binaryValue(term) !== null) return `${name} = ${binaryValue(term) === 1 ? "true" : "false"}`;
  if (term.low >= term.high || !Number.isFinite(term.low) || !Number.isFinite(term.high)) {
    return `${name} ${describeCondition(term, feature)}`;
  }
  const [above, below] = boundsOf(term);
  const [comparison, number] = above.split(" ");
  return `${number} ${comparison === ">" ? "<" : "≤"} ${name} ${below}`;
}

export function describePremise(rule: Pick<Rule, "terms">, features: readonly Feature[], most = Infinity): string {
  return rule.terms.map((term) => describeTerm(term, features[term.feature], most)).join(" AND ") || "anything";
}

/** Lists show at most this number of categories of a term; the tooltip and the inspector show all. */
export const MOST_CATEGORIES = 8;

export function describeRule(rule: Rule, set: RuleSet): string {
  return `IF ${describePremise(rule, set.features)} THEN ${describeConclusion(rule, set)}`;
}

/** The class that a rule speaks for, or `speaks against` it. */
export function describeConclusion(rule: Rule, set: RuleSet): string {
  const label = isolated(formatLabel(set.classes[rule.classIndex]));
  return speaksAgainst(rule, set.voting) ? `speaks against ${label}` : label;
}

/** An encoded value of a feature as text. */
export function describeValue(value: number, feature: Feature): string {
  if (value !== value) return "missing";
  if (feature.categories !== null) {
    const category = feature.categories[value];
    return category === undefined ? "unknown category" : formatCategory(category, feature);
  }
  if (feature.kind === "binary") return value === 0 ? "false" : "true";
  return formatCell(value);
}

/** A number of a table; one in single precision with no more digits than that has. */
export function formatCell(value: number): string {
  if (Number.isFinite(value) && Math.fround(value) === value) {
    for (let digits = 1; digits <= 9; digits++) {
      const short = Number(value.toPrecision(digits));
      if (Math.fround(short) === value) return formatNumber(short);
    }
  }
  return Number.isFinite(value) ? formatNumber(value) : shortNumber(value);
}

/** The same, with numbers shortened to six significant digits. */
export function describeShortly(value: number, feature: Feature): string {
  return feature.kind === "numeric" && Number.isFinite(value) ? knownNumber(value) : describeValue(value, feature);
}

function categoriesOf(codes: readonly number[], feature: Feature, most: number): string[] {
  const known = feature.categories ?? [];
  // Bins of a report may hold categories that the rules do not know.
  const name = (code: number) => (known[code] === undefined ? "unknown category" : isolated(formatCategory(known[code], feature)));
  if (codes.length <= most) return codes.map(name);
  return [...codes.slice(0, most).map(name), `… ${grouped(codes.length - most)} more of ${grouped(known.length)}`];
}

/** Scripts written from right to left, such as Hebrew and Arabic; such names are isolated, or they would reorder the text around them. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

function isolated(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/** The value that a term on a binary feature accepts; null if it accepts both or neither. */
function binaryValue(term: Term): 0 | 1 | null {
  if (term.low === -Infinity && term.high === 0) return 0;
  return term.low === 0 && term.high === Infinity ? 1 : null;
}
