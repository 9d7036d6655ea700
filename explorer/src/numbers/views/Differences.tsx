/** Where the rules are far from the network or the truth: the rows that are furthest off, and errors by feature. */

import { useComputed } from "@preact/signals";
import { type Sorting, type TableColumn, VirtualTable } from "../../components/VirtualTable";
import { hasBit } from "../../lib/bits";
import { asCsv, cellOf } from "../../lib/csvFile";
import { sortedBy } from "../../lib/filter";
import { rowsShown } from "../../lib/rows";
import { download, fileName } from "../../lib/save";
import { valueAt } from "../../lib/table";
import { counted, describeShortly, featureName, formatNumber } from "../../lib/text";
import "../../views/disagreement.css";
import { JudgeChoice } from "../components/JudgeChoice";
import { SignedNumber } from "../components/SignedBar";
import { errorsByFeature, type FeatureErrors } from "../lib/errors";
import { JUDGES } from "../lib/story";
import { short, shortSigned } from "../lib/text";
import { type NumberStore, useNumberStore } from "../store";

/** The mean error of a bin with fewer rows says little. */
const FEW_ROWS = 10;
const MOST_FEATURES = 12;
const MOST_BINS = 16;
const MOST_COLUMNS = 8;

export function Differences() {
  const store = useNumberStore();
  const errors = store.errors.value;
  const found = store.evaluation.value;
  const { table } = store;
  const judge = store.judge.value;
  const order = store.address.param("differences.sort", "-off");
  const within = store.selectedRule.value;
  const byFeature = useComputed(() => {
    const { table } = store;
    const errors = store.errors.value;
    return errors === null || table === null ? [] : errorsByFeature(errors, table, store.original.features, store.used.value);
  }).value;
  if (errors === null || found === null || table === null || judge === null) return null;
  const name = JUDGES.get(judge)?.name ?? judge;
  const cover = within === null ? null : found.covers[within.place];
  const all = [...errors.keys()].filter((row) => cover === null || hasBit(cover, row));
  const sorting: Sorting = { key: order.value.replace(/^-/, ""), isDescending: order.value.startsWith("-") };
  const rows = sortedBy(all, (row) => sortKey(store, sorting.key, row), sorting.isDescending);
  const largest = errors.reduce((most, error) => Math.max(most, Math.abs(error)), 0);
  const set = store.rules.value;
  const numbers = ([["network", store.network], ["truth", store.truth]] as const).flatMap(([key, given]) => (given === null ? [] : [{ key, given }]));
  const columns: TableColumn[] = [
    { key: "row", title: "Row", width: 74, align: "end", isSortable: true, cell: (i) => <span class="number">{table.numbers[rows[i]]}</span> },
    { key: "rules", title: "Rules", width: 90, align: "end", isSortable: true, cell: (i) => <span class="number">{short(found.predictions[rows[i]])}</span> },
    ...numbers.map(({ key, given }): TableColumn => ({ key, title: key === "network" ? "Network" : "Truth", width: 90, align: "end", isSortable: true, cell: (i) => <span class="number">{short(given[rows[i]])}</span> })),
    { key: "off", title: "Off by", hint: `Rules − ${name}; sorted by size`, width: 180, align: "end", isSortable: true, cell: (i) => <SignedNumber value={errors[rows[i]]} largest={largest} text={shortSigned(errors[rows[i]])} /> },
    ...store.used.value.slice(0, MOST_COLUMNS).map((feature): TableColumn => {
      const column = table.columns[feature];
      return { key: `f${feature}`, title: <span class="clip" title={featureName(set.features[feature])}>{featureName(set.features[feature])}</span>, width: 112, cell: (i) => <span class="clip">{column === null ? "" : describeShortly(valueAt(column, rows[i]), set.features[feature])}</span> };
    }),
  ];
  const selection = store.selection.value;
  return (
    <div class="disagreement">
      <JudgeChoice />
      <ErrorsByFeature found={byFeature} name={name} />
      <div class="cohort-head">
        <h2>
          {within === null ? "The rows that are furthest off" : `Rows on which rule ${within.place} holds`} <span class="quiet">{cover === null ? rowsShown(table) : counted(rows.length, "row")}</span>
        </h2>
        <button type="button" onClick={() => download(`${fileName(store.payload.title, "rows")}.csv`, rowsAsCsv(store, rows), "text/csv")}>
          Save as CSV
        </button>
      </div>
      <div class="number-rows">
        <VirtualTable
          label="Rows"
          nRows={rows.length}
          columns={columns}
          active={selection?.kind === "row" ? rows.indexOf(selection.row) : -1}
          onActivate={(i) => store.select({ kind: "row", row: rows[i] })}
          sorting={sorting}
          onSort={(key) => (order.value = order.value === `-${key}` ? key : `-${key}`)}
          minWidth={440 + 90 * numbers.length + 112 * Math.min(MOST_COLUMNS, store.used.value.length)}
        />
      </div>
    </div>
  );
}

