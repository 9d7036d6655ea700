/**
 * The decisions of all rules on all rows of the report: the same arithmetic, in the same order, as Python's core, so
 * that the results are equal to the last bit (tests/report/test_parity.py).
 */

import { allBits, type Bits, emptyBits, lowestBit, orInto } from "./bits";
import { coverOf, coversOf } from "./covers";
import type { Rule, RuleSet } from "./rules";
import type { Table } from "./table";
import { abstains, type Divisors, divisorsOf, startOf, votesOf, winner } from "./votes";

/** The evaluation of all rules on all rows. Rules with priority decide a row if one of them fires, else all others do. */
export interface Evaluation {
  readonly set: RuleSet;
  readonly nRows: number;
  /** For each rule the rows on which it fires. */
  readonly covers: readonly Bits[];
  /** Row by row the votes of each class, before division (`divisors`). */
  readonly totals: Float64Array;
  /** The rows that rules with priority decide; null when there are no such rules. */
  readonly priorityRows: Bits | null;
  /** The divisors of the totals per class, for rows that rules with priority decide and for others. */
  readonly divisors: Divisors;
  /** The class of each row that leads, which is decided unless the rules abstain. */
  readonly decisions: Uint16Array;
  /** What the rules say of each row, as a place in `outcomesOf(set)`. */
  readonly outcomes: Uint16Array;
  /** The number of rules that fire on each row, with or without priority. */
  readonly nFired: Uint32Array;
}

/** From this number of rules it is faster to evaluate all rules together. */
const MANY_RULES = 16;

/** Caches the cover of each rule, so that unchanged rules are not evaluated again after an edit. */
export class Evaluator {
  private readonly covers = new WeakMap<Rule, Bits>();

  constructor(private readonly table: Table) {}

  coverOf(rule: Rule): Bits {
    let bits = this.covers.get(rule);
    if (bits === undefined) {
      bits = coverOf(rule.terms, this.table);
      this.covers.set(rule, bits);
    }
    return bits;
  }

  /** Evaluate a rule set, reusing what `before` has of the same rules. */
  evaluate(set: RuleSet, before: Evaluation | null = null): Evaluation {
    const unknown = set.rules.filter((rule) => !this.covers.has(rule));
    if (unknown.length > MANY_RULES) {
      coversOf(unknown, this.table).forEach((bits, r) => this.covers.set(unknown[r], bits));
    }
    const covers = set.rules.map((rule) => this.coverOf(rule));
    const touched = before === null ? null : touchedRows(before, set, covers);
    return evaluated(set, covers, this.table.nRows, before, touched);
  }
}

/** The rows whose votes may differ after an edit; null if all may. */
function touchedRows(before: Evaluation, set: RuleSet, covers: readonly Bits[]): Bits | null {
  const old = before.set;
  const sameStart = old.voting === set.voting && old.base === set.base && old.classes === set.classes;
  if (!sameStart) return null;
  let head = 0;
  const shorter = Math.min(old.rules.length, set.rules.length);
  while (head < shorter && old.rules[head] === set.rules[head]) head++;
  let oldEnd = old.rules.length;
  let newEnd = set.rules.length;
  while (oldEnd > head && newEnd > head && old.rules[oldEnd - 1] === set.rules[newEnd - 1]) {
    oldEnd--;
    newEnd--;
  }
  const touched = emptyBits(before.nRows);
  for (let r = head; r < oldEnd; r++) orInto(touched, before.covers[r]);
  for (let r = head; r < newEnd; r++) orInto(touched, covers[r]);
  return touched;
}

