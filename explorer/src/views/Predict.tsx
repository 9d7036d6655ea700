/** The decision of the rules on any row, the reasons, and the smallest change that flips it. */

import { useComputed, useSignal } from "@preact/signals";
import { CounterfactualSearch } from "../lib/counterfactuals/search";
import { evaluateRow } from "../lib/evaluateRow";
import { rowDraftOf } from "../lib/rowDraft";
import { winningParts } from "../lib/story";
import { useStore } from "../store";
import { Answer, Verdict } from "./predict/Answer";
import { Fields } from "./predict/Fields";
import { PredictPage } from "./predict/PredictPage";

export function Predict() {
  const store = useStore();
  const draft = rowDraftOf(store);
  const search = useComputed(() => new CounterfactualSearch(store.rules.value, store.table));
  const found = useComputed(() => evaluateRow(store.rules.value, draft.values.value));
  const parts = useComputed(() => winningParts(store));
  const lit = useSignal<number | null>(null);
  return (
    <PredictPage
      draft={draft}
      verdict={<Verdict found={found} draft={draft} parts={parts} />}
      fields={<Fields draft={draft} search={search} lit={lit} />}
      answer={<Answer draft={draft} found={found} search={search} lit={lit} />}
    />
  );
}
