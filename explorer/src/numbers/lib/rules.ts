/** Rules for numbers as the page works with them: immutable, read from and written to rule files of version 2. */

import { featureEntry, originOf, readFeatures, readTerms, termEntry } from "../../lib/ruleFile";
import { ruleCost } from "../../lib/readingCost";
import type { AnyRule, AnyRules, Feature } from "../../lib/rules";
import type { LinearEntry, NumberRuleEntry, NumberRuleFile } from "../../payload";

/** A rule that adds a number. */
export interface NumberRule extends AnyRule {
  /** What the rule adds where it holds. */
  readonly addition: number;
  /** Numbers of the rows that the rule was learnt from; null where they were not counted. */
  readonly mean: number | null;
  readonly interval: readonly [number, number] | null;
}

/** Adds coefficient · value to every row; the value counts as the nearer of low and high, or as `fill` where it is missing. */
export interface LinearTerm {
  readonly feature: number;
  readonly coefficient: number;
  readonly fill: number;
  readonly low: number;
  readonly high: number;
}

export interface NumberRules extends AnyRules<NumberRule> {
  readonly link: NumberRuleFile["link"];
  readonly base: number;
  readonly linear: readonly LinearTerm[];
  /** The name of what is predicted. */
  readonly response: string | null;
  readonly responseRange: readonly [number, number] | null;
}

export function readNumberFile(file: NumberRuleFile): NumberRules {
  const features = readFeatures(file.features);
  const placeOf = new Map(features.map((feature, place) => [feature.name, place]));
  return {
    features,
    named: file.named,
    link: file.link,
    base: file.base,
    linear: file.linear.map((entry) => readLinear(entry, placeOf)),
    response: file.response ?? null,
    responseRange: pair(file.response_range),
    rules: file.rules.map((entry, id) => ({
      id,
      terms: readTerms(entry.if, features),
      addition: entry.add,
      cover: entry.cover,
      mean: entry.mean ?? null,
      interval: pair(entry.interval),
      origin: originOf(entry),
    })),
    changes: file.changes ?? [],
  };
}

function readLinear(entry: LinearEntry, placeOf: ReadonlyMap<string, number>): LinearTerm {
  const feature = placeOf.get(entry.feature);
  if (feature === undefined) throw new Error(`The rules have a coefficient for ${JSON.stringify(entry.feature)}, which is not declared in the rule file.`);
  return { feature, coefficient: entry.coefficient, fill: entry.fill ?? 0, low: entry.low ?? -Infinity, high: entry.high ?? Infinity };
}

function pair(bounds: readonly number[] | null | undefined): readonly [number, number] | null {
  return bounds == null ? null : [bounds[0], bounds[1]];
}

/** A rule file as `RegressionRules.load` reads it. */
export function writeNumberFile(set: NumberRules): NumberRuleFile {
  const file: NumberRuleFile = {
    format: "clausewise-rules",
    version: 2,
    voting: "sum",
    link: set.link,
    base: set.base,
    linear: set.linear.map((term) => linearEntry(term, set.features[term.feature].name)),
    named: set.named,
    ...(set.response === null ? {} : { response: set.response }),
    ...(set.responseRange === null ? {} : { response_range: [...set.responseRange] }),
    features: set.features.map(featureEntry),
    rules: set.rules.map((rule) => ruleEntry(rule, set.features)),
  };
  return set.changes.length > 0 ? { ...file, changes: [...set.changes] } : file;
}

function linearEntry({ coefficient, fill, low, high }: LinearTerm, feature: string): LinearEntry {
  const entry: LinearEntry = { feature, coefficient };
  if (fill !== 0) entry.fill = fill;
  if (Number.isFinite(low)) entry.low = low;
  if (Number.isFinite(high)) entry.high = high;
  return entry;
}

function ruleEntry(rule: NumberRule, features: readonly Feature[]): NumberRuleEntry {
  const entry: NumberRuleEntry = { if: rule.terms.map((term) => termEntry(term, features[term.feature])), add: rule.addition, cover: rule.cover };
  if (rule.mean !== null) entry.mean = rule.mean;
  if (rule.interval !== null) entry.interval = [...rule.interval];
  if (rule.origin !== null) entry.origin = { ...rule.origin };
  return entry;
}

/** What there is to read, as Python's `metrics.reading_cost` counts it: also one per coefficient. */
export function numberReadingCost(set: NumberRules): number {
  return set.linear.length + set.rules.reduce((sum, rule) => sum + ruleCost(rule, set.features), 0);
}
