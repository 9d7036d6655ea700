/** The rule sets that can be chosen: those of the report, those that came with it, and files that were opened. */

import { signal, type Signal } from "@preact/signals";
import { evaluateForeign } from "../../lib/compare";
import type { Evaluation } from "../../lib/evaluate";
import { MAX_FILE_BYTES, openRules } from "../../lib/opened";
import { perStore } from "../../lib/perStore";
import { readRuleFile } from "../../lib/ruleFile";
import type { RuleSet } from "../../lib/rules";
import { grouped } from "../../lib/text";
import type { Store } from "../../store";

/** A rule set that can be chosen. */
export interface Source {
  /** In the address. */
  id: string;
  title: string;
  set: RuleSet;
}

interface CompareState {
  embedded: readonly Source[];
  opened: Signal<readonly Source[]>;
}

export const compareStateOf = perStore(
  (store): CompareState => ({
    embedded: (store.payload.compare ?? []).map(({ title, rules }, i) => ({ id: `embedded.${i}`, title, set: readRuleFile(rules) })),
    opened: signal<readonly Source[]>([]),
  }),
);

export function sourcesOf(store: Store, state: CompareState): Source[] {
  return [
    { id: "made", title: "As in the report", set: store.original },
    { id: "now", title: store.isEdited.value ? "With the edits" : "With the edits (none yet)", set: store.rules.value },
    ...state.embedded,
    ...state.opened.value,
  ];
}

export async function opened(file: File): Promise<RuleSet> {
  if (file.size > MAX_FILE_BYTES) throw new Error(`the file has ${grouped(Math.round(file.size / 2 ** 20))} MB; rule files may have at most ${MAX_FILE_BYTES / 2 ** 20} MB`);
  return openRules(await file.text());
}

/** The evaluation of a rule set on the rows of the report, or a text that says why there is none. */
export function answersOf(store: Store, source: Source): Evaluation | string {
  const { table, evaluator } = store;
  if (table === null || evaluator === null) return "the report has no rows";
  if (source.id === "now") return store.whyUnknown.value ?? store.evaluation.value ?? "the report has no rows";
  return source.id === "made" ? evaluator.evaluate(source.set) : evaluateForeign(source.set, store.original, table, evaluator);
}
