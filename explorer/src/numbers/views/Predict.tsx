/** One row, to be changed value by value, and the sum that the rules make of it. */

import { type ReadonlySignal, type Signal, useComputed, useSignal } from "@preact/signals";
import { readCsvRow } from "../../lib/csv";
import { nearMisses } from "../../lib/explain";
import { type RowDraft, rowDraftOf } from "../../lib/rowDraft";
import { counted, describePremise, describeTerm, MOST_CATEGORIES } from "../../lib/text";
import { Paste } from "../../views/predict/RowSource";
import "../../views/predict.css";
import { Fields } from "../components/Fields";
import { Waterfall } from "../components/Waterfall";
import { quantile } from "../lib/errors";
import { JUDGES } from "../lib/story";
import { type RowSum, sumOnRow } from "../lib/sums";
import { amount, responseName, short, signed } from "../lib/text";
import { useNumberStore } from "../store";

const MOST_MISSES = 5;

export function Predict() {
  const store = useNumberStore();
  const draft = rowDraftOf(store);
  const sum = useComputed(() => sumOnRow(store.rules.value, draft.values.value));
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
    <div class="predict">
      <Verdict sum={sum} draft={draft} />
      <section class="predict-form" aria-label="Values of the row">
        <Start draft={draft} />
        <Paste onText={take} notice={notice.value} />
        <Fields draft={draft} lit={lit} />
      </section>
      <section class="predict-answer" aria-label="Answer">
        <h2>How the number comes about</h2>
        <Waterfall set={store.rules.value} sum={sum.value} values={draft.values.value} lit={lit} />
        <NearMisses draft={draft} lit={lit} />
      </section>
    </div>
  );
}

function Verdict({ sum, draft }: { sum: ReadonlySignal<RowSum>; draft: RowDraft }) {
  const store = useNumberStore();
  const set = store.rules.value;
  const row = draft.base.value;
  const isOwn = row !== null && draft.changed.value.size === 0;
  const before = useComputed(() => sumOnRow(store.rules.value, draft.baseValues.value).response);
  const judge = store.judge.value;
  const usual = useComputed(() => {
    const errors = store.errors.value;
    return errors === null ? null : quantile(errors.map(Math.abs).sort(), 0.9);
  }).value;
  const recorded = [
    ...(store.network !== null && row !== null ? [`the network says ${short(store.network[row])}`] : []),
    ...(store.truth !== null && row !== null ? [`the truth is ${short(store.truth[row])}`] : []),
  ];
  return (
    <div class="verdict" role="status">
      {responseName(set)}: <strong class="verdict-number">{amount(sum.value.response)}</strong>
      {!isOwn && row !== null && <span class="quiet"> (before the changes {amount(before.value)})</span>}
      {isOwn && recorded.length > 0 && <p class="recorded quiet">Here {recorded.join(", and ")}.</p>}
      {usual !== null && judge !== null && <p class="recorded quiet">On nine of ten rows, the rules are within {short(Number(usual.toPrecision(2)))} of {JUDGES.get(judge)?.name}.</p>}
    </div>
  );
}

function Start({ draft }: { draft: RowDraft }) {
  const store = useNumberStore();
  const { table } = store;
  const row = draft.base.value;
  const nChanged = draft.changed.value.size;
  const shown = row === null || table === null ? "typical" : String(table.numbers[row]);
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
              value={shown}
              onChange={(event) => {
                const place = table.numbers.indexOf(Number(event.currentTarget.value));
                if (place >= 0) draft.setBase(place);
                else event.currentTarget.value = shown;
              }}
            />
          </label>
          <button type="button" aria-label="Previous row" disabled={row === null} onClick={() => step(-1)}>
            ‹
          </button>
          <button type="button" aria-label="Next row" disabled={row === null} onClick={() => step(1)}>
            ›
          </button>
          <button type="button" onClick={() => draft.setBase(row === null ? 0 : null)}>
            {row === null ? "First row" : "Typical row"}
          </button>
        </>
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

function NearMisses({ draft, lit }: { draft: RowDraft; lit: Signal<number | null> }) {
  const store = useNumberStore();
  const set = store.rules.value;
  const found = nearMisses(set, draft.values.value, new Float64Array(set.features.length).fill(1)).sort((a, b) => Math.abs(set.rules[b.place].addition) - Math.abs(set.rules[a.place].addition));
  if (found.length === 0) return null;
  return (
    <>
      <h2>One condition away</h2>
      <ul class="rule-buttons">
        {found.slice(0, MOST_MISSES).map(({ place, failing }) => {
          const rule = set.rules[place];
          const point = (id: number | null) => () => (lit.value = id);
          return (
            <li key={rule.id} onMouseEnter={point(rule.id)} onMouseLeave={point(null)}>
              <button type="button" class="plain" onClick={() => store.selectRule(rule.id)} onFocus={point(rule.id)} onBlur={point(null)}>
                <strong class="number">{signed(rule.addition)}</strong> if {describeTerm(failing, set.features[failing.feature], MOST_CATEGORIES)}{" "}
                {rule.terms.length > 1 && <span class="quiet">({describePremise({ terms: rule.terms.filter((term) => term !== failing) }, set.features, MOST_CATEGORIES)} holds)</span>}
              </button>
            </li>
          );
        })}
      </ul>
    </>
  );
}