function evaluated(
  set: RuleSet,
  covers: readonly Bits[],
  nRows: number,
  before: Evaluation | null,
  touched: Bits | null,
): Evaluation {
  const nClasses = set.classes.length;
  const isPartial = before !== null && touched !== null;
  const rows = isPartial ? touched : allBits(nRows);
  const totals = isPartial ? before.totals.slice() : new Float64Array(nRows * nClasses);
  const nFired = isPartial ? before.nFired.slice() : new Uint32Array(nRows);
  const priorityRows = priorityRowsOf(set, covers, nRows);
  startRows(rows, totals, nFired, startOf(set), priorityRows);
  // In the order of the rules, because sums of weights depend on it.
  for (let r = 0; r < covers.length; r++) {
    const rule = set.rules[r];
    const votes = votesOf(rule, set.voting);
    const cover = covers[r];
    const isOverruled = priorityRows !== null && !rule.priority;
    for (let w = 0; w < cover.length; w++) {
      const fired = cover[w] & rows[w];
      if (fired === 0) continue;
      const voting = isOverruled ? fired & ~priorityRows[w] : fired;
      for (let word = fired; word !== 0; word &= word - 1) nFired[(w << 5) + lowestBit(word)]++;
      for (let word = voting; word !== 0; word &= word - 1) {
        totals[((w << 5) + lowestBit(word)) * nClasses + rule.classIndex] += votes;
      }
    }
  }
  const divisors = divisorsOf(set);
  const partly = { set, nRows, covers, totals, priorityRows, divisors, nFired };
  return { ...partly, ...decide(partly) };
}

function priorityRowsOf(set: RuleSet, covers: readonly Bits[], nRows: number): Bits | null {
  if (!set.rules.some((rule) => rule.priority)) return null;
  const rows = emptyBits(nRows);
  set.rules.forEach((rule, r) => {
    if (rule.priority) orInto(rows, covers[r]);
  });
  return rows;
}

function startRows(
  rows: Bits,
  totals: Float64Array,
  nFired: Uint32Array,
  start: readonly number[],
  priorityRows: Bits | null,
): void {
  const nClasses = start.length;
  for (let w = 0; w < rows.length; w++) {
    for (let word = rows[w]; word !== 0; word &= word - 1) {
      const bit = lowestBit(word);
      const row = (w << 5) + bit;
      const isPriority = priorityRows !== null && ((priorityRows[w] >>> bit) & 1) === 1;
      nFired[row] = 0;
      for (let c = 0; c < nClasses; c++) totals[row * nClasses + c] = isPriority ? 0 : start[c];
    }
  }
}

type Undecided = Omit<Evaluation, "decisions" | "outcomes">;

function decide(found: Undecided): Pick<Evaluation, "decisions" | "outcomes"> {
  const decisions = new Uint16Array(found.nRows);
  const outcomes = found.set.abstention === null ? decisions : new Uint16Array(found.nRows);
  const scores = new Float64Array(found.set.classes.length);
  for (let row = 0; row < found.nRows; row++) {
    fillScores(found, row, scores);
    decisions[row] = winner(scores, found.set.defaultIndex);
    outcomes[row] = abstains(scores, found.set) ? scores.length : decisions[row];
  }
  return { decisions, outcomes };
}

function fillScores(found: Undecided, row: number, scores: Float64Array): void {
  const { totals, divisors, priorityRows } = found;
  const isPriority = priorityRows !== null && ((priorityRows[row >> 5] >>> (row & 31)) & 1) === 1;
  const divisor = isPriority ? divisors.priority : divisors.others;
  for (let c = 0; c < scores.length; c++) scores[c] = totals[row * scores.length + c] / divisor[c];
}

/** The scores of one row, as `RuleSet.scores` gives them. */
export function scoresOf(found: Evaluation, row: number): Float64Array {
  const scores = new Float64Array(found.set.classes.length);
  fillScores(found, row, scores);
  return scores;
}

/** Places of the rules that fire on a row. */
export function firedOn(found: Evaluation, row: number): number[] {
  const fired: number[] = [];
  const word = row >> 5;
  const bit = row & 31;
  for (let r = 0; r < found.covers.length; r++) if (((found.covers[r][word] >>> bit) & 1) === 1) fired.push(r);
  return fired;
}
