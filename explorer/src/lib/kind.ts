/**
 * What the page needs to know about a kind of rules: rules that vote for classes (`classes.ts`) or that add numbers
 * (`numbers/lib/kind.ts`). Views and functions that are the same for both ask the kind where they differ.
 */

import type { NumberRuleFile, RuleFile } from "../payload";
import type { AnyRule, AnyRules, New } from "./rules";

export type AnyRuleFile = RuleFile | NumberRuleFile;

/** A setting of a rule set other than its rules and features, as text. */
export interface Setting {
  readonly name: string;
  readonly text: string;
}

export interface RuleKind<R extends AnyRule = AnyRule, S extends AnyRules<R> = AnyRules<R>> {
  /** The class in Python whose `load` reads rule files of this kind. */
  readonly loader: string;
  /** What rules do to a row, and what was done to it. */
  readonly verb: readonly [present: string, past: string];
  readFile(file: AnyRuleFile): S;
  writeFile(set: S): AnyRuleFile;
  /** The rules in the text of a file; throws an Error with a readable message. */
  openFile(text: string): S;

  /** Rules in the rule language, read and written. */
  readRules(text: string, set: S): New<R>[];
  writeRule(rule: New<R>, set: S): string;
  /** A rule without terms, to start a new one from. */
  emptyRule(set: S): New<R>;
  /** Counts of the old rule do not apply to one with other terms. */
  withTerms(rule: New<R>, terms: R["terms"]): New<R>;
  /** Whether two rules with the same premise differ only in how much they say, not in what. */
  isReweighting(before: New<R>, after: New<R>): boolean;
  /** Settings that an edit may change. */
  editedSettings(original: S, edited: S): Partial<S>;

  /** What a rule concludes, in words. */
  describeConclusion(rule: R, set: S): string;
  /** Rules are told apart by groups: their class, or whether they add or take away. */
  groupNames(set: S): readonly string[];
  groupOf(rule: R): number;
  /** What there is to read. */
  readingCost(set: S): number;
  /** Features that are used besides those that rules test. */
  otherFeatures(set: S): readonly number[];
  /** The rules over other features, which have these places. */
  withPlaces(set: S, places: readonly number[]): S;

  // --- Comparison ---

  /** Keys that are equal for rules whose conclusions are, and for rules that are equal in everything but the premise. */
  conclusionKey(rule: R, set: S): string;
  statisticsKey(rule: R, set: S): string;
  settings(set: S): readonly Setting[];
  /** What differs between rules with the same premise: `then no → yes, confidence 0.9 → 0.6`. */
  whatDiffers(before: S, old: R, after: S, newer: R): string;
  /** Whether two rules conclude alike. */
  isAlike(rule: R, own: S, other: R, others: S): boolean;
  /** What a rule concludes instead of another one: words that come before those on terms, and words that come after. */
  insteadOf(rule: R, own: S, other: R, others: S): readonly [before: readonly string[], after: readonly string[]];
}
