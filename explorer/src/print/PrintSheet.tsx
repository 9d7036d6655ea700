/** What is printed: everything that matters, in full, whatever view is shown on the screen. */

import { type JSX, render } from "preact";
import { useEffect } from "preact/hooks";
import { type Confusion, confusionGiven, confusionHere } from "../lib/confusion";
import { writeChanges } from "../lib/edits";
import { readingCost } from "../lib/readingCost";
import { concernsOf, headline } from "../lib/story";
import { counted, describeConclusion, describePremise, describeTerm, formatLabel, formatName, grouped, percent, shortNumber } from "../lib/text";
import { speaksAgainst, startOf, votesOf } from "../lib/votes";
import { type PageStore, StoreProvider } from "../pageStore";
import { type Store, useStore } from "../store";
import { VOTING_NOTES } from "../views/overview/Figures";
import "./print.css";

/** Draws a sheet when the page is printed, in place of what is on the screen, and only then. */
export function usePrintSheet(store: PageStore, Sheet: () => JSX.Element): void {
  useEffect(() => {
    const drawn = document.createElement("div");
    drawn.className = "print-sheet";
    const before = () => {
      document.body.append(drawn);
      render(
        <StoreProvider value={store}>
          <Sheet />
        </StoreProvider>,
        drawn,
      );
    };
    const after = () => {
      render(null, drawn);
      drawn.remove();
    };
    const end = new AbortController();
    window.addEventListener("beforeprint", before, { signal: end.signal });
    window.addEventListener("afterprint", after, { signal: end.signal });
    return () => end.abort();
  }, [store]);
}

export function PrintSheet() {
  const store = useStore();
  const set = store.rules.value;
  const start = startOf(set);
  const concerns = concernsOf(store).slice(0, 8);
  const confusion = confusionOf(store);
  const { slices } = store.payload.differences ?? { slices: [] };
  return (
    <>
      <h1>{formatName(store.payload.title)}</h1>
      <p class="print-headline">{headline(store)}</p>
      <p class="print-basis">{basis(store)}</p>
      {store.payload.guarantee !== undefined && !store.isEdited.value && <p>Guarantee {store.payload.guarantee.summary}.</p>}
      <h2>{counted(set.rules.length, "rule")}</h2>
      {start.some((votes) => votes !== 0) && (
        <p>Every row starts with these votes: {set.classes.map((label, c) => `${formatLabel(label)} ${shortNumber(start[c])}`).join(", ")}.</p>
      )}
      <ol class="print-rules" start={0}>
        {set.rules.map((rule) => (
          <li key={rule.id}>
            {rule.priority && "(priority) "}IF {describePremise(rule, set.features)} THEN <strong>{describeConclusion(rule, set)}</strong>{" "}
            <span class="print-facts">
              [{shortNumber(votesOf(rule, set.voting))} votes
              {speaksAgainst(rule, set.voting) ? "" : `, confidence ${percent(rule.confidence)}`}, {grouped(rule.cover)} training rows]
            </span>
          </li>
        ))}
      </ol>
      <p>
        Voting: {VOTING_NOTES[set.voting]} Where nothing decides: {formatLabel(set.classes[set.defaultIndex])}.
      </p>
      {confusion !== null && <PrintedConfusion confusion={confusion} />}
      {slices.length > 0 && !store.isEdited.value && (
        <>
          <h2>Where they differ most</h2>
          <ul>
            {slices.map((slice, i) => (
              <li key={i}>
                {store.slices[i].map((term) => describeTerm(term, set.features[term.feature])).join(" AND ")}: {percent(slice.n_differ / slice.n_rows, 0)} differ, {counted(slice.n_rows, "row")}
              </li>
            ))}
          </ul>
        </>
      )}
      {concerns.length > 0 && (
        <>
          <h2>Needs attention</h2>
          <ul>
            {concerns.map(({ place, text }) => (
              <li key={place}>
                Rule {place}: {text()}
              </li>
            ))}
          </ul>
        </>
      )}
      {set.changes.length > 0 && (
        <>
          <h2>{counted(set.changes.length, "change")} by hand</h2>
          <pre>{writeChanges(set.changes)}</pre>
        </>
      )}
    </>
  );
}

function confusionOf(store: Store): Confusion | null {
  const { table } = store;
  const found = store.evaluation.value;
  const a = table?.network != null ? ("network" as const) : ("truth" as const);
  const given = store.payload.confusion?.find((entry) => entry.rows === a && entry.columns === "rules");
  if (given !== undefined && !store.isEdited.value) return confusionGiven(given, store.original.classes);
  return table === null || found === null ? null : confusionHere(a, "rules", table, found);
}

function PrintedConfusion({ confusion }: { confusion: Confusion }) {
  const { aNames, bNames, counts, a, nRows } = confusion;
  return (
    <>
      <h2>
        {a === "network" ? "Network" : "Truth"} (rows) and rules (columns) on {counted(nRows, "row")}
      </h2>
      <table class={bNames.length > 12 ? "is-small" : ""}>
        <thead>
          <tr>
            <th />
            {bNames.map((label, j) => (
              <th key={j}>{formatLabel(label)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {aNames.map((label, i) => (
            <tr key={i}>
              <th>{formatLabel(label)}</th>
              {bNames.map((_, j) => (
                <td key={j}>{counts[i][j] === 0 ? "·" : grouped(counts[i][j])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** On what the figures were counted, and with what the report was made. */
function basis(store: Store): string {
  const { table, payload } = store;
  const rows =
    table === null
      ? "Made without data."
      : `Counted on all ${counted(table.nTotal, "row")} given${store.isEdited.value && table.nRows < table.nTotal ? `; figures of edited rules on the ${grouped(table.nRows)} of them in the report` : ""}.`;
  return `${rows} In parentheses: Wilson's 95 % interval. Reading cost ${grouped(readingCost(store.rules.value))}. ${store.isEdited.value ? "With edits. " : ""}${payload.created_with}.`;
}
