/** The effect of all edits so far. */

import { useSignal, useSignalEffect } from "@preact/signals";
import { Effect } from "../../components/Effect";
import { type Measured, measured, measuresOf, nDiffering } from "../../lib/measures";
import { readingCost } from "../../lib/readingCost";
import { writeRuleFile } from "../../lib/ruleFile";
import { askMeasures } from "../../lib/served";
import { counted, grouped, percent } from "../../lib/text";
import type { ServedEntry } from "../../payload";
import { saveRules } from "../../Share";
import { useStore } from "../../store";
import { editStateOf } from "./state";

const PAUSE_MS = 200;

export function Effects() {
  const store = useStore();
  const state = editStateOf(store);
  const now = store.evaluation.value;
  const before = state.original.value;
  const { table } = store;
  return (
    <section class="effects" aria-label="Effect of all edits">
      <div class="effects-head">
        <h2>Original → with all edits</h2>
        <span class="row-buttons">
          <button type="button" disabled={!store.canUndo.value} onClick={() => store.undo()}>
            Undo edit
          </button>
          <button type="button" disabled={!store.canRedo.value} onClick={() => store.redo()}>
            Redo edit
          </button>
          <button type="button" class="primary" onClick={() => saveRules(store)}>
            Save the rules
          </button>
        </span>
      </div>
      {now === null || before === null || table === null ? (
        <p class="quiet">The report has no rows, so effects on decisions cannot be shown.</p>
      ) : store.whyUnknown.value !== null ? (
        <p role="status">Not known here: {store.whyUnknown.value}, which the edited rules test.</p>
      ) : (
        <>
          <Effect
            label={`On the ${grouped(table.nRows)} rows in this page`}
            before={measured(measuresOf(before, table))}
            after={measured(measuresOf(now, table))}
            counts={[
              ["rules", store.original.rules.length, store.rules.value.rules.length],
              ["reading cost", readingCost(store.original), readingCost(store.rules.value)],
              ["decided differently", 0, nDiffering(before, now)],
            ]}
          />
          <p class="quiet">
            on the {grouped(table.nRows)} rows in this page
            {table.nRows < table.nTotal && store.payload.measures?.fidelity != null
              ? `; on all ${grouped(table.nTotal)} rows, the original has a fidelity of ${percent(store.payload.measures.fidelity, 2)}`
              : ""}
          </p>
        </>
      )}
      {store.payload.served !== undefined && store.payload.served.n_total > 0 && <ServedEffects served={store.payload.served} />}
    </section>
  );
}

/** In served mode, the effect on all rows of the server. */
function ServedEffects({ served }: { served: ServedEntry }) {
  const store = useStore();
  const answer = useSignal<{ n: number; measured: Measured } | string>("");
  const isAsking = useSignal(true);
  useSignalEffect(() => {
    const file = writeRuleFile(store.rules.value);
    const stop = new AbortController();
    // The last answer was about other rules.
    isAsking.value = true;
    const take = (reply: { n: number; measured: Measured } | string) => {
      answer.value = reply;
      isAsking.value = false;
    };
    const timer = setTimeout(() => {
      askMeasures(served, file, stop.signal).then(
        ({ n_rows, fidelity, accuracy, coverage }) => take({ n: n_rows, measured: { fidelity, accuracy, coverage } }),
        (error: unknown) => {
          if (!stop.signal.aborted) take(`The server did not answer: ${error instanceof Error ? error.message : String(error)}`);
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  });
  const reply = isAsking.value ? `Measuring on all ${counted(served.n_total, "row")} …` : answer.value;
  const before = store.payload.measures;
  if (typeof reply === "string") return <p role="status">{reply}</p>;
  return (
    <div role="status">
      <Effect label={`On all ${grouped(reply.n)} rows`} before={before ?? reply.measured} after={reply.measured} />
      <p class="quiet">on all {grouped(reply.n)} rows</p>
    </div>
  );
}
