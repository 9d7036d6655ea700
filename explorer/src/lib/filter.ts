/** Which rules are shown, and in which order. Pure functions. */

import type { Voting } from "../payload";
import { CLASSES } from "./classes";
import type { RuleKind } from "./kind";
import { type AnyRule, type AnyRules, type Feature, namedCategories, type Rule, type RuleSet, type Term, termKey } from "./rules";
import { describeCondition, describePremise, describeTerm, formatCategory } from "./text";
import { speaksAgainst } from "./votes";

export interface Filter {
  /** Words, all of which must be in the rule's text; "several words" in quotes must be adjacent. */
  query: string;
  classIndex: number | null;
  feature: number | null;
  /** The key of a term that the rule must have. */
  term: string | null;
  maxLength: number | null;
  /** Least number of rows covered when the rule was made. */
  minSupport: number | null;
  minConfidence: number | null;
  layer: string | null;
}

export type SortKey = "place" | "class" | "length" | "cost" | "confidence" | "support" | "weight" | "fires" | "agrees" | "layer";

/** The text of a rule that is searched; made once per rule. */
const texts = new WeakMap<AnyRule, string>();

function textOf<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, rule: R, set: S): string {
  let text = texts.get(rule);
  if (text === undefined) {
    const origin = `${rule.origin?.layer ?? ""} ${rule.origin?.clause ?? ""}`;
    // `30 < age ≤ 47` is found by "age > 30" too.
    const bounded = rule.terms.filter((term) => Number.isFinite(term.low) && Number.isFinite(term.high));
    const turned = bounded.map((term) => `${set.features[term.feature].name} ${describeCondition(term, set.features[term.feature])}`).join(" ");
    const accepted = rule.terms.map((term) => acceptedCategories(term, set.features[term.feature])).join(" ");
    // Also by the names in the data, where the report shows others.
    const names = rule.terms.map((term) => set.features[term.feature].name).join(" ");
    text = plain(`IF ${describePremise(rule, set.features)} THEN ${kind.describeConclusion(rule, set)} ${origin} ${turned} ${accepted} ${names}`);
    texts.set(rule, text);
  }
  return text;
}

/** `job ≠ cook` is found by the categories that it accepts, too. */
function acceptedCategories(term: Term, feature: Feature): string {
  if (term.codes === null || !namedCategories(term.codes, feature).areExcluded) return "";
  return `${feature.name} ∈ {${term.codes.map((code) => formatCategory((feature.categories ?? [])[code], feature)).join(", ")}}`;
}

/** Places of the rules that pass, in their order. */
export function filtered(set: RuleSet, filter: Filter): number[] {
  return searched(CLASSES, set, filter.query).filter((place) => passes(set.rules[place], filter, set.voting));
}

/** Places of the rules that contain all words of a query. */
export function searched<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S, query: string): number[] {
  const words = wordsOf(query);
  return [...set.rules.keys()].filter((place) => words.every((word) => hasWord(textOf(kind, set.rules[place], set), word)));
}

/** The words of a query. A comparison, typed as shown or as in the rule language, is one word. */
export function wordsOf(query: string): string[] {
  return Array.from(query.matchAll(/"([^"]+)"?|[^"]+/g)).flatMap(([part, together]) => {
    if (together !== undefined) return [plain(together).trim()];
    const bound = plain(part).replace(/ ([≤≥≠<>=]) /g, "\0$1\0");
    return bound.split(/\s+/).map((word) => word.replaceAll("\0", " ").trim()).filter((word) => word !== "");
  });
}

const SIGNS: ReadonlyMap<string, string> = new Map([
  ["<=", "≤"],
  [">=", "≥"],
  ["!=", "≠"],
]);

/** Lower-case text with the page's comparison signs, spaces around them, and no directional marks. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/\s*(<=|>=|!=|[≤≥≠<>=])\s*/g, (_, sign: string) => ` ${SIGNS.get(sign) ?? sign} `)
    .replace(/ not in \{/g, " ∉ {")
    .replace(/ in \{/g, " ∈ {")
    .replace(/[\u2068\u2069]/g, "");
}

/** The terms of a rule, those with a word of the query first. */
export function matchesFirst(rule: Pick<AnyRule, "terms">, features: readonly Feature[], words: readonly string[]): readonly Term[] {
  const isFound = (term: Term) => words.some((word) => plain(describeTerm(term, features[term.feature])).includes(word));
  return words.length === 0 ? rule.terms : [...rule.terms.filter(isFound), ...rule.terms.filter((term) => !isFound(term))];
}

function hasWord(text: string, word: string): boolean {
  return text.includes(word) || (word === "in" && text.includes("∈"));
}

function passes(rule: Rule, filter: Filter, voting: Voting): boolean {
  return (
    (filter.classIndex === null || rule.classIndex === filter.classIndex) &&
    (filter.feature === null || rule.terms.some((term) => term.feature === filter.feature)) &&
    (filter.term === null || rule.terms.some((term) => termKey(term) === filter.term)) &&
    (filter.maxLength === null || rule.terms.length <= filter.maxLength) &&
    (filter.minSupport === null || rule.cover >= filter.minSupport) &&
    (filter.minConfidence === null || (rule.confidence >= filter.minConfidence && !speaksAgainst(rule, voting))) &&
    (filter.layer === null || (rule.origin?.layer ?? "") === filter.layer)
  );
}

/** Sorted by a number or text per rule; equal ones stay in the order of the rules. */
export function sortedBy(places: readonly number[], value: (place: number) => number | string, isDescending: boolean): number[] {
  const keyed = places.map((place) => ({ place, key: value(place) }));
  const sign = isDescending ? -1 : 1;
  keyed.sort((a, b) => sign * compare(a.key, b.key) || a.place - b.place);
  return keyed.map(({ place }) => place);
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === "string" || typeof b === "string") return String(a).localeCompare(String(b), "en", { numeric: true });
  return a - b;
}
