/** The selection, shared by all views: a rule, a row, or a cohort of rows. The address holds it as text. */

import type { Scalar } from "../payload";
import { andInto, type Bits, emptyBits, setBit } from "./bits";
import { coverOf } from "./covers";
import type { Evaluation } from "./evaluate";
import type { RuleSet, Term } from "./rules";
import type { Table } from "./table";
import { formatLabel } from "./text";
import { outcomesOf } from "./votes";

/** Whose labels: those of the rules (as edited), of the network, or the true ones. */
export type Judge = "rules" | "network" | "truth";

export type Cohort =
  /** Rows to which `a` gives label `i` and `b` gives label `j` (places in classes and extra labels). */
  | { kind: "cell"; a: Judge; i: number; b: Judge; j: number }
  /** Rows on which two judges differ. */
  | { kind: "differ"; a: Judge; b: Judge }
  /** Rows to which `a` gives label `i` and `b` another one. */
  | { kind: "missed"; a: Judge; i: number; b: Judge }
  /** Rows that satisfy a slice of the report, by its place there. */
  | { kind: "slice"; slice: number }
  /** Rows on which two judges differ, with a value of a feature in one of the report's bins. */
  | { kind: "bin"; feature: number; bin: number; a: Judge; b: Judge }
  /** Rows on which no rule fires. */
  | { kind: "uncovered" }
  /** Rows on which the rule with this id fires. */
  | { kind: "covered"; rule: number };

export type Selection =
  | { kind: "rule"; id: number }
  | { kind: "row"; row: number }
  | { kind: "cohort"; cohort: Cohort };

/** The numbers of the rows in the data; a link names a row by its number, so that it means the same row in another report. */
type Numbered = { readonly numbers: ArrayLike<number> } | null;

export function writeSelection(selection: Selection | null, table: Numbered): string {
  if (selection === null) return "";
  switch (selection.kind) {
    case "rule":
      return `rule.${selection.id}`;
    case "row":
      return `row.${table?.numbers[selection.row] ?? selection.row}`;
    case "cohort":
      return writeCohort(selection.cohort);
  }
}

function writeCohort(cohort: Cohort): string {
  switch (cohort.kind) {
    case "cell":
      return `cell.${cohort.a}.${cohort.i}.${cohort.b}.${cohort.j}`;
    case "differ":
      return `differ.${cohort.a}.${cohort.b}`;
    case "missed":
      return `missed.${cohort.a}.${cohort.i}.${cohort.b}`;
    case "slice":
      return `slice.${cohort.slice}`;
    case "bin":
      return `bin.${cohort.feature}.${cohort.bin}.${cohort.a}.${cohort.b}`;
    case "uncovered":
      return "uncovered";
    case "covered":
      return `covered.${cohort.rule}`;
  }
}

/** The selection that a text names; null if it names none. */
export function readSelection(text: string, table: Numbered): Selection | null {
  const [kind, ...parts] = text.split(".");
  const number = (i: number): number | null => (/^\d{1,9}$/.test(parts[i] ?? "") ? Number(parts[i]) : null);
  const judge = (i: number): Judge | null => {
    const found = parts[i];
    return found === "rules" || found === "network" || found === "truth" ? found : null;
  };
  const first = number(0);
  if (kind === "rule" && first !== null) return { kind: "rule", id: first };
  if (kind === "row" && first !== null) return { kind: "row", row: placeOfNumber(first, table) };
  if (kind === "slice" && first !== null) return { kind: "cohort", cohort: { kind: "slice", slice: first } };
  if (kind === "covered" && first !== null) return { kind: "cohort", cohort: { kind: "covered", rule: first } };
  if (kind === "uncovered") return { kind: "cohort", cohort: { kind: "uncovered" } };
  if (kind === "bin" && first !== null) {
    const [bin, one, other] = [number(1), judge(2), judge(3)];
    return bin === null || one === null || other === null ? null : { kind: "cohort", cohort: { kind: "bin", feature: first, bin, a: one, b: other } };
  }
  const a = judge(0);
  if (kind === "differ" && a !== null) {
    const b = judge(1);
    return b === null ? null : { kind: "cohort", cohort: { kind: "differ", a, b } };
  }
  const [i, b, j] = [number(1), judge(2), number(3)];
  if (kind === "missed" && a !== null && b !== null && i !== null) return { kind: "cohort", cohort: { kind: "missed", a, i, b } };
  if (kind === "cell" && a !== null && b !== null && i !== null && j !== null) {
    return { kind: "cohort", cohort: { kind: "cell", a, i, b, j } };
  }
  return null;
}

