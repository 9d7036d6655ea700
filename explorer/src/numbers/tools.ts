/** The page's functions with plain arguments and results, for scripts and for the tests against Python. */

import { compareRules } from "../lib/compare";
import { rowValues } from "../lib/evaluateRow";
import type { NumberRuleFile } from "../payload";
import { readText } from "../tools";
import { curveOf } from "./lib/curves";
import { NUMBERS } from "./lib/kind";
import { readNumberFile, writeNumberFile } from "./lib/rules";
import { sumOnRow } from "./lib/sums";
import type { NumberStore } from "./store";

export function numberToolsOf(store: NumberStore) {
  return {
    /** The predictions on the rows of the report; null if it has none. */
    predictions: (): number[] | null => (store.evaluation.value === null ? null : Array.from(store.evaluation.value.predictions)),
    /** The same, row by row as the Predict view adds up its row. */
    rowByRow(): number[] | null {
      const { table } = store;
      if (table === null) return null;
      return Array.from({ length: table.nRows }, (_, row) => sumOnRow(store.rules.value, rowValues(table, row).map((value) => value ?? NaN)).response);
    },
    /** What the rules of a file predict for rows of encoded values, NaN where missing; before the link if `isSum`. */
    predictWith(file: NumberRuleFile, rows: number[][], isSum = false): number[] {
      const set = readNumberFile(file);
      return rows.map((values) => sumOnRow(set, values)).map(({ sum, response }) => (isSum ? sum : response));
    },
    /** The curve of the Predict view along a numeric feature. */
    curve: (values: number[], feature: number, low: number, high: number) => curveOf(store.rules.value, values, feature, low, high),
    /** The rule file of rules written as text, or the error in the text. */
    readText: (text: string) => readText(NUMBERS, store.original, text),
    /** The rules as text, one each. */
    writeRules: (): string[] => store.rules.value.rules.map((rule) => NUMBERS.writeRule(rule, store.rules.value)),
    /** Why a rule file cannot be opened; null if it can. */
    whyRefused(text: string): string | null {
      try {
        NUMBERS.openFile(text);
        return null;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
    /** The differences of other rules (the text of a rule file) from the working rules. */
    compareWith: (text: string) => compareRules(NUMBERS, store.rules.value, NUMBERS.openFile(text)),
    /** The working rules as a file. */
    ruleFile: (): NumberRuleFile => writeNumberFile(store.rules.value),
  };
}

export type NumberTools = ReturnType<typeof numberToolsOf>;
