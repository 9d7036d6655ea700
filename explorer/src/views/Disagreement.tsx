/** Where rules, network and truth differ: a confusion table, the rows of a cell, and misleading rules. */

import { useMemo, useRef } from "preact/hooks";
import { chipWidth, ClassChip, ClassMark } from "../components/ClassMark";
import { MisleadingRules } from "../components/RuleButtons";
import { type TableColumn, VirtualTable } from "../components/VirtualTable";
import { rowsOf } from "../lib/bits";
import { agreementOf, type Confusion, confusionGiven, confusionHere } from "../lib/confusion";
import { firedOn, scoresOf } from "../lib/evaluate";
import { judgeOf, misleading } from "../lib/misled";
import { type Cohort, describeCohort, type Judge, JUDGES, readSelection, rowsOfCohort, samePlaces, writeSelection } from "../lib/selection";
import { counted, formatLabel, grouped, percent, shortNumber } from "../lib/text";
import type { Scalar } from "../payload";
import { type Store, useStore } from "../store";
import "./disagreement.css";

/** The pairs of judges that the report has labels of. */
function pairsOf(store: Store): (readonly [Judge, Judge])[] {
  const { table } = store;
  const pairs: (readonly [Judge, Judge])[] = [];
  if (table?.network != null) pairs.push(["network", "rules"]);
  if (table?.truth != null) pairs.push(["truth", "rules"]);
  if (table?.network != null && table.truth !== null) pairs.push(["truth", "network"]);
  return pairs;
}

export function canDisagree(store: Store): boolean {
  return pairsOf(store).length > 0;
}

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
  const cell = readSelection(cellText.value);
  const cohort: Cohort = cell?.kind === "cohort" && isOfPair(cell.cohort, a, b) ? cell.cohort : { kind: "differ", a, b };
  const choose = (next: Cohort) => {
    cellText.value = writeSelection({ kind: "cohort", cohort: next });
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
              {grouped(table.nRows)} in this report
            </button>
          </span>
        )}
        {b === "rules" && store.whyUnknown.value !== null ? (
          <span role="status">How often they agree is not known here: {store.whyUnknown.value}, which the edited rules test. Rules that test it are ignored.</span>
        ) : (
          <span>
            They agree on <strong>{percent(agreementOf(confusion))}</strong> of {counted(confusion.nRows, "row")}.
          </span>
        )}
      </div>
      <div class="parts">
        <section aria-label="Confusion table" class="who">
          <CellGrid confusion={confusion} cohort={cohort} onChoose={choose} />
          <p class="quiet">
            Rows: {JUDGES[a].toLowerCase()}. Columns: {JUDGES[b].toLowerCase()}. Choose a cell to list its rows
            {table.nRows < table.nTotal ? " among those in this report" : ""}; arrow keys move between cells.
          </p>
        </section>
        <CohortRows cohort={cohort} isAll={cohort.kind === "differ"} onAll={() => choose({ kind: "differ", a, b })} />
      </div>
    </div>
  );
}

function isOfPair(cohort: Cohort, a: Judge, b: Judge): boolean {
  return (cohort.kind === "cell" || cohort.kind === "differ") && cohort.a === a && cohort.b === b;
}

// --- The table ---

interface GridProps {
  confusion: Confusion;
  cohort: Cohort;
  onChoose: (cohort: Cohort) => void;
}

/** By key, how many rows and columns the focus moves. */
const STEPS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ["ArrowDown", [1, 0]],
  ["ArrowUp", [-1, 0]],
  ["ArrowRight", [0, 1]],
  ["ArrowLeft", [0, -1]],
]);

