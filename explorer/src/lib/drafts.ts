/** Texts of rules that are being written: how they are read and applied. Pure functions. */

import { withAdded, withReplaced } from "./edits";
import { DEFAULT_STATISTICS, type NewRule, type Rule, type RuleSet, termOn } from "./rules";
import { readRules, RuleTextError, writeRule } from "./ruleText";

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
export type Reading = { rules: NewRule[] } | { error: RuleTextError } | null;

export function readingOf(text: string, set: RuleSet): Reading {
  if (text.trim() === "") return null;
  try {
    return { rules: readRules(text, set) };
  } catch (error) {
    if (error instanceof RuleTextError) return { error };
    throw error;
  }
}

export interface Target {
  rule: Rule;
  place: number;
}

/** The rule set with a draft applied; null if that is not possible. */
export function applied(set: RuleSet, target: Target | null, rules: readonly NewRule[], note: string, newId: () => number): RuleSet | null {
  if (target !== null) return rules.length === 1 ? withReplaced(set, target.place, rules[0], note) : null;
  const added = rules.map((rule) => ({ ...rule, id: newId() }));
  return added.length === 0 ? null : withAdded(set, added, note);
}

/** An example of a rule, shown in an empty editor. */
export function placeholder(set: RuleSet): string {
  const example: NewRule = {
    terms: set.features.length > 0 ? [termOn(0, set.features[0].categories === null ? { high: 1 } : { codes: [0] })] : [],
    classIndex: 0,
    ...DEFAULT_STATISTICS,
    priority: true,
    origin: null,
  };
  return writeRule(example, set);
}
