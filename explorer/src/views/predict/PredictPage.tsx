/** One row, chosen, pasted or dropped, and what the rules make of it. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { readCsvRow } from "../../lib/csv";
import type { RowDraft } from "../../lib/rowDraft";
import { usePage } from "../../pageStore";
import { Paste, Start } from "./RowSource";
import "../predict.css";

interface Props {
  draft: RowDraft;
  verdict: ComponentChildren;
  fields: ComponentChildren;
  answer: ComponentChildren;
}

export function PredictPage({ draft, verdict, fields, answer }: Props) {
  const store = usePage();
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
      {verdict}
      <section class="predict-form" aria-label="Values of the row">
        <Start draft={draft} />
        <Paste onText={take} notice={notice.value} />
        {fields}
      </section>
      <section class="predict-answer" aria-label="Answer">
        {answer}
      </section>
    </div>
  );
}
