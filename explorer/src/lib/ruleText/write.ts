/** Writes rules as text that `read.ts` and Python read back as equal rules. */

import type { Scalar } from "../../payload";
import { formatNumber, lowerBound, upperBound } from "../decimals";
import { DEFAULT_STATISTICS, type Feature, namedCategories, type NewRule, type Origin, type Statistic, type Term } from "../rules";
import { speaksAgainst } from "../votes";
import { isBareName, mirrored } from "./tokens";
import type { Vocabulary } from "./vocabulary";

export const STATISTICS = Object.keys(DEFAULT_STATISTICS) as Statistic[];

/** One rule; default values are omitted. If rules vote by weights, `THEN NOT yes WITH weight 2` is a weight of -2. */
export function writeRule(rule: NewRule, known: Vocabulary): string {
  const isAgainst = speaksAgainst(rule, known.voting);
  const text = `IF ${writePremise(rule.terms, known.features)} THEN ${isAgainst ? "NOT " : ""}${writeValue(known.classes[rule.classIndex], known.classDtype.startsWith("float"))}`;
  const properties = writeProperties(isAgainst ? { ...rule, weight: -rule.weight } : rule);
  return properties.length > 0 ? `${text} WITH ${properties.join(", ")}` : text;
}

function writeProperties(rule: NewRule): string[] {
  const written = STATISTICS.filter((name) => rule[name] !== DEFAULT_STATISTICS[name]).map((name) => `${name} ${formatNumber(rule[name])}`);
  if (rule.priority) written.push("priority");
  return [...written, ...writeOrigin(rule.origin)];
}

export function writeOrigin(origin: Origin | null): string[] {
  if (origin === null) return [];
  const { layer, clause } = origin;
  const known = [...(layer === null ? [] : [`layer ${quoted(layer)}`]), ...(clause === null ? [] : [`clause ${quoted(clause)}`])];
  return known.length > 0 ? known : ["origin"];
}

export function writePremise(terms: readonly Term[], features: readonly Feature[]): string {
  return terms.map((term) => writeTerm(term, features[term.feature])).join(" AND ") || "TRUE";
}

export function writeTerm(term: Term, feature: Feature): string {
  const name = writeName(feature.name);
  if (term.missing) return `${name} IS MISSING`;
  const { low, high } = term;
  if (term.codes !== null) {
    const { codes, areExcluded } = namedCategories(term.codes, feature);
    const values = codes.map((code) => writeValue((feature.categories ?? [])[code]));
    if (areExcluded && values.length === 0) return `${name} IS KNOWN`;
    if (values.length === 1) return `${name} ${areExcluded ? "!=" : "="} ${values[0]}`;
    return `${name} ${areExcluded ? "NOT IN" : "IN"} {${values.join(", ")}}`;
  }
  if (feature.kind === "binary" && low !== high && Number.isFinite(low) !== Number.isFinite(high)) {
    return `${name} = ${low === 0 ? "TRUE" : "FALSE"}`;
  }
  if (low === -Infinity && high === Infinity) return `${name} IS KNOWN`;
  if (low === -Infinity) return `${name} ${upperBound(high)}`;
  if (high === Infinity) return `${name} ${lowerBound(low)}`;
  const [comparison, number] = lowerBound(low).split(" ");
  return `${number} ${mirrored(comparison)} ${name} ${upperBound(high)}`;
}

/** A class or category. Whole numbers that are floats in Python are written with a fraction: `2.0`. */
export function writeValue(value: Scalar, isFloat = false): string {
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value === "string") return writeName(value);
  const text = formatNumber(value);
  return isFloat && Number.isInteger(value) && !text.includes("e") ? `${text}.0` : text;
}

export function writeName(name: string): string {
  return isBareName(name) ? name : quoted(name);
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