function sortKey(store: NumberStore, key: string, row: number): number {
  switch (key) {
    case "row":
      return store.table?.numbers[row] ?? row;
    case "rules":
      return store.evaluation.value?.predictions[row] ?? 0;
    case "network":
      return store.network?.[row] ?? 0;
    case "truth":
      return store.truth?.[row] ?? 0;
    default:
      return Math.abs(store.errors.value?.[row] ?? 0);
  }
}

/** The rows with their numbers, the error and all values that are in the page. */
function rowsAsCsv(store: NumberStore, rows: readonly number[]): string {
  const { table, network, truth } = store;
  const [found, errors] = [store.evaluation.value, store.errors.value];
  if (table === null || found === null || errors === null) return "";
  const features = store.original.features.flatMap((feature, place) => (table.columns[place] === null ? [] : [{ feature, place }]));
  const given = [...(network === null ? [] : [{ name: "network", numbers: network }]), ...(truth === null ? [] : [{ name: "truth", numbers: truth }])];
  const head = ["row", "rules", ...given.map(({ name }) => name), "error", ...features.map(({ feature }) => feature.name)];
  const lines = rows.map((row) => [
    String(table.numbers[row]),
    formatNumber(found.predictions[row]),
    ...given.map(({ numbers }) => formatNumber(numbers[row])),
    formatNumber(errors[row]),
    ...features.map(({ feature, place }) => cellOf(table, row, feature, place)),
  ]);
  return asCsv([head, ...lines]);
}

function ErrorsByFeature({ found, name }: { found: readonly FeatureErrors[]; name: string }) {
  const shown = found.filter((one) => one.bins.length > 1).slice(0, MOST_FEATURES);
  const largest = Math.max(0, ...shown.flatMap((one) => one.bins.filter((bin) => bin.nRows >= FEW_ROWS).map((bin) => Math.abs(bin.mean))));
  const store = useNumberStore();
  if (shown.length === 0 || largest === 0) return null;
  return (
    <section aria-labelledby="errors-by-feature">
      <h2 id="errors-by-feature">Mean error by feature</h2>
      <div class="multiples">
        {shown.map((one) => (
          <Multiple key={one.feature} errors={one} largest={largest} name={featureName(store.original.features[one.feature])} />
        ))}
      </div>
      <p class="quiet">
        Up: the rules say more than {name}; down: less. Bins hold about equally many rows, or one category each; all on one scale, up to ±{short(Number(largest.toPrecision(2)))}, on the {counted(store.table?.nRows ?? 0, "row")} in this page. Grey: fewer than {FEW_ROWS} rows.
      </p>
    </section>
  );
}

function Multiple({ errors, largest, name }: { errors: FeatureErrors; largest: number; name: string }) {
  const bins = errors.bins.length <= MOST_BINS ? errors.bins : [...errors.bins].sort((a, b) => b.nRows - a.nRows).slice(0, MOST_BINS);
  const width = 1 / bins.length;
  const sure = bins.filter((bin) => bin.nRows >= FEW_ROWS);
  const worst = [...(sure.length > 0 ? sure : bins)].sort((a, b) => Math.abs(b.mean) - Math.abs(a.mean))[0];
  const text = (bin: FeatureErrors["bins"][number]) => `${bin.name}: ${shortSigned(Number(bin.mean.toPrecision(3)))} on average, off by ${short(Number(bin.meanAbsolute.toPrecision(3)))} (${counted(bin.nRows, "row")})`;
  return (
    <figure class="multiple">
      <figcaption title={name}>{name}</figcaption>
      <svg viewBox="0 0 1 1" preserveAspectRatio="none" role="img" aria-label={`${name}: most at ${text(worst)}`}>
        {bins.map((bin, i) => {
          const height = Math.min(0.5, Math.abs(bin.mean) / largest / 2);
          return (
            <g key={bin.name}>
              <title>{text(bin)}</title>
              <rect class="rate-back" x={i * width} width={width} height="1" />
              <rect class={bin.nRows < FEW_ROWS ? "rate-few" : bin.mean < 0 ? "error-bar is-down" : "error-bar is-up"} x={(i + 0.08) * width} width={0.84 * width} y={bin.mean < 0 ? 0.5 : 0.5 - height} height={height} />
            </g>
          );
        })}
        <line class="rate-line" x1="0" x2="1" y1="0.5" y2="0.5" />
      </svg>
      <p class="quiet">
        <span title={text(worst)}>
          {worst.name}: {shortSigned(Number(worst.mean.toPrecision(2)))}
        </span>
      </p>
    </figure>
  );
}
