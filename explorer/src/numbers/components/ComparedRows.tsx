/** The rows of the page on which two rule sets differ most, with whatever is known of the network and the truth. */

import { type TableColumn, VirtualTable } from "../../components/VirtualTable";
import { counted, grouped, percent } from "../../lib/text";
import type { NumberRules } from "../lib/rules";
import { JUDGES } from "../lib/story";
import { short, shortSigned } from "../lib/text";
import { useNumberStore } from "../store";

export function ComparedRows({ before, after }: { before: NumberRules; after: NumberRules }) {
  const store = useNumberStore();
  const { table } = store;
  const [old, newer] = [store.evaluate(before)?.predictions, store.evaluate(after)?.predictions];
  if (table === null || old === undefined || newer === undefined) return null;
  const shifts = newer.map((number, row) => number - old[row]);
  const rows = [...shifts.keys()].filter((row) => shifts[row] !== 0).sort((a, b) => Math.abs(shifts[b]) - Math.abs(shifts[a]) || a - b);
  const judge = store.judge.value;
  const wanted = store.numbersOf(judge);
  const nCloser = wanted === null ? 0 : rows.filter((row) => Math.abs(newer[row] - wanted[row]) < Math.abs(old[row] - wanted[row])).length;
  const selection = store.selection.value;
  const numbered = (key: string, title: string, numbers: Float64Array): TableColumn => ({ key, title, width: 72, align: "end", cell: (i) => <span class="number">{short(numbers[rows[i]])}</span> });
  const columns: TableColumn[] = [
    { key: "row", title: "Row", width: 58, align: "end", cell: (i) => <span class="number">{table.numbers[rows[i]]}</span> },
    numbered("before", "Before", old),
    numbered("after", "After", newer),
    { key: "shift", title: "Shift", hint: "After − before", width: 80, align: "end", cell: (i) => <strong class="number">{shortSigned(Number(shifts[rows[i]].toPrecision(3)))}</strong> },
    ...(wanted === null || judge === null ? [] : [numbered("wanted", judge === "network" ? "Network" : "Truth", wanted)]),
  ];
  return (
    <>
      <p role="status">
        {grouped(rows.length)} of {counted(table.nRows, "row")} in this page ({percent(table.nRows === 0 ? 0 : rows.length / table.nRows, 2)})
        {wanted !== null && judge !== null && rows.length > 0 && `; on ${grouped(nCloser)} of them, the second rules are closer to ${JUDGES.get(judge)?.name ?? judge}`}
      </p>
      <VirtualTable label="Rows that differ most" nRows={rows.length} columns={columns} active={selection?.kind === "row" ? rows.indexOf(selection.row) : -1} onActivate={(i) => store.select({ kind: "row", row: rows[i] })} empty="They predict the same on all rows in this page." minWidth={346} />
    </>
  );
}
