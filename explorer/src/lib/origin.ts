/** Rules grouped by layer and clause of origin. Pure functions. */

import type { RuleKind } from "./kind";
import type { AnyRule, AnyRules } from "./rules";
import { formatName } from "./text";

export interface Clause {
  /** Empty for rules that name no clause. */
  text: string;
  /** Places of its rules. */
  places: number[];
  /** Groups of its rules, such as their classes, ascending. */
  groups: number[];
}

export interface LayerUse {
  /** Empty for rules without a layer. */
  name: string;
  places: number[];
  /** The number of rules of each group. */
  perGroup: number[];
  /** Clauses with most rules first. */
  clauses: Clause[];
}

/** The layer that Python names where a rule comes from no unit of the network (rules/rule.py). */
const FROM_SEARCH = "residual";

export function isFromSearch(layer: string | null | undefined): boolean {
  return layer === FROM_SEARCH;
}

/** The name of a layer as it is shown. */
export function layerName(layer: string): string {
  if (layer === "") return "no layer";
  return isFromSearch(layer) ? "found by search" : formatName(layer);
}

/** The units of a layer that clauses test, and in how many clauses and rules each occurs; ascending. */
export interface UnitUse {
  unit: number;
  nClauses: number;
  nRules: number;
}

export function unitsOf(layer: LayerUse): UnitUse[] {
  const uses = new Map<number, UnitUse>();
  for (const { text, places } of layer.clauses) {
    const units = new Set(Array.from(text.matchAll(/\[(\d+)\]/g), ([, unit]) => Number(unit)));
    for (const unit of units) {
      const use = uses.get(unit) ?? { unit, nClauses: 0, nRules: 0 };
      use.nClauses++;
      use.nRules += places.length;
      uses.set(unit, use);
    }
  }
  return [...uses.values()].sort((a, b) => a.unit - b.unit);
}

/** Layers as the rules name them, numbered ones in the order of the network; rules without a layer last. */
export function layersOf<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S): LayerUse[] {
  const names = kind.groupNames(set);
  const layers = new Map<string, LayerUse>();
  const clauses = new Map<string, Clause>();
  set.rules.forEach((rule, place) => {
    const name = rule.origin?.layer ?? "";
    const text = rule.origin?.clause ?? "";
    let layer = layers.get(name);
    if (layer === undefined) layers.set(name, (layer = { name, places: [], perGroup: names.map(() => 0), clauses: [] }));
    layer.places.push(place);
    const group = kind.groupOf(rule);
    layer.perGroup[group]++;
    const key = JSON.stringify([name, text]);
    let clause = clauses.get(key);
    if (clause === undefined) {
      clauses.set(key, (clause = { text, places: [], groups: [] }));
      layer.clauses.push(clause);
    }
    clause.places.push(place);
    if (!clause.groups.includes(group)) clause.groups.push(group);
  });
  for (const layer of layers.values()) {
    layer.clauses.sort((a, b) => b.places.length - a.places.length || a.places[0] - b.places[0]);
    layer.clauses.forEach((clause) => clause.groups.sort((a, b) => a - b));
  }
  return inOrder([...layers.values()]);
}

/** Sorts names that differ only in their numbers by these: `hidden 1`, `hidden 2`. */
function inOrder(layers: readonly LayerUse[]): LayerUse[] {
  const likeness = (layer: LayerUse) => layer.name.replace(/\d+/g, "#");
  const ranked = new Map<string, LayerUse[]>();
  for (const layer of layers) ranked.set(likeness(layer), [...(ranked.get(likeness(layer)) ?? []), layer]);
  for (const alike of ranked.values()) alike.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  const ordered = layers.map((layer) => ranked.get(likeness(layer))?.shift() ?? layer);
  const rank = ({ name }: LayerUse) => (name === "" ? 2 : isFromSearch(name) ? 1 : 0);
  return [...ordered].sort((a, b) => rank(a) - rank(b));
}
