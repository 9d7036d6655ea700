/** Edits of a rule set. Each returns a new one with a log entry, like Python's `add`, `remove`, `replace`, `reweight`. */

import type { ChangeEntry } from "../payload";
import { type NewRule, type Rule, type RuleSet, sameTerm } from "./rules";
import { writeRule } from "./ruleText";

/** Append rules. */
export function withAdded(set: RuleSet, rules: readonly Rule[], note: string): RuleSet {
  const first = set.rules.length;
  const changes = rules.map((rule, i) => entry({ action: "added", rule: first + i, after: writeRule(rule, set) }, note));
  return { ...set, rules: [...set.rules, ...rules], changes: [...set.changes, ...changes] };
}

/** Remove rules, given by place. */
export function withoutRules(set: RuleSet, places: readonly number[], note: string): RuleSet {
  const gone = new Set(places);
  // Logged from the last to the first, so that each number is still right at its turn.
  const changes = [...gone]
    .sort((a, b) => b - a)
    .map((place) => entry({ action: "removed", rule: place, before: writeRule(set.rules[place], set) }, note));
  return { ...set, rules: set.rules.filter((_, place) => !gone.has(place)), changes: [...set.changes, ...changes] };
}

/** Replace a rule. A change of confidence, weight or priority alone is logged as a reweighting. */
export function withReplaced(set: RuleSet, place: number, next: NewRule, note: string): RuleSet {
  const old = set.rules[place];
  const rule: Rule = { ...next, id: old.id };
  const [before, after] = [writeRule(old, set), writeRule(rule, set)];
  if (before === after) return set;
  const action = isReweighting(old, rule) ? "reweighted" : "replaced";
  const changes = [...set.changes, entry({ action, rule: place, before, after }, note)];
  return { ...set, rules: set.rules.map((other, i) => (i === place ? rule : other)), changes };
}

/** Set the reason of a logged edit. */
export function withNote(set: RuleSet, place: number, note: string): RuleSet {
  const { note: old, ...change } = set.changes[place];
  if ((old ?? "") === note.trim()) return set;
  return { ...set, changes: set.changes.map((other, i) => (i === place ? entry(change, note) : other)) };
}

/** Whether two rules differ in nothing but confidence, weight and priority. */
function isReweighting(a: NewRule, b: NewRule): boolean {
  const isSamePremise = a.terms.length === b.terms.length && a.terms.every((term, i) => sameTerm(term, b.terms[i]));
  const isSameOrigin = a.origin?.layer === b.origin?.layer && a.origin?.clause === b.origin?.clause;
  return isSamePremise && isSameOrigin && a.classIndex === b.classIndex && a.cover === b.cover && a.correct === b.correct;
}

function entry(change: ChangeEntry, note: string): ChangeEntry {
  return note.trim() === "" ? change : { ...change, note: note.trim() };
}

/** The log as Python prints it. */
export function writeChanges(changes: readonly ChangeEntry[]): string {
  return changes
    .map(({ action, rule, before, after, note }) => {
      const lines = [`${action} rule ${rule}${note === undefined ? "" : ` (${note})`}`];
      if (before !== undefined) lines.push(`  - ${before}`);
      if (after !== undefined) lines.push(`  + ${after}`);
      return `${lines.join("\n")}\n`;
    })
    .join("");
}
