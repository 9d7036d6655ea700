/** Rules for numbers as the page works with them: immutable, read from and written to rule files of version 2. */

import { featureEntry, originOf, readFeatures, readTerms, termEntry } from "../../lib/ruleFile";
import { ruleCost } from "../../lib/readingCost";
import type { Feature, Origin, Term } from "../../lib/rules";
import { writeTerm } from "../../lib/ruleText";
import { formatNumber } from "../../lib/text";
import type { ChangeEntry, LinearEntry, NumberEditsEntry, NumberRuleEntry, NumberRuleFile } from "../../payload";

/** One rule. An edit makes a new object; `id` stays the same, and those of the report are numbered from 0. */
export interface NumberRule {
  readonly id: number;
  readonly terms: readonly Term[];
  /** What the rule adds where it holds. */
  readonly addition: number;
  /** Statistics of the rows that the rule was learnt from; 0 and null where they were not counted. */
  readonly cover: number;
  readonly mean: number | null;
  readonly interval: readonly [number, number] | null;
  readonly origin: Origin | null;
}

/** Adds coefficient · value to every row; the value counts as the nearer of low and high, or as `fill` where it is missing. */
export interface LinearTerm {
  readonly feature: number;
  readonly coefficient: number;
  readonly fill: number;
  readonly low: number;
  readonly high: number;
}

export interface NumberRules {
  readonly features: readonly Feature[];
  readonly named: boolean;
  readonly link: NumberRuleFile["link"];
  readonly base: number;
  readonly linear: readonly LinearTerm[];
  /** The name of what is predicted. */
  readonly response: string | null;
  readonly responseRange: readonly [number, number] | null;
  readonly rules: readonly NumberRule[];
  readonly changes: readonly ChangeEntry[];
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

/** One rule in the rule language, as Python's `write_regression_rule` writes it. */
export function writeNumberRule(rule: NumberRule, features: readonly Feature[]): string {
  const premise = rule.terms.map((term) => writeTerm(term, features[term.feature])).join(" AND ") || "TRUE";
  const known = [
    ...(rule.cover > 0 ? [`cover ${formatNumber(rule.cover)}`] : []),
    ...(rule.mean === null ? [] : [`mean ${formatNumber(rule.mean)}`]),
    ...(rule.interval === null ? [] : [`lower ${formatNumber(rule.interval[0])}`, `upper ${formatNumber(rule.interval[1])}`]),
    ...writeOrigin(rule.origin),
  ];
  return `IF ${premise} THEN ADD ${formatNumber(rule.addition)}${known.length === 0 ? "" : ` WITH ${known.join(", ")}`}`;
}

function writeOrigin(origin: Origin | null): string[] {
  if (origin === null) return [];
  const { layer, clause } = origin;
  const known = [...(layer === null ? [] : [`layer ${JSON.stringify(layer)}`]), ...(clause === null ? [] : [`clause ${JSON.stringify(clause)}`])];
  return known.length > 0 ? known : ["origin"];
}

/** What there is to read, as Python's `metrics.reading_cost` counts it: also one per coefficient. */
export function numberReadingCost(set: NumberRules): number {
  return set.linear.length + set.rules.reduce((sum, rule) => sum + ruleCost(rule, set.features), 0);
}

/** Edited rules, as a saved page or the browser keeps them. */
export function editsOf(set: NumberRules): NumberEditsEntry {
  return { rules: writeNumberFile(set), ids: set.rules.map((rule) => rule.id) };
}

export function readEdits({ rules, ids }: NumberEditsEntry): NumberRules {
  const read = readNumberFile(rules);
  return { ...read, rules: read.rules.map((rule, place) => ({ ...rule, id: ids[place] })) };
}

// --- Edits, each with a log entry, like Python's `reweight` and `remove` ---

export function withAddition(set: NumberRules, place: number, addition: number): NumberRules {
  const old = set.rules[place];
  // Without a negative zero, as in Python.
  const rule: NumberRule = { ...old, addition: addition + 0 };
  if (rule.addition === old.addition || !Number.isFinite(rule.addition)) return set;
  const change: ChangeEntry = { action: "reweighted", rule: place, before: writeNumberRule(old, set.features), after: writeNumberRule(rule, set.features) };
  return { ...set, rules: set.rules.map((other, i) => (i === place ? rule : other)), changes: [...set.changes, change] };
}

export function withoutRule(set: NumberRules, place: number): NumberRules {
  const change: ChangeEntry = { action: "removed", rule: place, before: writeNumberRule(set.rules[place], set.features) };
  return { ...set, rules: set.rules.filter((_, i) => i !== place), changes: [...set.changes, change] };
}
