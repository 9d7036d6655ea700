/** Rules grouped by where they come from. Pure functions. */

import type { RuleSet } from "./rules";

export interface Clause {
  /** Empty for rules that name no clause. */
  text: string;
  /** Places of its rules. */
  places: number[];
  /** Classes that its rules conclude, ascending. */
  classes: number[];
}

export interface LayerUse {
  /** Empty for rules without a layer. */
  name: string;
  places: number[];
  perClass: number[];
  /** Clauses with most rules first. */
  clauses: Clause[];
}

/** Layers in the order in which the rules name them, which is that of the network. */
export function layersOf(set: RuleSet): LayerUse[] {
  const layers = new Map<string, LayerUse>();
  const clauses = new Map<string, Clause>();
  set.rules.forEach((rule, place) => {
    const name = rule.origin?.layer ?? "";
    const text = rule.origin?.clause ?? "";
    let layer = layers.get(name);
    if (layer === undefined) layers.set(name, (layer = { name, places: [], perClass: set.classes.map(() => 0), clauses: [] }));
    layer.places.push(place);
    layer.perClass[rule.classIndex]++;
    const key = JSON.stringify([name, text]);
    let clause = clauses.get(key);
    if (clause === undefined) {
      clauses.set(key, (clause = { text, places: [], classes: [] }));
      layer.clauses.push(clause);
    }
    clause.places.push(place);
    if (!clause.classes.includes(rule.classIndex)) clause.classes.push(rule.classIndex);
  });
  for (const layer of layers.values()) {
    layer.clauses.sort((a, b) => b.places.length - a.places.length || a.places[0] - b.places[0]);
    layer.clauses.forEach((clause) => clause.classes.sort((a, b) => a - b));
  }
  return [...layers.values()];
}
