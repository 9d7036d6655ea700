/** Edits of a rule set. Each returns a new one with a log entry, like Python's `add`, `remove`, `replace`, `reweight`. */

import type { ChangeEntry } from "../payload";
import type { RuleKind } from "./kind";
import { type AnyRule, type AnyRules, type New, sameTerm } from "./rules";

/** Append rules. */
export function withAdded<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S, rules: readonly R[], note: string): S {
  const first = set.rules.length;
  const changes = rules.map((rule, i) => entry({ action: "added", rule: first + i, after: kind.writeRule(rule, set) }, note));
  return { ...set, rules: [...set.rules, ...rules], changes: [...set.changes, ...changes] };
}

/** Remove rules, given by place. */
export function withoutRules<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S, places: readonly number[], note: string): S {
  const gone = new Set(places);
  // Logged from the last to the first, so that each number is still right at its turn.
  const changes = [...gone]
    .sort((a, b) => b - a)
    .map((place) => entry({ action: "removed", rule: place, before: kind.writeRule(set.rules[place], set) }, note));
  return { ...set, rules: set.rules.filter((_, place) => !gone.has(place)), changes: [...set.changes, ...changes] };
}

/** Replace a rule. A change of what it says alone, such as of its weight, is logged as a reweighting. */
export function withReplaced<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S, place: number, next: New<R>, note: string): S {
  const old = set.rules[place];
  const rule = withId(next, old.id);
  const [before, after] = [kind.writeRule(old, set), kind.writeRule(rule, set)];
  if (before === after) return set;
  const action = hasSamePremise(old, rule) && kind.isReweighting(old, rule) ? "reweighted" : "replaced";
  const changes = [...set.changes, entry({ action, rule: place, before, after }, note)];
  return { ...set, rules: set.rules.map((other, i) => (i === place ? rule : other)), changes };
}

/** The rule with an id. */
export function withId<R extends AnyRule>(rule: New<R>, id: number): R {
  // A rule is what is left without the id, and the id.
  return { ...rule, id } as R;
}

/** Set the reason of a logged edit. */
export function withNote<S extends AnyRules>(set: S, place: number, note: string): S {
  const { note: old, ...change } = set.changes[place];
  if ((old ?? "") === note.trim()) return set;
  return { ...set, changes: set.changes.map((other, i) => (i === place ? entry(change, note) : other)) };
}

function hasSamePremise(a: AnyRule, b: AnyRule): boolean {
  const isSameOrigin = a.origin?.layer === b.origin?.layer && a.origin?.clause === b.origin?.clause;
  return isSameOrigin && a.terms.length === b.terms.length && a.terms.every((term, i) => sameTerm(term, b.terms[i]));
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
