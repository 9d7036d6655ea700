/**
 * What the rules decide, row by row: the same arithmetic, in the same order, as Python's core, so that the
 * answers are equal to the last bit (tests/report/test_parity.py). Pure functions of rules and table.
 */

import type { Voting } from "../payload";
import { allBits, andInto, andNotInto, type Bits, emptyBits, lowestBit, orInto, setBit } from "./bits";
import { holds, type Rule, type RuleSet, type Term } from "./rules";
import { type Column, placeAbove, type Table, valueAt } from "./table";

/** What decides a row: the rules with priority, where one of them fires, and all other rules elsewhere. */
export interface Evaluation {
  readonly set: RuleSet;
  readonly nRows: number;
  /** For each rule the rows on which it fires. */
  readonly covers: readonly Bits[];
  /** Row by row the votes of each class, before division (`divisors`). */
  readonly totals: Float64Array;
  /** The rows that rules with priority decide; null when there are no such rules. */
  readonly priorityRows: Bits | null;
  /** Per jury and class what its total is divided by. */
  readonly divisors: Divisors;
  /** Row by row the class decided for. */
  readonly decisions: Uint16Array;
  /** Row by row the number of rules that fire, of either jury. */
  readonly nFired: Uint32Array;
}

interface Divisors {
  readonly others: Float64Array;
  readonly priority: Float64Array;
}

// --- One rule on all rows ---

/** A term made ready for a column: the places of values that satisfy it. */
interface Places {
  codes: Column["codes"];
  column: Column;
  /** Places first ≤ p < end, of those `accepts` says which; all where it is null. */
  first: number;
  end: number;
  accepts: Uint8Array | null;
  nRows: number;
}

function placesOf(term: Term, column: Column): Places {
  const { values, nKnown, starts, codes } = column;
  if (term.codes !== null) {
    const accepts = new Uint8Array(values.length);
    let nRows = 0;
    for (let place = 0; place < nKnown; place++) {
      if (term.codes.includes(values[place])) {
        accepts[place] = 1;
        nRows += starts[place + 1] - starts[place];
      }
    }
    return { codes, column, first: 0, end: nKnown, accepts, nRows };
  }
  const first = term.low === -Infinity ? 0 : placeAbove(values, nKnown, term.low);
  const end = Math.max(first, placeAbove(values, nKnown, term.high));
  return { codes, column, first, end, accepts: null, nRows: starts[end] - starts[first] };
}

/** The rows on which all terms hold. A term on a column that the report left out cannot be judged: no rows. */
export function coverOf(terms: readonly Term[], table: Table): Bits {
  if (terms.length === 0) return allBits(table.nRows);
  const bits = emptyBits(table.nRows);
  const places: Places[] = [];
  for (const term of terms) {
    const column = table.columns[term.feature];
    if (column === null) return bits;
    places.push(placesOf(term, column));
  }
  // Walk the rows of the most selective term and look the others up.
  places.sort((a, b) => a.nRows - b.nRows);
  const { column, first, end, accepts } = places[0];
  const others = places.slice(1);
  for (let place = first; place < end; place++) {
    if (accepts !== null && accepts[place] === 0) continue;
    for (let i = column.starts[place]; i < column.starts[place + 1]; i++) {
      const row = column.order[i];
      if (satisfies(others, row)) setBit(bits, row);
    }
  }
  return bits;
}

function satisfies(places: readonly Places[], row: number): boolean {
  for (let i = 0; i < places.length; i++) {
    const term = places[i];
    const place = term.codes[row];
    if (place < term.first || place >= term.end || (term.accepts !== null && term.accepts[place] === 0)) return false;
  }
  return true;
}

// --- Many rules on all rows ---

/** One end of an interval: from `place` on (`isLow`), or before it. */
interface Bound {
  place: number;
  rule: number;
  isLow: boolean;
}

/**
 * The rows of many rules at once, feature by feature: the rows with a value before some place grow as the place
 * ascends, and are cut out of (or into) each rule with a bound there. Much faster than rule by rule, because it reads
 * every column once and then only combines sets.
 */
