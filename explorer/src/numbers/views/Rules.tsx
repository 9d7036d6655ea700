/** All rules in a table: what they add, where they hold, and the numbers of the rows there. */

import { useComputed } from "@preact/signals";
import { Highlighted } from "../../components/Highlighted";
import { type Sorting, type TableColumn, VirtualTable, WRAPPED_ROWS } from "../../components/VirtualTable";
import { rowsOf } from "../../lib/bits";
import { searched, sortedBy, wordsOf } from "../../lib/filter";
import { describePremise, featureName, grouped, MOST_CATEGORIES } from "../../lib/text";
import { SignedNumber } from "../components/SignedBar";
import { spreadOf } from "../lib/errors";
import { JUDGES } from "../lib/story";
import { amount, describeLimits, describeLinear, short, signed } from "../lib/text";
import { type NumberStore, useNumberStore } from "../store";

interface Line {
  place: number;
  nRows: number | null;
  mean: number | null;
  low: number | null;
  high: number | null;
}

/** Statistics on the rows in the page, or, without numbers, those of the rows that the rule was learnt from. */
function lineOf(store: NumberStore, place: number): Line {
  const rule = store.rules.value.rules[place];
  const found = store.evaluation.value;
  const wanted = store.numbersOf(store.judge.value);
  if (found === null || wanted === null) return { place, nRows: rule.cover > 0 ? rule.cover : null, mean: rule.mean, low: rule.interval?.[0] ?? null, high: rule.interval?.[1] ?? null };
  const rows = rowsOf(found.covers[place]);
  if (rows.length === 0) return { place, nRows: 0, mean: null, low: null, high: null };
  const { n, mean, low, high } = spreadOf(wanted, rows);
  return { place, nRows: n, mean, low, high };
}

