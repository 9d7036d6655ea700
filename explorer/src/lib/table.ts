/** The rows of a report, in columns of ordered values. */

import type { ColumnEntry, LabelsEntry, Payload, Scalar } from "../payload";
import { type Codes, unpackCodes, unpackNumbers } from "./packed";

/** One column: its distinct values, ascending, and for each row the place of its value. */
export interface Column {
  values: Float64Array;
  /** The number of values before NaN, which is last if values are missing. */
  nKnown: number;
  codes: Codes;
  /** Rows ordered by value, and for each value the start of its rows (one entry more than values). */
  order: Uint32Array;
  starts: Uint32Array;
}

export interface Labels {
  codes: Codes;
  /** The classes, then labels unknown to the rules. */
  names: readonly Scalar[];
}

export interface Table {
  nRows: number;
  nTotal: number;
  seed: number;
  /** For each row its number in the data that the report was made of. */
  numbers: Codes;
  columns: readonly (Column | null)[];
  truth: Labels | null;
  network: Labels | null;
  /** Probabilities of the network, row by row. */
  networkProba: Float64Array | null;
}

export function readTable(payload: Payload): Table | null {
  const rows = payload.rows;
  if (rows === undefined) return null;
  const classes = payload.rules.classes;
  return {
    nRows: rows.n_shown,
    nTotal: rows.n_total,
    seed: rows.seed,
    numbers: unpackCodes(rows.numbers),
    columns: rows.columns.map((entry) => (entry === null ? null : readColumn(entry))),
    truth: readLabels(rows.truth, classes),
    network: readLabels(rows.network, classes),
    networkProba: rows.network_proba === undefined ? null : unpackNumbers(rows.network_proba),
  };
}

function readLabels(entry: LabelsEntry | undefined, classes: readonly Scalar[]): Labels | null {
  return entry === undefined ? null : { codes: unpackCodes(entry.codes), names: [...classes, ...entry.extra] };
}

export function readColumn(entry: ColumnEntry): Column {
  return entry.encoding === "plain"
    ? columnOfNumbers(unpackNumbers(entry.values))
    : ordered(unpackNumbers(entry.values), unpackCodes(entry.codes));
}

/** A column of the values themselves. */
export function columnOfNumbers(numbers: Float64Array): Column {
  // A typed array sorts by number, −0 before 0 and NaN last.
  const sorted = numbers.slice().sort();
  let n = 0;
  for (let i = 0; i < sorted.length; i++) {
    const value = sorted[i];
    const last = sorted[n - 1];
    if (n === 0 || !(value === last || (value !== value && last !== last))) sorted[n++] = value;
  }
  const values = sorted.slice(0, n);
  const codes = new Uint32Array(numbers.length);
  const nKnown = knownOf(values);
  for (let row = 0; row < numbers.length; row++) {
    const value = numbers[row];
    codes[row] = value !== value ? nKnown : placeAbove(values, nKnown, value) - 1;
  }
  return ordered(values, codes);
}

function ordered(values: Float64Array, codes: Codes): Column {
  const starts = new Uint32Array(values.length + 1);
  for (let row = 0; row < codes.length; row++) starts[codes[row] + 1]++;
  for (let place = 0; place < values.length; place++) starts[place + 1] += starts[place];
  const next = starts.slice(0, values.length);
  const order = new Uint32Array(codes.length);
  for (let row = 0; row < codes.length; row++) order[next[codes[row]]++] = row;
  return { values, nKnown: knownOf(values), codes, order, starts };
}

function knownOf(values: Float64Array): number {
  const last = values.length - 1;
  return last >= 0 && Number.isNaN(values[last]) ? last : values.length;
}

/** The number of values (of the first `n`, ascending) that are at most `bound`. */
export function placeAbove(values: Float64Array, n: number, bound: number): number {
  let low = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function valueAt(column: Column, row: number): number {
  return column.values[column.codes[row]];
}
