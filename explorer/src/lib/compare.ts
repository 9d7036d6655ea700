/** Two rule sets of one kind side by side, as Python's analysis/comparison.py compares them. */

import type { Scalar } from "../payload";
import type { Evaluation } from "./evaluate";
import type { RuleKind } from "./kind";
import type { AnyRule, AnyRules, Feature, Term } from "./rules";
import { writeValue } from "./ruleText";
import type { Table } from "./table";
import { featureName, formatName } from "./text";
import { outcomesOf } from "./votes";

export interface Comparison {
  /** Places in the later set of rules that are not in the earlier one. */
  readonly added: readonly number[];
  /** Places in the earlier set of rules that are not in the later one. */
  readonly removed: readonly number[];
  /** Places in both of rules with the same premise that differ in anything else. */
  readonly changed: readonly (readonly [before: number, after: number])[];
  readonly nSame: number;
  /** Differences other than rules. */
  readonly settings: readonly { name: string; before: string; after: string }[];
}

export function compareRules<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, before: S, after: S): Comparison {
  const left: [number[], number[]] = [[...before.rules.keys()], [...after.rules.keys()]];
  const keys = [before, after].map((set) => set.rules.map((rule) => keysOf(kind, rule, set)));
  const pairedBy = (part: 0 | 1 | 2) =>
    paired(
      left,
      (r) => keys[0][r][part],
      (r) => keys[1][r][part],
    );
  const same = pairedBy(0);
  const changed = [...pairedBy(1), ...pairedBy(2)].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return { added: left[1], removed: left[0], changed, nSame: same.length, settings: settingsOf(kind, before, after) };
}

/** Keys that are equal for rules that are equal; that agree in premise and conclusion; that agree in the premise. */
function keysOf<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, rule: R, set: S): [all: string, concluding: string, premise: string] {
  // By name, as the features of the two sets may be ordered differently.
  const terms = rule.terms.map(({ feature, low, high, codes, missing }) => {
    const { name, categories } = set.features[feature];
    const values = codes === null ? null : codes.map((code) => scalarKey((categories ?? [])[code])).sort();
    return JSON.stringify([name, String(low), String(high), values, missing]);
  });
  const premise = terms.sort().join("&");
  const concluding = `${premise}>${kind.conclusionKey(rule, set)}`;
  const { cover, origin } = rule;
  const statistics = JSON.stringify([kind.statisticsKey(rule, set), cover, origin?.layer ?? null, origin?.clause ?? null, origin === null]);
  return [concluding + statistics, concluding, premise];
}

export function scalarKey(value: Scalar): string {
  return `${typeof value}:${value}`;
}

/** Pairs of rules with equal keys, each used once and removed from `left`. */
function paired(left: [number[], number[]], keyBefore: (r: number) => string, keyAfter: (r: number) => string): [number, number][] {
  const waiting = new Map<string, number[]>();
  for (const r of [...left[1]].reverse()) {
    const key = keyAfter(r);
    waiting.set(key, waiting.get(key) ?? []);
    waiting.get(key)?.push(r);
  }
  const pairs: [number, number][] = [];
  for (const r of left[0]) {
    const partner = waiting.get(keyBefore(r))?.pop();
    if (partner !== undefined) pairs.push([r, partner]);
  }
  for (const side of [0, 1] as const) {
    const used = new Set(pairs.map((pair) => pair[side]));
    left[side] = left[side].filter((r) => !used.has(r));
  }
  return pairs;
}

// --- Settings ---

function settingsOf<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, before: S, after: S): { name: string; before: string; after: string }[] {
  const newer = kind.settings(after);
  const differing = kind
    .settings(before)
    .map(({ name, text }, i) => ({ name, before: text, after: newer[i].text }))
    .filter((pair) => pair.before !== pair.after);
  const features = differingFeatures(before.features, after.features);
  return features === null ? differing : [...differing, features];
}

