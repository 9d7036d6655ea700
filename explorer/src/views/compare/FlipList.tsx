/** The rows whose decision flips. */

import { useSignal } from "@preact/signals";
import { LabelChip } from "../../components/ClassMark";
import { flipsOf } from "../../lib/compare";
import { waysOf } from "../../lib/differences";
import type { RuleSet } from "../../lib/rules";
import { counted, grouped, percent } from "../../lib/text";
import type { Scalar } from "../../payload";
import { useStore } from "../../store";

const ROWS_AT_ONCE = 60;

/** Both rule sets are over the features of the report. */
export function FlipList({ sets }: { sets: readonly [RuleSet, RuleSet] }) {
  const store = useStore();
  const { table } = store;
  const way = useSignal("");
  const [before, after] = sets.map((set) => store.evaluate(set));
  if (before === null || after === null || table === null) return null;
  const flips = flipsOf(before, after);
  const ways = waysOf(flips);
  const names = store.original.classes;
  const chosen = ways.find((one) => one.key === way.value);
  const rows = chosen?.rows ?? flips.rows;
  return (
    <>
      <p role="status">
        {grouped(flips.rows.length)} of {counted(table.nRows, "row")} in this page ({percent(table.nRows === 0 ? 0 : flips.rows.length / table.nRows, 2)})
      </p>
      {(["network", "truth"] as const).map((judge) => {
        const labels = table[judge];
        if (labels === null || flips.rows.length === 0) return null;
        const agrees = (label: Scalar, row: number) => labels.names[labels.codes[row]] === label;
        const nBefore = flips.rows.filter((row, i) => agrees(flips.before[i], row)).length;
        const nAfter = flips.rows.filter((row, i) => agrees(flips.after[i], row)).length;
        return (
          <p key={judge} class="quiet">
            {judge === "network" ? "Same as the network" : "Correct"}: {grouped(nBefore)} before, {grouped(nAfter)} after
          </p>
        );
      })}
      <ul class="ways">
        {ways.slice(0, 30).map(({ key, from, to, rows: own }) => (
          <li key={key}>
            <button type="button" class={way.value === key ? "is-on" : ""} aria-pressed={way.value === key} onClick={() => (way.value = way.value === key ? "" : key)}>
              <span class="number">{grouped(own.length)}</span> <LabelChip label={from} known={names} /> → <LabelChip label={to} known={names} />
            </button>
          </li>
        ))}
        {ways.length > 30 && <li class="quiet">… and {grouped(ways.length - 30)} more kinds</li>}
      </ul>
      <p class="row-buttons">
        {rows.slice(0, ROWS_AT_ONCE).map((row) => (
          <button key={row} type="button" aria-label={`Row ${table.numbers[row]}`} onClick={() => store.select({ kind: "row", row })}>
            {table.numbers[row]}
          </button>
        ))}
        {rows.length > ROWS_AT_ONCE && <span class="quiet">… and {grouped(rows.length - ROWS_AT_ONCE)} more</span>}
      </p>
    </>
  );
}