/** The place of a row, given its number in the data; beyond all places if it is not in the report. */
export function placeOfNumber(number: number, table: Numbered): number {
  if (table === null) return number;
  const place = Array.prototype.indexOf.call(table.numbers, number);
  return place < 0 ? table.numbers.length : place;
}

/** The labels that a judge gives, row by row; null if the report does not have them. */
export function labelsOf(judge: Judge, table: Table, found: Evaluation): ArrayLike<number> | null {
  if (judge === "rules") return found.outcomes;
  return (judge === "network" ? table.network : table.truth)?.codes ?? null;
}

/** The names of a judge's labels. */
export function namesOf(judge: Judge, table: Table | null, found: Outcomes): readonly Scalar[] {
  const labels = judge === "network" ? table?.network : judge === "truth" ? table?.truth : null;
  return labels?.names ?? outcomesOf(found);
}

type Outcomes = Pick<RuleSet, "classes" | "abstention">;

/** For each label of one judge the place of the same label among those of another; −1 where it is not there. */
export function samePlaces(aNames: readonly Scalar[], bNames: readonly Scalar[]): readonly number[] {
  const places = new Map(bNames.map((name, place) => [name, place]));
  return aNames.map((name) => places.get(name) ?? -1);
}

/** The terms that slices and bins of the report stand for; null where it has none. */
export interface CohortTerms {
  slice: (slice: number) => readonly Term[] | null;
  bin: (feature: number, bin: number) => Term | null;
}

export function rowsOfCohort(cohort: Cohort, table: Table, found: Evaluation, terms: CohortTerms): Bits {
  const bits = emptyBits(table.nRows);
  if (cohort.kind === "slice") {
    const own = terms.slice(cohort.slice);
    return own === null ? bits : coverOf(own, table);
  }
  if (cohort.kind === "bin") {
    const term = terms.bin(cohort.feature, cohort.bin);
    if (term === null) return bits;
    const rows = rowsOfCohort({ kind: "differ", a: cohort.a, b: cohort.b }, table, found, terms);
    andInto(rows, coverOf([term], table));
    return rows;
  }
  if (cohort.kind === "covered") {
    const place = found.set.rules.findIndex((rule) => rule.id === cohort.rule);
    return place < 0 ? bits : found.covers[place];
  }
  if (cohort.kind === "uncovered") {
    for (let row = 0; row < table.nRows; row++) if (found.nFired[row] === 0) setBit(bits, row);
    return bits;
  }
  const a = labelsOf(cohort.a, table, found);
  const b = labelsOf(cohort.b, table, found);
  if (a === null || b === null) return bits;
  // Labels unknown to the rules are numbered differently by each judge.
  const same = samePlaces(namesOf(cohort.a, table, found.set), namesOf(cohort.b, table, found.set));
  for (let row = 0; row < table.nRows; row++) {
    const isIn = cohort.kind === "cell" ? a[row] === cohort.i && b[row] === cohort.j : same[a[row]] !== b[row] && (cohort.kind === "differ" || a[row] === cohort.i);
    if (isIn) setBit(bits, row);
  }
  return bits;
}

/** The names of the judges, capitalised. */
export const JUDGES: Record<Judge, string> = { rules: "Rules", network: "Network", truth: "Truth" };

/** Cohorts that need nothing but labels and rules to be described; `Store.describe` knows all. */
export function describeCohort(cohort: Exclude<Cohort, { kind: "slice" | "bin" }>, table: Table | null, found: Outcomes, ruleName: (id: number) => string): string {
  const name = (judge: Judge, place: number): string => {
    const label = namesOf(judge, table, found)[place];
    return label === undefined ? "?" : formatLabel(label);
  };
  switch (cohort.kind) {
    case "uncovered":
      return "Rows on which no rule fires";
    case "covered":
      return `Rows on which ${ruleName(cohort.rule)} fires`;
    case "differ":
      return `Rows on which ${cohort.a} and ${cohort.b} differ`;
    case "missed":
      return `${JUDGES[cohort.a]}: ${name(cohort.a, cohort.i)}, ${cohort.b}: another class`;
    case "cell":
      return `${JUDGES[cohort.a]}: ${name(cohort.a, cohort.i)}, ${cohort.b}: ${name(cohort.b, cohort.j)}`;
  }
}
