/** Two rule sets side by side: rules added, removed or changed, and rows whose decision flips. */

import { type Signal, useComputed, useSignal } from "@preact/signals";
import { compareRules } from "../lib/compare";
import { counted, formatName, grouped } from "../lib/text";
import { usePage } from "../pageStore";
import { useParts } from "../parts";
import { Differences } from "./compare/Differences";
import { compareStateOf, opened, ownRules, type Source, sourcesOf } from "./compare/sources";
import { Summary } from "./compare/Summary";
import "./compare.css";

export function Compare() {
  const store = usePage();
  const parts = useParts();
  const state = compareStateOf(store);
  const [first, second] = [store.address.param("compare.before", ""), store.address.param("compare.after", "")];
  const notice = useSignal("");
  const sources = useComputed(() => sourcesOf(store, state));
  const chosen = useComputed(() => {
    const list = sources.value;
    const others = [...state.opened.value, ...state.embedded];
    const fallback = others.length > 0 && !store.isEdited.value ? others[others.length - 1].id : "now";
    const pick = (id: string, other: string) => list.find((source) => source.id === id) ?? list.find((source) => source.id === other) ?? list[0];
    return [pick(first.value, "made"), pick(second.value, fallback)] as const;
  });
  const comparison = useComputed(() => compareRules(store.kind, chosen.value[0].set, chosen.value[1].set));
  const own = useComputed(() => chosen.value.map((source) => ownRules(store, source.set)));
  const open = (file: File | undefined) => {
    if (file === undefined) return;
    opened(store.kind, file).then(
      (set) => {
        const source = { id: `file.${state.opened.value.length}`, title: file.name, set };
        state.opened.value = [...state.opened.value, source];
        second.value = source.id;
        notice.value = `Opened ${file.name}: ${counted(set.rules.length, "rule")}.`;
      },
      (error: unknown) => (notice.value = `${file.name} cannot be opened: ${error instanceof Error ? error.message : String(error)}.`),
    );
  };
  const [before, after] = chosen.value;
  const [old, newer] = own.value;
  const choice = (label: string, current: Source, param: Signal<string>) => (
    <label>
      {label}{" "}
      <select value={current.id} onChange={(event) => (param.value = event.currentTarget.value)}>
        {sources.value.map(({ id, title, set }) => (
          <option key={id} value={id}>
            {formatName(title)} ({grouped(set.rules.length)})
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div
      class="compare"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        open(event.dataTransfer?.files[0]);
      }}
    >
      <div class="controls">
        {choice("Before", before, first)}
        {choice("After", after, second)}
        <button
          type="button"
          onClick={() => {
            [first.value, second.value] = [after.id, before.id];
          }}
        >
          Swap
        </button>
        <label class="file-button">
          Open a rule file
          <input
            type="file"
            accept=".json,application/json"
            onChange={(event) => {
              open(event.currentTarget.files?.[0]);
              event.currentTarget.value = "";
            }}
          />
        </label>
        <span class="quiet">or drop one here</span>
        <span role="status">{notice.value}</span>
      </div>
      <Summary comparison={comparison.value} before={before} after={after} own={own.value} />
      <div class="compare-parts">
        <Differences comparison={comparison.value} before={before.set} after={after.set} own={own.value} isNow={after.id === "now"} />
        <section aria-label={parts.comparedRowsTitle} class="compare-flips">
          <h2>{parts.comparedRowsTitle}</h2>
          {typeof old === "string" || typeof newer === "string" ? <p>They cannot be compared: {typeof old === "string" ? old : String(newer)}.</p> : parts.comparedRows(old, newer)}
        </section>
      </div>
    </div>
  );
}