/** Only the features that differ: there may be thousands. */
function differingFeatures(before: readonly Feature[], after: readonly Feature[]): { name: string; before: string; after: string } | null {
  const keyOf = ({ name, kind, categories }: Feature) => JSON.stringify([name, kind, categories]);
  const [old, newer] = [before.map(keyOf), after.map(keyOf)];
  if (old.join() === newer.join()) return null;
  const others = [new Set(newer), new Set(old)];
  const names = [new Set(before.map((feature) => feature.name)), new Set(after.map((feature) => feature.name))];
  // Features of one name that differ need more than the name.
  const shown = (feature: Feature) => (names[0].has(feature.name) && names[1].has(feature.name) ? detailed(feature) : featureName(feature));
  const gone = before.filter((_, i) => !others[0].has(old[i])).map(shown);
  const come = after.filter((_, i) => !others[1].has(newer[i])).map(shown);
  if (gone.length === 0 && come.length === 0) return { name: "features", before: "in another order", after: "in another order" };
  const listed = (texts: readonly string[]) =>
    texts.length === 0 ? "none" : texts.slice(0, 8).join(", ") + (texts.length > 8 ? `, … (${texts.length})` : "");
  return { name: "features", before: listed(gone), after: listed(come) };
}

/** `job (categorical: cook, nurse)`, `age (numeric)`. */
function detailed({ name, kind, categories }: Feature): string {
  const values = (categories ?? []).map((value) => writeValue(value)).join(", ");
  return `${formatName(name)} (${kind}${values === "" ? "" : `: ${values}`})`;
}

// --- Decisions ---

export interface Flips {
  /** Rows of the report, and per row the label before and after. */
  readonly rows: readonly number[];
  readonly before: readonly Scalar[];
  readonly after: readonly Scalar[];
}

export function flipsOf(before: Evaluation, after: Evaluation): Flips {
  const rows: number[] = [];
  const labels: [Scalar[], Scalar[]] = [[], []];
  const [was, is] = [outcomesOf(before.set), outcomesOf(after.set)];
  for (let row = 0; row < before.nRows; row++) {
    const old = was[before.outcomes[row]];
    const newer = is[after.outcomes[row]];
    if (old === newer) continue;
    rows.push(row);
    labels[0].push(old);
    labels[1].push(newer);
  }
  return { rows, before: labels[0], after: labels[1] };
}

/**
 * The rules over the features of the report, so that they can be evaluated on its rows: features are matched by name (by
 * place if either set has no names), categories by value. Where this is not possible, a text that says why.
 */
export function overOwnFeatures<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S, own: S, table: Table): S | string {
  const isByPlace = !set.named || !own.named;
  if (isByPlace && set.features.length !== own.features.length) {
    return `these rules have ${set.features.length} unnamed features, the report has ${own.features.length}`;
  }
  const placeOf = new Map(own.features.map((feature, place) => [feature.name, place]));
  const places = set.features.map((feature, place) => (isByPlace ? place : (placeOf.get(feature.name) ?? -1)));
  const used = new Set([...set.rules.flatMap((rule) => rule.terms.map((term) => term.feature)), ...kind.otherFeatures(set)]);
  for (const feature of used) {
    const { name: given, kind: what } = set.features[feature];
    const name = formatName(given);
    const place = places[feature];
    if (place < 0) return `the report has no feature ${name}, which these rules test`;
    if (own.features[place].kind !== what) return `${name} is ${what} in these rules and ${own.features[place].kind} in the report`;
    if (table.columns[place] === null) return `the report has no values for ${name}, which these rules test`;
  }
  const moved = (term: Term): Term => ({ ...term, feature: places[term.feature], codes: codesIn(own, term.codes, set.features[term.feature], places[term.feature]) });
  const rules = set.rules.map((rule): R => ({ ...rule, terms: rule.terms.map(moved) }));
  return { ...kind.withPlaces(set, places), features: own.features, rules };
}

function codesIn(own: AnyRules, codes: readonly number[] | null, feature: Feature, place: number): readonly number[] | null {
  if (codes === null) return null;
  const codeOf = new Map((own.features[place].categories ?? []).map((value, code) => [value, code]));
  return codes.map((code) => codeOf.get((feature.categories ?? [])[code]) ?? -1).filter((code) => code >= 0);
}