function CellGrid({ confusion, cohort, onChoose }: GridProps) {
  const table = useRef<HTMLTableElement>(null);
  const focus = useStore().address.param("dis.focus", "0.0");
  const { a, b, aNames, bNames, counts } = confusion;
  const isDense = bNames.length > 10;
  const within = (place: number, n: number) => Math.min(n - 1, Math.max(0, Number.isInteger(place) ? place : 0));
  const [wantedRow, wantedColumn] = focus.value.split(".").map(Number);
  // Another pair of judges may have fewer labels; one cell must stay reachable by Tab.
  const [focusRow, focusColumn] = [within(wantedRow, aNames.length), within(wantedColumn, bNames.length)];
  const focused = `${focusRow}.${focusColumn}`;
  const move = (event: KeyboardEvent) => {
    const step = STEPS.get(event.key);
    if (step === undefined) return;
    event.preventDefault();
    const target = `${within(focusRow + step[0], aNames.length)}.${within(focusColumn + step[1], bNames.length)}`;
    focus.value = target;
    table.current?.querySelector<HTMLElement>(`[data-cell="${target}"]`)?.focus();
  };
  const same = samePlaces(aNames, bNames);
  const sums = counts.map((row) => row.reduce((sum, n) => sum + n, 0));
  return (
    <div class="scroll-x" tabIndex={isDense ? 0 : -1} role="region" aria-label="Counts">
      <table class={isDense ? "confusion is-dense" : "confusion"} ref={table} onKeyDown={move}>
        <thead>
          <tr>
            <th scope="col">
              <span class="quiet">
                {JUDGES[a]} ↓ {JUDGES[b]} →
              </span>
            </th>
            {bNames.map((label, j) => (
              <th key={j} scope="col" title={formatLabel(label)}>
                <HeadLabel index={j} names={bNames} isDense={isDense} />
              </th>
            ))}
            <th scope="col" class="quiet">
              agree
            </th>
          </tr>
        </thead>
        <tbody>
          {aNames.map((_, i) => (
            <tr key={i}>
              <th scope="row">
                <ClassChip index={i} names={aNames} />
              </th>
              {bNames.map((_, j) => {
                const isChosen = cohort.kind === "cell" && cohort.i === i && cohort.j === j;
                const n = counts[i][j];
                const key = `${i}.${j}`;
                const what = `${JUDGES[a]} ${formatLabel(aNames[i])}, ${JUDGES[b].toLowerCase()} ${formatLabel(bNames[j])}: ${counted(n, "row")}`;
                return (
                  <td key={j} class={same[i] === j ? "cell-same" : "cell-differs"} style={{ "--share": String(sums[i] === 0 ? 0 : n / sums[i]) }}>
                    <button
                      type="button"
                      class="plain"
                      data-cell={key}
                      aria-pressed={isChosen}
                      aria-label={what}
                      title={what}
                      tabIndex={key === focused ? 0 : -1}
                      onClick={() => {
                        focus.value = key;
                        onChoose({ kind: "cell", a, i, b, j });
                      }}
                    >
                      {n === 0 ? <span class="none">·</span> : grouped(n)}
                    </button>
                  </td>
                );
              })}
              <td class="agree">{sums[i] === 0 ? "–" : percent((counts[i][same[i]] ?? 0) / sums[i], 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function HeadLabel({ index, names, isDense }: { index: number; names: readonly Scalar[]; isDense: boolean }) {
  if (!isDense) return <ClassChip index={index} names={names} />;
  return (
    <span class="stacked">
      <ClassMark index={index} />
      <span class="chip-text">{formatLabel(names[index])}</span>
    </span>
  );
}

// --- The rows of a cell ---

function CohortRows({ cohort, isAll, onAll }: { cohort: Cohort; isAll: boolean; onAll: () => void }) {
  const store = useStore();
  const found = store.evaluation.value;
  const { table } = store;
  const rows = useMemo(
    () => (table === null || found === null ? new Uint32Array() : rowsOf(rowsOfCohort(cohort, table, found))),
    [writeSelection({ kind: "cohort", cohort }), found],
  );
  if (found === null || table === null) return null;
  const set = store.rules.value;
  const judge = judgeOf(cohort, table);
  const misled = misleading(found, table, rows, judge);
  const selection = store.selection.value;
  const active = selection?.kind === "row" ? rows.indexOf(selection.row) : -1;
  const judgeColumn = (key: string, title: string, codes: ArrayLike<number>, names: readonly Scalar[]): TableColumn => ({
    key,
    title,
    width: chipWidth(names),
    cell: (i) => <ClassChip index={codes[rows[i]]} names={names} />,
  });
  const columns: TableColumn[] = [
    { key: "row", title: "Row", hint: "Its number in the data, from 0", width: 70, align: "end", cell: (i) => grouped(table.numbers[rows[i]]) },
    judgeColumn("rules", "Rules", found.decisions, set.classes),
  ];
  if (table.network !== null) columns.push(judgeColumn("network", "Network", table.network.codes, table.network.names));
  if (table.truth !== null) columns.push(judgeColumn("truth", "Truth", table.truth.codes, table.truth.names));
  columns.push(
    {
      key: "margin",
      title: "Margin",
      hint: "Votes of the predicted class minus those of the runner-up",
      width: 76,
      align: "end",
      cell: (i) => shortNumber(marginOf(Array.from(scoresOf(found, rows[i])), found.decisions[rows[i]])),
    },
    { key: "fired", title: "Rules that fired", cell: (i) => <span class="clip">{firedOn(found, rows[i]).join(", ")}</span> },
  );
  return (
    <section class="cohort" aria-label="Rows of the cell">
      <div class="cohort-head">
        <h2>{describeCohort(cohort, table, set, (id) => `rule ${store.placeOf.value.get(id) ?? "?"}`)}: {counted(rows.length, "row")} in this report</h2>
        {!isAll && (
          <button type="button" onClick={onAll}>
            All that differ
          </button>
        )}
      </div>
      <div class="cohort-parts">
        <VirtualTable label="Rows" nRows={rows.length} columns={columns} active={active} onActivate={(i) => store.select({ kind: "row", row: rows[i] })} minWidth={440} empty="No row of this report is in this cell." />
        <div class="misled">
          <h3>Misleading rules</h3>
          <p class="quiet">They fired and their class won, but the {judge} differs.</p>
          <MisleadingRules misled={misled} most={20} />
        </div>
      </div>
    </section>
  );
}

function marginOf(scores: readonly number[], decision: number): number {
  const others = scores.filter((_, index) => index !== decision);
  return others.length === 0 ? scores[decision] : scores[decision] - Math.max(...others);
}
