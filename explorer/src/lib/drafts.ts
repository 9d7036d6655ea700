/** Texts of rules that are being written: how they are read and applied. Pure functions. */

import { withAdded, withId, withReplaced } from "./edits";
import type { RuleKind } from "./kind";
import { type AnyRule, type AnyRules, type New, termOn } from "./rules";
import { RuleTextError } from "./ruleText";

/** Texts by the id of their rule, or "new" for a new rule. */
export type Drafts = ReadonlyMap<number | "new", string>;

/** Set the text of a draft, or remove it with null. */
export function withText(texts: Drafts, key: number | "new", text: string | null): Drafts {
  const next = new Map(texts);
  if (text === null) next.delete(key);
  else next.set(key, text);
  return next;
}

/** The result of reading a draft: rules, or an error; null for an empty text. */
export type Reading<R extends AnyRule> = { rules: New<R>[] } | { error: RuleTextError } | null;

export function readingOf<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, text: string, set: S): Reading<R> {
  if (text.trim() === "") return null;
  try {
    return { rules: kind.readRules(text, set) };
  } catch (error) {
    if (error instanceof RuleTextError) return { error };
    throw error;
  }
}

export interface Target<R extends AnyRule = AnyRule> {
  rule: R;
  place: number;
}

/** The rule set with a draft applied; null if that is not possible. */
export function applied<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S, target: Target<R> | null, rules: readonly New<R>[], note: string, newId: () => number): S | null {
  if (target !== null) return rules.length === 1 ? withReplaced(kind, set, target.place, rules[0], note) : null;
  const added = rules.map((rule) => withId<R>(rule, newId()));
  return added.length === 0 ? null : withAdded(kind, set, added, note);
}

/** An example of a rule, shown in an empty editor. */
export function placeholder<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S): string {
  const terms = set.features.length > 0 ? [termOn(0, set.features[0].categories === null ? { high: 1 } : { codes: [0] })] : [];
  return kind.writeRule({ ...kind.emptyRule(set), terms }, set);
}
