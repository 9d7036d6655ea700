/** Where the row comes from: the report, or a line of CSV. */

import { useSignal } from "@preact/signals";
import type { RowDraft } from "../../lib/rowDraft";
import { counted } from "../../lib/text";
import { usePage } from "../../pageStore";

export function Start({ draft }: { draft: RowDraft }) {
  const store = usePage();
  const { table } = store;
  const row = draft.base.value;
  const nChanged = draft.changed.value.size;
  const step = (by: number) => {
    if (table !== null && row !== null) draft.setBase((row + by + table.nRows) % table.nRows);
  };
  return (
    <div class="controls">
      {table !== null && (
        <>
          <label>
            Row{" "}
            <input
              class="row-number"
              inputMode="numeric"
              value={row === null ? "typical" : String(table.numbers[row])}
              onChange={(event) => {
                const wanted = Number(event.currentTarget.value);
                const place = table.numbers.indexOf(wanted);
                if (place >= 0) draft.setBase(place);
                else event.currentTarget.value = row === null ? "typical" : String(table.numbers[row]);
              }}
            />
          </label>
          <button type="button" aria-label="Previous row" disabled={row === null} onClick={() => step(-1)}>
            ‹
          </button>
          <button type="button" aria-label="Next row" disabled={row === null} onClick={() => step(1)}>
            ›
          </button>
          <SelectedRow draft={draft} />
        </>
      )}
      {row !== null && (
        <button type="button" onClick={() => draft.setBase(null)}>
          Typical row
        </button>
      )}
      {row === null && table !== null && (
        <button type="button" onClick={() => draft.setBase(0)}>
          First row
        </button>
      )}
      {draft.unknownRow.value !== null && <span role="status">Row {draft.unknownRow.value} is not in this report; a typical row is shown.</span>}
      {nChanged > 0 && (
        <button type="button" onClick={() => draft.reset()}>
          Undo {counted(nChanged, "change")}
        </button>
      )}
    </div>
  );
}

function SelectedRow({ draft }: { draft: RowDraft }) {
  const store = usePage();
  const selection = store.selection.value;
  if (selection?.kind !== "row" || selection.row === draft.base.value) return null;
  return (
    <button type="button" onClick={() => draft.setBase(selection.row)}>
      Use the selected row
    </button>
  );
}

export function Paste({ onText, notice }: { onText: (text: string) => void; notice: string }) {
  const text = useSignal("");
  return (
    <details class="paste">
      <summary>Paste or drop a row of CSV</summary>
      <p>
        <textarea
          rows={3}
          aria-label="A row of CSV"
          placeholder={"optional line of names\nline of values"}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </p>
      <p class="row-buttons">
        <button type="button" onClick={() => onText(text.value)}>
          Use this row
        </button>
        <label class="file-button">
          Open a file
          <input
            type="file"
            accept=".csv,.tsv,.txt,text/csv"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file !== undefined) void file.slice(0, 2 ** 20).text().then(onText);
              // The same file can be chosen again; it may hold another row by then.
              event.currentTarget.value = "";
            }}
          />
        </label>
      </p>
      <p role="status">{notice}</p>
    </details>
  );
}
