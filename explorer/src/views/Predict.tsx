/** The decision of the rules on any row, the reasons, and the smallest change that flips it. */

import { useComputed, useSignal } from "@preact/signals";
import { CounterfactualSearch } from "../lib/counterfactuals/search";
import { readCsvRow } from "../lib/csv";
import { evaluateRow } from "../lib/evaluateRow";
import { rowDraftOf } from "../lib/rowDraft";
import { winningParts } from "../lib/story";
import { useStore } from "../store";
import { Answer, Verdict } from "./predict/Answer";
import { Fields } from "./predict/Fields";
import { Paste, Start } from "./predict/RowSource";
import "./predict.css";

export function Predict() {
  const store = useStore();
  const draft = rowDraftOf(store);
  const search = useComputed(() => new CounterfactualSearch(store.rules.value, store.table));
  const found = useComputed(() => evaluateRow(store.rules.value, draft.values.value));
  const parts = useComputed(() => winningParts(store));
  const lit = useSignal<number | null>(null);
  const notice = useSignal("");
  const take = (text: string) => {
    try {
      const { values, notes } = readCsvRow(text, store.original);
      draft.setValues(new Map(values.map((value, feature) => [feature, value])));
      notice.value = `Row loaded.${notes.length > 0 ? ` Note: ${notes.join("; ")}.` : ""}`;
    } catch (error) {
      notice.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <div
      class="predict"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        const file = event.dataTransfer?.files[0];
        if (file !== undefined) void file.slice(0, 2 ** 20).text().then(take);
        else take(event.dataTransfer?.getData("text") ?? "");
      }}
    >
      <Verdict found={found} draft={draft} parts={parts} />
      <section class="predict-form" aria-label="Values of the row">
        <Start draft={draft} />
        <Paste onText={take} notice={notice.value} />
        <Fields draft={draft} search={search} lit={lit} />
      </section>
      <section class="predict-answer" aria-label="Answer">
        <Answer draft={draft} found={found} search={search} lit={lit} />
      </section>
    </div>
  );
}
