/** Rules from a rule file, and back to one (docs/rule-file-format.md). */

import type { FeatureEntry, RuleEntry, RuleFile, Scalar, TermEntry } from "../payload";
import { type Feature, type Origin, type Rule, type RuleSet, type Term, termOn } from "./rules";

/** The features of a rule file. */
export function readFeatures(entries: readonly FeatureEntry[]): Feature[] {
  return entries.map(({ name, kind, categories }) => ({ name, kind, categories: categories ?? null }));
}

export function readRuleFile(file: RuleFile): RuleSet {
  const features = readFeatures(file.features);
  const read = termReader(features);
  const classOf = new Map(file.classes.map((label, place) => [label, place]));
  return {
    features,
    classes: file.classes,
    classDtype: file.class_dtype,
    named: file.named,
    voting: file.voting,
    defaultIndex: found(classOf, file.default, "default class"),
    base: file.base ?? file.classes.map(() => 0),
    scale: file.scale ?? 1,
    abstention: file.abstention === undefined ? null : { margin: file.abstention.margin, label: file.abstention.label },
    rules: file.rules.map((entry, id) => ({
      id,
      terms: read(entry.if),
      classIndex: found(classOf, entry.then, "class"),
      confidence: entry.confidence,
      cover: entry.cover,
      correct: entry.correct,
      weight: entry.weight,
      priority: entry.priority ?? false,
      origin: originOf(entry),
    })),
    changes: file.changes ?? [],
  };
}

/** The terms of a premise over these features. */
export function readTerms(entries: readonly TermEntry[], features: readonly Feature[]): Term[] {
  return termReader(features)(entries);
}

function termReader(features: readonly Feature[]): (entries: readonly TermEntry[]) => Term[] {
  const placeOf = new Map(features.map((feature, place) => [feature.name, place]));
  const codeOf = features.map((feature) => new Map((feature.categories ?? []).map((value, code) => [value, code])));
  const read = (term: TermEntry): Term => {
    const feature = found(placeOf, term.feature, "feature");
    return termOn(feature, {
      low: term.low ?? -Infinity,
      high: term.high ?? Infinity,
      codes: term.values?.map((value) => found(codeOf[feature], value, "category")).sort((a, b) => a - b) ?? null,
      missing: term.missing ?? false,
    });
  };
  return (entries) => entries.map(read);
}

export function originOf({ origin }: Pick<RuleEntry, "origin">): Origin | null {
  return origin == null ? null : { layer: origin.layer ?? null, clause: origin.clause ?? null };
}

function found<K extends Scalar>(places: ReadonlyMap<K, number>, key: K, what: string): number {
  const place = places.get(key);
  if (place === undefined) throw new Error(`The rules use the ${what} ${JSON.stringify(key)}, which is not declared in the rule file.`);
  return place;
}

/** A rule file as `RuleSet.load` reads it. */
export function writeRuleFile(set: RuleSet): RuleFile {
  const file: RuleFile = {
    format: "clausewise-rules",
    version: 1,
    voting: set.voting,
    default: set.classes[set.defaultIndex],
    classes: [...set.classes],
    class_dtype: set.classDtype,
    named: set.named,
    ...(set.base.some((votes) => votes !== 0) ? { base: [...set.base] } : {}),
    ...(set.scale !== 1 ? { scale: set.scale } : {}),
    ...(set.abstention !== null ? { abstention: { ...set.abstention } } : {}),
    features: set.features.map(featureEntry),
    rules: set.rules.map((rule) => ruleEntry(rule, set)),
  };
  return set.changes.length > 0 ? { ...file, changes: [...set.changes] } : file;
}

export function featureEntry(feature: Feature): FeatureEntry {
  const entry: FeatureEntry = { name: feature.name, kind: feature.kind };
  return feature.categories === null ? entry : { ...entry, categories: [...feature.categories] };
}

function ruleEntry(rule: Rule, set: RuleSet): RuleEntry {
  const entry: RuleEntry = {
    if: rule.terms.map((term) => termEntry(term, set.features[term.feature])),
    then: set.classes[rule.classIndex],
    confidence: rule.confidence,
    cover: rule.cover,
    correct: rule.correct,
    weight: rule.weight,
  };
  if (rule.priority) entry.priority = true;
  if (rule.origin !== null) entry.origin = { ...rule.origin };
  return entry;
}

export function termEntry(term: Term, feature: Feature): TermEntry {
  if (term.missing) return { feature: feature.name, missing: true };
  if (term.codes !== null) {
    const categories = feature.categories ?? [];
    return { feature: feature.name, values: term.codes.map((code) => categories[code]) };
  }
  const entry: TermEntry = { feature: feature.name };
  if (Number.isFinite(term.low)) entry.low = term.low;
  if (Number.isFinite(term.high)) entry.high = term.high;
  return entry;
}
