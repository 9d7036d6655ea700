/** The effect of all edits so far. */

import { Effect } from "../../components/Effect";
import { useReply } from "../../lib/asking";
import { count, type Figure, figureText } from "../../lib/figures";
import type { AnyRules } from "../../lib/rules";
import { counted, grouped } from "../../lib/text";
import { type PageStore, usePage } from "../../pageStore";
import { saveRules } from "../../Share";

export function Effects({ ofAll }: { ofAll: readonly Figure[] }) {
  const store = usePage();
  const { table, original } = store;
  const now = store.rules.value;
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
      {table === null ? (
        <p class="quiet">The report has no rows, so effects on predictions cannot be shown.</p>
      ) : store.whyUnknown.value !== null ? (
        <p role="status">Not known here: {store.whyUnknown.value}, which the edited rules test.</p>
      ) : (
        <>
          <Effect label={`On the ${grouped(table.nRows)} rows in this page`} before={[...store.figuresOf(original), ...sizesOf(store, original)]} after={[...store.figuresOf(now), ...sizesOf(store, now)]} />
          <p class="quiet">
            on the {grouped(table.nRows)} rows in this page
            {table.nRows < table.nTotal && ofAll.length > 0 && store.payload.served === undefined ? `; on all ${grouped(table.nTotal)} rows, the original has ${ofAll.slice(0, 2).map((figure) => `${figureText(figure)} ${figure.name}`).join(", ")}` : ""}
          </p>
        </>
      )}
      {store.payload.served !== undefined && store.payload.served.n_total > 0 && ofAll.length > 0 && <ServedEffects before={ofAll} nTotal={store.payload.served.n_total} />}
    </section>
  );
}

function sizesOf(store: PageStore, set: AnyRules): Figure[] {
  return [count("rules", set.rules.length), count("reading cost", store.kind.readingCost(set)), count(`${store.kind.verb[1]} differently`, store.shiftBetween(store.original, set).nRows)];
}

/** In served mode, the effect on all rows of the server. */
function ServedEffects({ before, nTotal }: { before: readonly Figure[]; nTotal: number }) {
  const store = usePage();
  const reply = useReply(
    () => {
      const set = store.rules.value;
      return (signal) => store.askFigures(set, signal);
    },
    `Measuring on all ${counted(nTotal, "row")} …`,
    "The server",
  );
  if (typeof reply === "string") return <p role="status">{reply}</p>;
  return (
    <div role="status">
      <Effect label={`On all ${grouped(reply.nRows)} rows`} before={before} after={reply.figures} />
      <p class="quiet">on all {grouped(reply.nRows)} rows</p>
    </div>
  );
}
