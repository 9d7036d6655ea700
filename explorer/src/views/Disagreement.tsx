/** Where rules, network and truth differ: a confusion table, the features and slices with most differences, and the rows. */

import { agreementOf, confusionGiven, confusionHere } from "../lib/confusion";
import { intervalText, wilson } from "../lib/intervals";
import { type Cohort, type Judge, JUDGES, readSelection, writeSelection } from "../lib/selection";
import { counted, grouped, percent } from "../lib/text";
import { useStore } from "../store";
import { CellGrid } from "./disagreement/CellGrid";
import { CohortRows } from "./disagreement/CohortRows";
import { FailureMap } from "./disagreement/FailureMap";
import { pairsOf } from "./disagreement/pairs";
import { Slices } from "./disagreement/Slices";
import "./disagreement.css";

export function Disagreement() {
  const store = useStore();
  const pairs = pairsOf(store);
  const pairText = store.address.param("dis.pair");
  const cellText = store.address.param("dis.cell");
  const countsText = store.address.param("dis.counts");
  const [a, b] = pairs.find((pair) => pair.join("-") === pairText.value) ?? pairs[0];
  const given = store.payload.confusion?.find((entry) => entry.rows === a && entry.columns === b);
  // Edited rules cannot be run on rows that are not in this report.
  const canCountAll = given !== undefined && !(store.isEdited.value && b === "rules");
  const isOfAll = canCountAll && countsText.value !== "here";
  const { table } = store;
  const found = store.evaluation.value;
  if (table === null || found === null) return null;
  const here = confusionHere(a, b, table, found);
  if (here === null) return null;
  const confusion = isOfAll ? confusionGiven(given, store.rules.value.classes) : here;
  const agreement = agreementOf(confusion);
  const cell = readSelection(cellText.value, table);
  const cohort: Cohort = cell?.kind === "cohort" && isOfPair(cell.cohort, a, b) ? cell.cohort : { kind: "differ", a, b };
  const choose = (next: Cohort) => {
    cellText.value = writeSelection({ kind: "cohort", cohort: next }, table);
    store.select({ kind: "cohort", cohort: next });
  };
  const choosePair = (pair: readonly [Judge, Judge]) => {
    pairText.value = pair.join("-");
    cellText.value = "";
  };
  return (
    <div class="disagreement">
      <div class="toolbar">
        <span class="switch" role="group" aria-label="Compared">
          {pairs.map((pair) => (
            <button key={pair.join()} type="button" aria-pressed={pair[0] === a && pair[1] === b} class={pair[0] === a && pair[1] === b ? "is-on" : ""} onClick={() => choosePair(pair)}>
              {JUDGES[pair[0]]} × {JUDGES[pair[1]].toLowerCase()}
            </button>
          ))}
        </span>
        {table.nRows < table.nTotal && (
          <span class="switch" role="group" aria-label="Counted on">
            <button type="button" aria-pressed={isOfAll} class={isOfAll ? "is-on" : ""} disabled={!canCountAll} onClick={() => (countsText.value = "")}>
              All {grouped(table.nTotal)} rows
            </button>
            <button type="button" aria-pressed={!isOfAll} class={isOfAll ? "" : "is-on"} onClick={() => (countsText.value = "here")}>
              {grouped(table.nRows)} in this page
            </button>
          </span>
        )}
        {b === "rules" && store.whyUnknown.value !== null ? (
          <span role="status">How often they agree is not known here: {store.whyUnknown.value}, which the edited rules test. Rules that test it are ignored.</span>
        ) : (
          <span>
            They agree on <strong>{percent(agreement)}</strong> of {counted(confusion.nRows, "row")} <span class="quiet">({intervalText(wilson(Math.round(agreement * confusion.nRows), confusion.nRows))})</span>.
          </span>
        )}
      </div>
      <div class="parts">
        <section aria-label="Confusion table and slices" class={confusion.bNames.length > 10 ? "who is-dense" : "who"}>
          <CellGrid confusion={confusion} cohort={cohort} onChoose={choose} />
          <p class="quiet">
            Rows: {JUDGES[a].toLowerCase()}. Columns: {JUDGES[b].toLowerCase()}. Choose a cell to list its rows
            {table.nRows < table.nTotal ? " among those in this page" : ""}; arrow keys move between cells.
          </p>
          <Slices pair={[a, b]} cohort={cohort} onChoose={choose} />
        </section>
        <div class="where">
          <FailureMap pair={[a, b]} isOfAll={isOfAll} onChoose={choose} />
        </div>
      </div>
      <CohortRows cohort={cohort} isAll={cohort.kind === "differ"} onAll={() => choose({ kind: "differ", a, b })} />
    </div>
  );
}

function isOfPair(cohort: Cohort, a: Judge, b: Judge): boolean {
  if (cohort.kind === "slice") return b === "rules";
  return "a" in cohort && cohort.a === a && cohort.b === b;
}
