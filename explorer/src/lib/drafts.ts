/** Texts of rules that are being written: how they are read and applied. Pure functions. */

import { withAdded, withReplaced } from "./edits";
import type { NewRule, Rule, RuleSet } from "./rules";
import { readRules, RuleTextError, writeRule } from "./ruleText";

/** Texts by the id of their rule, or for a rule that is new. */
export type Drafts = ReadonlyMap<number | "new", string>;

export function withText(texts: Drafts, key: number | "new", text: string | null): Drafts {
  const next = new Map(texts);
  if (text === null) next.delete(key);
  else next.set(key, text);
  return next;
}

/** What the text of a draft says: rules, or what is wrong with it. */
type Reading = { rules: NewRule[] } | { error: RuleTextError } | null;

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

/** A rule set with a draft applied; null if it cannot be. */
export function applied(set: RuleSet, target: Target | null, rules: readonly NewRule[], note: string, newId: () => number): RuleSet | null {
  if (target !== null) return rules.length === 1 ? withReplaced(set, target.place, rules[0], note) : null;
  const added = rules.map((rule) => ({ ...rule, id: newId() }));
  return added.length === 0 ? null : withAdded(set, added, note);
}

export function placeholder(set: RuleSet): string {
  const example: NewRule = {
    terms: set.features.length > 0 ? [{ feature: 0, low: -Infinity, high: 1, codes: set.features[0].categories === null ? null : [0] }] : [],
    classIndex: 0,
    confidence: 1,
    cover: 0,
    correct: 0,
    weight: 1,
    priority: true,
    origin: null,
  };
  return writeRule(example, set);
}
