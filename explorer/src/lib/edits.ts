/** Edits of a rule set: each gives a new one, with a log as Python's `add`, `remove`, `replace`, `reweight` keep it. */

import type { ChangeEntry } from "../payload";
import { type NewRule, type Rule, type RuleSet, sameTerm } from "./rules";
import { writeRule } from "./ruleText";

/** With more rules behind the others. */
export function withAdded(set: RuleSet, rules: readonly Rule[], note: string): RuleSet {
  const first = set.rules.length;
  const changes = rules.map((rule, i) => entry({ action: "added", rule: first + i, after: writeRule(rule, set) }, note));
  return { ...set, rules: [...set.rules, ...rules], changes: [...set.changes, ...changes] };
}

/** Without some rules, given by place. */
export function withoutRules(set: RuleSet, places: readonly number[], note: string): RuleSet {
  const gone = new Set(places);
  // Logged from the last to the first, so that each number is right when its turn comes.
  const changes = [...gone]
    .sort((a, b) => b - a)
    .map((place) => entry({ action: "removed", rule: place, before: writeRule(set.rules[place], set) }, note));
  return { ...set, rules: set.rules.filter((_, place) => !gone.has(place)), changes: [...set.changes, ...changes] };
}

/** With another rule in the place of one. What only changes its say (confidence, weight, priority) is a reweighting. */
export function withReplaced(set: RuleSet, place: number, next: NewRule, note: string): RuleSet {
  const old = set.rules[place];
  const rule: Rule = { ...next, id: old.id };
  const [before, after] = [writeRule(old, set), writeRule(rule, set)];
  if (before === after) return set;
  const action = isReweighting(old, rule) ? "reweighted" : "replaced";
  const changes = [...set.changes, entry({ action, rule: place, before, after }, note)];
  return { ...set, rules: set.rules.map((other, i) => (i === place ? rule : other)), changes };
}

/** With another reason for an edit. */
export function withNote(set: RuleSet, place: number, note: string): RuleSet {
  const { note: old, ...change } = set.changes[place];
  if ((old ?? "") === note.trim()) return set;
  return { ...set, changes: set.changes.map((other, i) => (i === place ? entry(change, note) : other)) };
}

/** Whether two rules differ in nothing but their say. */
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
