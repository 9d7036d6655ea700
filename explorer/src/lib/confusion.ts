/** Confusion tables: counts of rows by the labels of two judges. Pure functions. */

import type { ConfusionEntry, Scalar } from "../payload";
import type { Evaluation } from "./evaluate";
import type { RuleSet } from "./rules";
import { type Judge, labelsOf, namesOf, samePlaces } from "./selection";
import type { Table } from "./table";

export interface Confusion {
  a: Judge;
  b: Judge;
  aNames: readonly Scalar[];
  bNames: readonly Scalar[];
  /** counts[i][j]: rows to which a gives label i and b gives label j. */
  counts: readonly (readonly number[])[];
  nRows: number;
}

/** On the rows of the report, with the working rules. */
export function confusionHere(a: Judge, b: Judge, table: Table, found: Evaluation): Confusion | null {
  const [aCodes, bCodes] = [labelsOf(a, table, found), labelsOf(b, table, found)];
  if (aCodes === null || bCodes === null) return null;
  const [aNames, bNames] = [namesOf(a, table, found.set), namesOf(b, table, found.set)];
  const counts = aNames.map(() => new Array<number>(bNames.length).fill(0));
  for (let row = 0; row < table.nRows; row++) counts[aCodes[row]][bCodes[row]]++;
  return { a, b, aNames, bNames, counts, nRows: table.nRows };
}

/** On all data that the report was made of, with its original rules. */
export function confusionGiven(entry: ConfusionEntry, classes: readonly Scalar[]): Confusion {
  return {
    a: entry.rows,
    b: entry.columns,
    aNames: [...classes, ...entry.row_extra],
    bNames: [...classes, ...entry.column_extra],
    counts: entry.counts,
    nRows: entry.counts.reduce((sum, row) => sum + row.reduce((n, count) => n + count, 0), 0),
  };
}

/** The rows that the rules decide, if they may abstain. */
export function decidedOnly(found: Confusion, { classes, abstention }: RuleSet): Confusion {
  if (abstention === null) return found;
  const isKept = (judge: Judge) => (_: unknown, place: number) => judge !== "rules" || place !== classes.length;
  const counts = found.counts.filter(isKept(found.a)).map((row) => row.filter(isKept(found.b)));
  const nRows = counts.reduce((sum, row) => sum + row.reduce((n, count) => n + count, 0), 0);
  return { ...found, aNames: found.aNames.filter(isKept(found.a)), bNames: found.bNames.filter(isKept(found.b)), counts, nRows };
}

/** Fraction of rows on which both agree. */
export function agreementOf({ aNames, bNames, counts, nRows }: Confusion): number {
  const same = samePlaces(aNames, bNames);
  return nRows === 0 ? 0 : counts.reduce((sum, row, i) => sum + (row[same[i]] ?? 0), 0) / nRows;
}
