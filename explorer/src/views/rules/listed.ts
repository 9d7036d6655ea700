/** Which rules are listed, in which order: filters and sorting, kept in the address. */

import type { Sorting } from "../../components/VirtualTable";
import { alikeTogether } from "../../lib/alike";
import { countBits, countCommon, hasBit } from "../../lib/bits";
import { type Filter, filtered, sortedBy } from "../../lib/filter";
import { whyTermsUnknown } from "../../lib/leftOut";
import { agreementOf } from "../../lib/measures";
import { ruleCost } from "../../lib/readingCost";
import type { Rule, RuleSet } from "../../lib/rules";
import { readSelection, type Selection } from "../../lib/selection";
import { speaksAgainst } from "../../lib/votes";
import type { Store } from "../../store";

/** The state of this view that a link restores. */
export function paramsOf(store: Store) {
  const param = (name: string, fallback = "") => store.address.param(`rules.${name}`, fallback);
  return {
    query: param("q"),
    classIndex: param("class"),
    feature: param("feature"),
    term: param("term"),
    length: param("length"),
    support: param("support"),
    confidence: param("confidence"),
    layer: param("layer"),
    sort: param("sort"),
    fired: param("fired"),
    as: param("as", isNarrow() ? "table" : "matrix"),
    /** What is done with the ticked rules: "compare", "delete" or nothing. */
    panel: param("panel"),
  };
}

/** On a narrow screen the matrix would show a column or two; there, the table comes first. */
function isNarrow(): boolean {
  return window.matchMedia("(max-width: 760px)").matches;
}

function filterOf(store: Store): Filter {
  const params = paramsOf(store);
  const number = (text: string) => (text.trim() === "" || Number.isNaN(Number(text)) ? null : Number(text));
  const confidence = number(params.confidence.value);
  return {
    query: params.query.value,
    classIndex: number(params.classIndex.value),
    feature: number(params.feature.value),
    term: params.term.value === "" ? null : params.term.value,
    maxLength: number(params.length.value),
    minSupport: number(params.support.value),
    minConfidence: confidence === null ? null : confidence / 100,
    layer: params.layer.value === "" ? null : params.layer.value,
  };
}

function filterParams(store: Store) {
  const { query, classIndex, feature, term, length, support, confidence, layer, fired } = paramsOf(store);
  return [query, classIndex, feature, term, length, support, confidence, layer, fired];
}

export function nFilters(store: Store): number {
  return filterParams(store).filter((param) => param.value !== "").length;
}

export function clearFilters(store: Store): void {
  for (const param of filterParams(store)) param.value = "";
}

/** The sorting in the address: "confidence", or "-confidence" for descending. */
export function sortingOf(store: Store): Sorting | null {
  const text = paramsOf(store).sort.value;
  return text === "" ? null : { key: text.replace(/^-/, ""), isDescending: text.startsWith("-") };
}

/** The places of the rules that pass the filters. Unless they are sorted, similar rules are together if that is asked for. */
export function shownPlaces(store: Store, areAlikeTogether: boolean): number[] {
  const set = store.rules.value;
  const nFired = firedOnRows(store, readSelection(paramsOf(store).fired.value, store.table));
  const places = filtered(set, filterOf(store)).filter((place) => nFired === null || nFired(place) > 0);
  const sorting = sortingOf(store);
  const value = sorting === null ? undefined : sortValue(store, sorting.key);
  if (sorting !== null && value !== undefined) return sortedBy(places, value, sorting.isDescending);
  return areAlikeTogether ? alikeTogether(set, places) : places;
}

/** Sort by a column: numbers in descending order first; a second click reverses the order, a third one removes it. */
export function sortBy(store: Store, key: string): void {
  const now = sortingOf(store);
  const isText = key === "place" || key === "class" || key === "layer";
  const order = isText ? [key, `-${key}`, ""] : [`-${key}`, key, ""];
  const at = now?.key === key ? order.indexOf(now.isDescending ? `-${key}` : key) : -1;
  paramsOf(store).sort.value = order[at + 1] ?? "";
}

function sortValue(store: Store, key: string): ((place: number) => number | string) | undefined {
  const set = store.rules.value;
  if (key.startsWith("bound.")) return boundOn(set, Number(key.slice("bound.".length)));
  const of = (value: (rule: Rule) => number | string) => (place: number) => value(set.rules[place]);
  switch (key) {
    case "place":
      return (place) => place;
    case "class":
      return of((rule) => rule.classIndex);
    case "length":
      return of((rule) => rule.terms.length);
    case "cost":
      return of((rule) => ruleCost(rule, set.features));
    case "confidence":
      return of((rule) => (speaksAgainst(rule, set.voting) ? -1 : rule.confidence));
    case "support":
      return of((rule) => rule.cover);
    case "weight":
      return of((rule) => rule.weight);
    case "layer":
      return of((rule) => rule.origin?.layer ?? "");
    case "chosen":
      return firedOnRows(store, chosenRows(store)) ?? undefined;
    case "fires":
      return (place) => (whyUnknown(store, place) === null ? firesOn(store, place) : -1);
    case "agrees":
      return (place) => agreement(store, place) ?? -1;
    default:
      return undefined;
  }
}

/** Rules in the order in which they cut a feature: by their lower bounds, then by their upper ones; by categories. */
function boundOn(set: RuleSet, feature: number): (place: number) => number | string {
  return (place) => {
    const term = set.rules[place].terms.find((one) => one.feature === feature);
    if (term === undefined) return Infinity;
    if (term.codes !== null) return term.codes[0] ?? -1;
    return Number.isFinite(term.low) ? term.low : Number.isFinite(term.high) ? term.high - 1e-9 * Math.abs(term.high) : -Infinity;
  };
}

/** The reason why it is unknown on which rows a rule fires; null if it is known. */
export function whyUnknown(store: Store, place: number): string | null {
  const set = store.rules.value;
  return store.table === null ? null : whyTermsUnknown(set.rules[place].terms, set, store.table);
}

export function firesOn(store: Store, place: number): number {
  const found = store.evaluation.value;
  return found === null ? 0 : countBits(found.covers[place]);
}

/** The row or cohort that the rules are counted on: the selected one, else the one of the filter. */
export function chosenRows(store: Store): Selection | null {
  const selection = store.selection.value;
  if (store.table === null) return null;
  return selection?.kind === "row" || selection?.kind === "cohort" ? selection : readSelection(paramsOf(store).fired.value, store.table);
}

/** A function from a rule's place to the number of rows of a row or cohort on which it fires; null if there is none. */
export function firedOnRows(store: Store, rows: Selection | null): ((place: number) => number) | null {
  const { table } = store;
  const found = store.evaluation.value;
  if (found === null || table === null || rows === null || rows.kind === "rule") return null;
  if (rows.kind === "row") return (place) => (rows.row < found.nRows && hasBit(found.covers[place], rows.row) ? 1 : 0);
  const bits = store.rowsOf(rows.cohort);
  return (place) => countCommon(found.covers[place], bits);
}

/** Of the rows on which a rule fires, the fraction whose reference label (network, else truth) is what it speaks for. */
export function agreement(store: Store, place: number): number | null {
  const found = store.evaluation.value;
  const reference = store.table?.network ?? store.table?.truth;
  if (found === null || reference == null) return null;
  return agreementOf(store.rules.value.rules[place], found.set.voting, found.covers[place], reference.codes);
}
