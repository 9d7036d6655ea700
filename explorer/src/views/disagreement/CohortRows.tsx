/** The rows of a cell, a class or a slice: sortable, with the values that mattered, to download; and misleading rules. */

import { useMemo } from "preact/hooks";
import { chipWidth, ClassChip } from "../../components/ClassMark";
import { MisleadingRules } from "../../components/RuleButtons";
import { type TableColumn, VirtualTable } from "../../components/VirtualTable";
import { rowsOf } from "../../lib/bits";
import { marginOf, rowsAsCsv } from "../../lib/csvFile";
import { firedOn, scoresOf } from "../../lib/evaluate";
import { sortedBy } from "../../lib/filter";
import { judgeOf, misleading } from "../../lib/misled";
import { download, fileName } from "../../lib/save";
import { type Cohort, writeSelection } from "../../lib/selection";
import { valueAt } from "../../lib/table";
import { counted, describeShortly, featureName, grouped, shortNumber } from "../../lib/text";
import { outcomesOf, strongestFirst } from "../../lib/votes";
import type { Scalar } from "../../payload";
import { type Store, useStore } from "../../store";

const MOST_VALUES = 6;

export function CohortRows({ cohort, isAll, onAll }: { cohort: Cohort; isAll: boolean; onAll: () => void }) {
  const store = useStore();
  const found = store.evaluation.value;
  const { table } = store;
  const sort = store.address.param("dis.sort");
  const sorting = sort.value === "" ? null : { key: sort.value.replace(/^-/, ""), isDescending: sort.value.startsWith("-") };
  const text = writeSelection({ kind: "cohort", cohort }, table);
  const rows = useMemo(() => {
    if (table === null || found === null) return [];
    const own = Array.from(rowsOf(store.rowsOf(cohort)));
    const value = sorting === null ? undefined : sortValue(store, sorting.key);
    return sorting === null || value === undefined ? own : sortedBy(own, value, sorting.isDescending);
  }, [text, found, sort.value]);
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
    isSortable: true,
    cell: (i) => <ClassChip index={codes[rows[i]]} names={names} />,
  });
  const columns: TableColumn[] = [
    { key: "row", title: "Row", hint: "Its number in the data, from 0", width: 78, align: "end", isSortable: true, cell: (i) => grouped(table.numbers[rows[i]]) },
    judgeColumn("rules", "Rules", found.outcomes, outcomesOf(set)),
  ];
  if (table.network !== null) columns.push(judgeColumn("network", "Network", table.network.codes, table.network.names));
  if (table.truth !== null) columns.push(judgeColumn("truth", "Truth", table.truth.codes, table.truth.names));
  columns.push(
    {
      key: "margin",
      title: "Margin (votes)",
      hint: "Votes of the decided class minus those of the runner-up; near 0, it was close",
      width: 138,
      align: "end",
      isSortable: true,
      cell: (i) => shortNumber(marginAt(store, rows[i])),
    },
    { key: "fired", title: "Rules that fired", width: 130, cell: (i) => <span class="clip">{firedOn(found, rows[i]).join(", ")}</span> },
    { key: "values", title: "Values that mattered", hint: "Values that the rules that fired test, those of the strongest rules first", cell: (i) => <Values row={rows[i]} /> },
  );
  const save = () => download(`${fileName(store.payload.title, "rows")}.csv`, rowsAsCsv(store, rows), "text/csv");
  return (
    <section class="cohort" aria-label="Rows of the cell">
      <div class="cohort-head">
        <h2>
          {store.describe(cohort)}: {counted(rows.length, "row")} in this page
        </h2>
        <span class="row-buttons">
          {!isAll && (
            <button type="button" onClick={onAll}>
              All that differ
            </button>
          )}
          <button type="button" disabled={rows.length === 0} onClick={save}>
            Save as CSV
          </button>
        </span>
      </div>
      <div class="cohort-parts">
        <VirtualTable
          label="Rows"
          nRows={rows.length}
          columns={columns}
          active={active}
          onActivate={(i) => store.select({ kind: "row", row: rows[i] })}
          sorting={sorting}
          onSort={(key) => (sort.value = sort.value === key ? `-${key}` : sort.value === `-${key}` ? "" : key)}
          minWidth={860}
          empty="No row of this page is among them."
        />
        <div class="misled">
          <h3>Misleading rules</h3>
          <p class="quiet">They fired and their class won, but the {judge} differs.</p>
          <MisleadingRules misled={misled} most={20} />
        </div>
      </div>
    </section>
  );
}

function marginAt(store: Store, row: number): number {
  const found = store.evaluation.value;
  return found === null ? 0 : marginOf(Array.from(scoresOf(found, row)), found.decisions[row]);
}

function sortValue(store: Store, key: string): ((row: number) => number | string) | undefined {
  const { table } = store;
  const found = store.evaluation.value;
  if (table === null || found === null) return undefined;
  switch (key) {
    case "row":
      return (row) => table.numbers[row];
    case "rules":
      return (row) => found.outcomes[row];
    case "network":
    case "truth":
      return (row) => table[key]?.codes[row] ?? -1;
    case "margin":
      return (row) => marginAt(store, row);
    default:
      return undefined;
  }
}

/** The values that the rules that fired on a row test. */
function Values({ row }: { row: number }) {
  const store = useStore();
  const { table } = store;
  const found = store.evaluation.value;
  const set = store.rules.value;
  if (table === null || found === null) return null;
  const fired = strongestFirst(firedOn(found, row), set, found.decisions[row]);
  const features = [...new Set(fired.flatMap((place) => set.rules[place].terms.map((term) => term.feature)))];
  const texts = features.slice(0, MOST_VALUES).map((place) => {
    const column = table.columns[place];
    return `${featureName(set.features[place])} ${column === null ? "?" : describeShortly(valueAt(column, row), set.features[place])}`;
  });
  const whole = texts.join(" · ") + (features.length > MOST_VALUES ? ` · … ${features.length - MOST_VALUES} more` : "");
  return (
    <span class="clip" title={whole}>
      {whole}
    </span>
  );
}