export function coversOf(rules: readonly Rule[], table: Table): Bits[] {
  const covers = rules.map(() => allBits(table.nRows));
  const bounds = new Map<number, Bound[]>();
  rules.forEach((rule, r) => {
    for (const term of rule.terms) {
      const column = table.columns[term.feature];
      if (column === null) {
        covers[r].fill(0);
        continue;
      }
      const { first, end, accepts } = placesOf(term, column);
      if (accepts !== null) {
        andInto(covers[r], rowsAt(column, accepts, table.nRows));
        continue;
      }
      let listed = bounds.get(term.feature);
      if (listed === undefined) bounds.set(term.feature, (listed = []));
      if (first > 0) listed.push({ place: first, rule: r, isLow: true });
      if (end < column.values.length) listed.push({ place: end, rule: r, isLow: false });
    }
  });
  for (const [feature, listed] of bounds) {
    const column = table.columns[feature];
    if (column !== null) cut(covers, column, listed, table.nRows);
  }
  return covers;
}

function cut(covers: readonly Bits[], column: Column, bounds: Bound[], nRows: number): void {
  const before = emptyBits(nRows);
  let n = 0;
  bounds.sort((a, b) => a.place - b.place);
  for (const { place, rule, isLow } of bounds) {
    for (const end = column.starts[place]; n < end; n++) setBit(before, column.order[n]);
    if (isLow) andNotInto(covers[rule], before);
    else andInto(covers[rule], before);
  }
}

/** The rows whose value is one of the accepted. */
function rowsAt(column: Column, accepts: Uint8Array, nRows: number): Bits {
  const bits = emptyBits(nRows);
  for (let place = 0; place < accepts.length; place++) {
    if (accepts[place] === 0) continue;
    for (let i = column.starts[place]; i < column.starts[place + 1]; i++) setBit(bits, column.order[i]);
  }
  return bits;
}

// --- Votes ---

/** What a rule adds to its class where it fires. */
export function votesOf(rule: Rule, voting: Voting): number {
  switch (voting) {
    case "confidence":
      return Math.floor(1000 * rule.confidence + 0.5);
    case "weights":
      return rule.weight;
    case "majority":
    case "share":
      return 1;
  }
}

/** The votes that rows start with where no rule with priority fires. */
export function startOf(set: RuleSet): readonly number[] {
  return set.voting === "weights" ? set.base : set.base.map(() => 0);
}

export function divisorsOf(set: RuleSet): Divisors {
  const others = new Float64Array(set.classes.length).fill(1);
  const priority = others.slice();
  if (set.voting === "share") {
    others.fill(0);
    priority.fill(0);
    for (const rule of set.rules) (rule.priority ? priority : others)[rule.classIndex]++;
    for (const counts of [others, priority]) counts.forEach((n, c) => (counts[c] = Math.max(n, 1)));
  }
  return { others, priority };
}

/** The largest score; ties go to the default class, then to the lowest place. */
export function winner(scores: ArrayLike<number>, defaultIndex: number): number {
  let best = 0;
  for (let c = 1; c < scores.length; c++) if (scores[c] > scores[best]) best = c;
  return scores[defaultIndex] === scores[best] ? defaultIndex : best;
}

// --- All rules on all rows ---

/** From here on it pays to look at all rules together. */
const MANY_RULES = 16;

/** Covers are kept as long as their rule is: unchanged rules are not evaluated again after an edit. */
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

  /** All answers; what `before` knows about the same rules is taken over. */
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
  return { ...partly, decisions: decide(partly) };
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

function decide(found: Omit<Evaluation, "decisions">): Uint16Array {
  const decisions = new Uint16Array(found.nRows);
  const scores = new Float64Array(found.set.classes.length);
  for (let row = 0; row < found.nRows; row++) {
    fillScores(found, row, scores);
    decisions[row] = winner(scores, found.set.defaultIndex);
  }
  return decisions;
}

