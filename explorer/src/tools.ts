/** The page's functions with plain arguments and results, for scripts and for the tests against Python. */

import { CLASSES } from "./lib/classes";
import { compareRules, flipsOf, overOwnFeatures } from "./lib/compare";
import { CounterfactualSearch, finished } from "./lib/counterfactuals/search";
import { shortestDecimal } from "./lib/decimals";
import { rowValues } from "./lib/evaluateRow";
import { nearMisses } from "./lib/explain";
import { openRules } from "./lib/opened";
import { withId } from "./lib/edits";
import type { AnyRuleFile, RuleKind } from "./lib/kind";
import { readingCost, ruleCost } from "./lib/readingCost";
import { writeRuleFile } from "./lib/ruleFile";
import type { AnyRule, AnyRules, RuleSet } from "./lib/rules";
import { RuleTextError, writeTerm } from "./lib/ruleText";
import { describeRule } from "./lib/text";
import { type Node, type Sharing, treeOf } from "./lib/tree";
import type { RuleFile } from "./payload";
import type { Store } from "./store";

export function toolsOf(store: Store) {
  const rowOf = (row: number): number[] => (store.table === null ? [] : rowValues(store.table, row).map((value) => value ?? NaN));
  return {
    /** The rule file of rules written as text, or the error in the text. */
    readText: (text: string) => readText(CLASSES, store.original, text),
    /** The rules as text, one each. */
    writeRules: (): string[] => store.rules.value.rules.map((rule) => CLASSES.writeRule(rule, store.rules.value)),
    /** The rules as the page shows them. */
    describeRules: (): string[] => store.rules.value.rules.map((rule) => describeRule(rule, store.rules.value)),
    /** The reading cost of each rule, and of all. */
    readingCosts(): { rules: number[]; all: number } {
      const set = store.rules.value;
      return { rules: set.rules.map((rule) => ruleCost(rule, set.features)), all: readingCost(set) };
    },
    /** The working rules as a file. */
    ruleFile: (): RuleFile => writeRuleFile(store.rules.value),
    /** Per row the smallest change: pairs of feature and encoded value, what it becomes, and the distance. */
    smallestChanges(maxFeatures: 1 | 2, to: number | null) {
      const search = new CounterfactualSearch(store.rules.value, store.table);
      return Array.from({ length: store.table?.nRows ?? 0 }, (_, row) => {
        const found = finished(search.smallest(rowOf(row), { to, maxFeatures }));
        return found === null ? null : { ...found, changes: found.changes.map(({ feature, after }) => [feature, after] as const) };
      });
    },
    /** Per row the places of rules with one failing term, ascending. */
    nearMisses(): number[][] {
      const units = new Float64Array(store.rules.value.features.length).fill(1);
      return Array.from({ length: store.table?.nRows ?? 0 }, (_, row) =>
        nearMisses(store.rules.value, rowOf(row), units)
          .map((miss) => miss.place)
          .sort((a, b) => a - b),
      );
    },
    /** The differences of other rules (the text of a rule file) from the working rules. */
    compareWith(text: string) {
      const other: RuleSet = openRules(text);
      const { table } = store;
      const own = table === null ? "no rows" : overOwnFeatures(CLASSES, other, store.rules.value, table);
      const [now, after] = [store.evaluation.value, typeof own === "string" ? null : store.evaluate(own)];
      return { ...compareRules(CLASSES, store.rules.value, other), flips: now === null || after === null ? null : flipsOf(now, after) };
    },
    /** Per leaf of the tree the rule, and the texts of all terms from the root to it. */
    leaves(sharing: Sharing, byClass: boolean) {
      const set = store.rules.value;
      const found: { place: number; path: string[] }[] = [];
      const visit = (node: Node): void => {
        if (node.kind === "branch") node.children.forEach(visit);
        else found.push({ place: node.place, path: node.path.map((term) => writeTerm(term, set.features[term.feature])) });
      };
      treeOf(CLASSES, set, [...set.rules.keys()], { sharing, byGroup: byClass }).forEach(visit);
      return found;
    },
    shortestDecimal,
  };
}

/** The rule file of rules written as text, or the error in the text. */
export function readText<R extends AnyRule, S extends AnyRules<R>>(kind: RuleKind<R, S>, set: S, text: string): AnyRuleFile | { error: { message: string; line: number; column: number } } {
  try {
    const rules = kind.readRules(text, set).map((rule, id) => withId<R>(rule, id));
    return kind.writeFile({ ...set, rules, changes: [] });
  } catch (error) {
    if (!(error instanceof RuleTextError)) throw error;
    return { error: { message: error.problem, line: error.line, column: error.column } };
  }
}

export type Tools = ReturnType<typeof toolsOf>;