export function Rules() {
  const store = useNumberStore();
  const query = store.address.param("rules.q", "");
  const only = store.address.param("rules.feature", "");
  const order = store.address.param("rules.sort", "");
  const set = store.rules.value;
  const lines = useComputed(() => store.rules.value.rules.map((_, place) => lineOf(store, place))).value;
  const words = wordsOf(query.value);
  const wanted = store.used.value.find((feature) => String(feature) === only.value);
  const sorting: Sorting | null = order.value === "" ? null : { key: order.value.replace(/^-/, ""), isDescending: order.value.startsWith("-") };
  const kept = searched(store.kind, set, query.value).filter((place) => wanted === undefined || set.rules[place].terms.some((term) => term.feature === wanted));
  const places = sorting === null ? kept : sortedBy(kept, (place) => keyOf(sorting.key, lines[place], set.rules[place].addition), sorting.isDescending);
  const largest = Math.max(0, ...set.rules.map((rule) => Math.abs(rule.addition)));
  const ends = [Math.min(...lines.map((line) => line.low ?? Infinity)), Math.max(...lines.map((line) => line.high ?? -Infinity))] as const;
  const judge = store.judge.value;
  const whose = judge === null ? "the rows that it was learnt from" : `${JUDGES.get(judge)?.name ?? judge} on the rows in this page`;
  // On a phone there is no room for the bars.
  const isNarrow = window.matchMedia("(max-width: 760px)").matches;
  const columns: TableColumn[] = [
    { key: "place", title: "Rule", width: 60, align: "end", isSortable: true, cell: (i) => <span class="number">{places[i]}</span> },
    {
      key: "addition",
      title: "Adds",
      width: isNarrow ? 84 : 170,
      align: "end",
      isSortable: true,
      cell: (i) => {
        const { addition } = set.rules[places[i]];
        return isNarrow ? <strong class="number">{signed(addition)}</strong> : <SignedNumber value={addition} largest={largest} text={signed(addition)} />;
      },
    },
    {
      key: "premise",
      title: "If",
      cell: (i) => (
        <span class="clip" title={describePremise(set.rules[places[i]], set.features)}>
          <Highlighted text={describePremise(set.rules[places[i]], set.features, MOST_CATEGORIES)} words={words} />
        </span>
      ),
    },
    { key: "rows", title: "Rows", hint: judge === null ? "Rows that it held on when it was learnt" : "Rows in this page on which it holds", width: 80, align: "end", isSortable: true, cell: (i) => shown(lines[places[i]].nRows, grouped) },
    { key: "mean", title: "Mean", hint: `Mean of ${whose}`, width: 80, align: "end", isSortable: true, cell: (i) => shown(lines[places[i]].mean, short) },
    { key: "range", title: "Middle 90 %", hint: `The 5 % and the 95 % quantile of ${whose}`, width: 190, cell: (i) => <Range line={lines[places[i]]} ends={ends} /> },
  ];
  const toggle = (key: string) => (order.value = order.value === `-${key}` ? key : order.value === key ? "" : `-${key}`);
  const selected = store.selectedRule.value?.place;
  return (
    <>
      <div class="controls">
        <label>
          Search <input type="search" value={query.value} placeholder="words in a rule" onInput={(event) => (query.value = event.currentTarget.value)} />
        </label>
        <label>
          Feature{" "}
          <select value={wanted === undefined ? "" : String(wanted)} onChange={(event) => (only.value = event.currentTarget.value)}>
            <option value="">any</option>
            {store.used.value.map((feature) => (
              <option key={feature} value={String(feature)}>
                {featureName(set.features[feature])}
              </option>
            ))}
          </select>
        </label>
        <span class="quiet" role="status">
          {places.length === set.rules.length ? `all ${grouped(set.rules.length)}` : `${grouped(places.length)} of ${grouped(set.rules.length)}`}
        </span>
      </div>
      <p>
        Start at <strong>{amount(set.base)}</strong>, and add what each rule that holds says
        {set.linear.length > 0 && (
          <>
            ; then, on every row,{" "}
            {set.linear.map((term, i) => (
              <span key={term.feature} title={describeLimits(term)}>
                {i > 0 ? " and " : ""}
                {describeLinear(term, set)}
              </span>
            ))}
          </>
        )}
        .
      </p>
      <VirtualTable
        label="Rules"
        nRows={places.length}
        columns={columns}
        active={selected === undefined ? -1 : places.indexOf(selected)}
        onActivate={(i) => store.selectRule(set.rules[places[i]].id)}
        sorting={sorting}
        onSort={toggle}
        minWidth={isNarrow ? 650 : 820}
        empty="No rule fits."
        wraps={places.length <= WRAPPED_ROWS}
      />
      <p class="quiet after-table">Rows, mean and middle 90 %: of {whose}. Select a rule to see its rows coloured in the Overview, or to change it.</p>
    </>
  );
}

function keyOf(key: string, line: Line, addition: number): number {
  switch (key) {
    case "addition":
      return addition;
    case "rows":
      return line.nRows ?? -1;
    case "mean":
      return line.mean ?? -Infinity;
    default:
      return line.place;
  }
}

function shown(number: number | null, format: (number: number) => string) {
  return <span class="number">{number === null ? "–" : format(number)}</span>;
}

/** The middle 90 % as a line with the mean as a dot, on one scale for all rules. */
function Range({ line, ends: [least, most] }: { line: Line; ends: readonly [number, number] }) {
  const { low, high, mean } = line;
  if (low === null || high === null) return <span class="number">–</span>;
  const x = (number: number) => (most > least ? (100 * (number - least)) / (most - least) : 50);
  return (
    <span class="range">
      <span class="range-axis" aria-hidden="true">
        <span class="range-line" style={{ left: `${x(low)}%`, width: `${x(high) - x(low)}%` }} />
        {mean !== null && <span class="range-mean" style={{ left: `${x(Math.min(most, Math.max(least, mean)))}%` }} />}
      </span>
      <span class="number range-text">
        {short(low)} to {short(high)}
      </span>
    </span>
  );
}
