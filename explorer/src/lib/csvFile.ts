/** Rows as CSV, for a spreadsheet. */

import type { Store } from "../store";
import { firedOn, scoresOf } from "./evaluate";
import type { Feature } from "./rules";
import { type Table, valueAt } from "./table";
import { formatNumber } from "./text";
import { outcomesOf } from "./votes";

/** The rows with their numbers, what rules, network and truth say, the margin, the rules that fired, and all values. */
export function rowsAsCsv(store: Store, rows: ArrayLike<number>): string {
  const { table } = store;
  const found = store.evaluation.value;
  if (table === null || found === null) return "";
  const set = store.rules.value;
  const features = set.features.flatMap((feature, place) => (table.columns[place] === null ? [] : [{ feature, place }]));
  const judges = ([["network", table.network], ["truth", table.truth]] as const).flatMap(([name, labels]) => (labels === null ? [] : [{ name, labels }]));
  const head = ["row", "rules", ...judges.map(({ name }) => name), "margin_in_votes", "rules_fired", ...features.map(({ feature }) => feature.name)];
  const lines = Array.from(rows, (row) => {
    const values = features.map(({ feature, place }) => cellOf(table, row, feature, place));
    const decision = found.decisions[row];
    return [
      String(table.numbers[row]),
      String(outcomesOf(set)[found.outcomes[row]]),
      ...judges.map(({ labels }) => String(labels.names[labels.codes[row]])),
      formatNumber(marginOf(Array.from(scoresOf(found, row)), decision)),
      firedOn(found, row).join(" "),
      ...values,
    ];
  });
  return asCsv([head, ...lines]);
}

/** The value of a row as it is written: empty where it is missing or unknown. */
export function cellOf(table: Table, row: number, feature: Feature, place: number): string {
  const column = table.columns[place];
  const value = column === null ? NaN : valueAt(column, row);
  if (value !== value) return "";
  if (feature.categories !== null) return String(feature.categories[value] ?? "");
  return feature.kind === "binary" ? (value === 0 ? "false" : "true") : formatNumber(value);
}

export function asCsv(lines: readonly (readonly string[])[]): string {
  return `${lines.map((cells) => cells.map(quoted).join(",")).join("\r\n")}\r\n`;
}

/** Votes of the decided class minus those of the runner-up. */
export function marginOf(scores: readonly number[], decision: number): number {
  const others = scores.filter((_, index) => index !== decision);
  return others.length === 0 ? scores[decision] : Number((scores[decision] - Math.max(...others)).toPrecision(12));
}

/** A cell that a spreadsheet could take for a formula is marked as text. */
function quoted(cell: string): string {
  const text = /^[=+@\t\r]/.test(cell) || (/^-/.test(cell) && Number.isNaN(Number(cell))) ? `'${cell}` : cell;
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