function fillScores(found: Omit<Evaluation, "decisions">, row: number, scores: Float64Array): void {
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

/** Scores as `RuleSet.predict_proba` gives them. */
export function probabilitiesOf(scores: ArrayLike<number>, set: RuleSet): number[] {
  const list = Array.from(scores);
  if (set.voting === "weights") {
    const scaled = list.map((score) => score / set.scale);
    const largest = Math.max(...scaled);
    const powers = scaled.map((score) => Math.exp(score - largest));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / sum);
  }
  const sum = list.reduce((a, b) => a + b, 0);
  return list.map((score) => (sum > 0 ? score / sum : 1 / list.length));
}

// --- One row ---

/** The decision on one row of encoded values (one per feature, NaN where missing). */
export interface RowEvaluation {
  /** Places of the rules that fire. */
  readonly fired: readonly number[];
  /** Rules that fire but are overruled, because rules with priority decide. */
  readonly isPriority: boolean;
  readonly scores: Float64Array;
  readonly decision: number;
}

export function evaluateRow(set: RuleSet, values: ArrayLike<number>): RowEvaluation {
  const fired: number[] = [];
  set.rules.forEach((rule, r) => {
    if (rule.terms.every((term) => holds(term, values[term.feature]))) fired.push(r);
  });
  const isPriority = fired.some((r) => set.rules[r].priority);
  const scores = isPriority ? new Float64Array(set.classes.length) : Float64Array.from(startOf(set));
  for (const r of fired) {
    const rule = set.rules[r];
    if (rule.priority === isPriority) scores[rule.classIndex] += votesOf(rule, set.voting);
  }
  const divisors = divisorsOf(set);
  const divisor = isPriority ? divisors.priority : divisors.others;
  for (let c = 0; c < scores.length; c++) scores[c] /= divisor[c];
  return { fired, isPriority, scores, decision: winner(scores, set.defaultIndex) };
}

/** The encoded values of a row of the table; null for features whose values are not in the report. */
export function rowValues(table: Table, row: number): (number | null)[] {
  return table.columns.map((column) => (column === null ? null : valueAt(column, row)));
}

/** Places of the rules that fire on a row. */
export function firedOn(found: Evaluation, row: number): number[] {
  const fired: number[] = [];
  const word = row >> 5;
  const bit = row & 31;
  for (let r = 0; r < found.covers.length; r++) if (((found.covers[r][word] >>> bit) & 1) === 1) fired.push(r);
  return fired;
}

// --- Measures on the rows of the report ---

export interface Measures {
  readonly nRows: number;
  /** Part of the rows on which the rules decide as the network; null where its labels are not known. */
  readonly fidelity: number | null;
  readonly accuracy: number | null;
  /** Part of the rows on which a rule fires. */
  readonly coverage: number;
  readonly nUncovered: number;
}

export function measuresOf(found: Evaluation, table: Table): Measures {
  let nUncovered = 0;
  for (let row = 0; row < found.nRows; row++) if (found.nFired[row] === 0) nUncovered++;
  return {
    nRows: found.nRows,
    fidelity: agreement(found.decisions, table.network?.codes ?? null),
    accuracy: agreement(found.decisions, table.truth?.codes ?? null),
    coverage: found.nRows === 0 ? 0 : 1 - nUncovered / found.nRows,
    nUncovered,
  };
}

function agreement(decisions: Uint16Array, codes: ArrayLike<number> | null): number | null {
  if (codes === null || decisions.length === 0) return null;
  let n = 0;
  for (let row = 0; row < decisions.length; row++) if (decisions[row] === codes[row]) n++;
  return n / decisions.length;
}

/** Of the rows that a rule covers, those whose label is its class. */
export function countLabelled(cover: Bits, codes: ArrayLike<number>, classIndex: number): number {
  let n = 0;
  for (let w = 0; w < cover.length; w++) {
    for (let word = cover[w]; word !== 0; word &= word - 1) {
      if (codes[(w << 5) + lowestBit(word)] === classIndex) n++;
    }
  }
  return n;
}
