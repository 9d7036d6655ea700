/**
 * The smallest change of one or two values that changes the decision, the twin of Python's rules/counterfactuals.py
 * with the rows of the report as reference.
 *
 * The thresholds of all rules on a feature cut its axis into bins, and a decision depends on the bins of a row only.
 * So there is one candidate per bin, at the end that is next to the row; all of them, and all pairs of two features,
 * are tried. The search is a generator, so that a page stays fluid while it runs.
 */

import { nextAbove, shortestDecimal } from "./decimals";
import { divisorsOf, startOf, votesOf, winner } from "./evaluate";
import { holds, type RuleSet } from "./rules";
import { type Column, type Table, valueAt } from "./table";

/** How far from a threshold a readable value may lie, in units of the feature's spread. */
const SLACK = 0.01;

export interface ValueChange {
  readonly feature: number;
  /** Encoded, as in a row. */
  readonly before: number;
  readonly after: number;
}

export interface Counterfactual {
  readonly changes: readonly ValueChange[];
  /** The decision with the changes. */
  readonly becomes: number;
  /** Sum of the changes, each in units of its feature. */
  readonly distance: number;
}

export interface Wish {
  /** The class wanted; any other than now where null. */
  readonly to: number | null;
  readonly maxFeatures: 1 | 2;
}

/** The bins of one feature, and the value to take in each when coming from either side. */
interface Axis {
  readonly feature: number;
  /** Upper ends of all bins but the last; null for categories, whose bins are their codes. */
  readonly cuts: Float64Array | null;
  readonly nBins: number;
  readonly fromBelow: Float64Array;
  readonly fromAbove: Float64Array;
  /** Per rule that tests the feature, by place: in which bins its term holds. */
  readonly accepts: ReadonlyMap<number, Uint8Array>;
}

/** Candidates of one feature, nearer than what has been found. */
interface Moves {
  readonly axis: Axis;
  readonly bins: readonly number[];
  readonly values: readonly number[];
  readonly costs: readonly number[];
}

/** Everything about a rule set that no row changes. */
export class CounterfactualSearch {
  private readonly axes: readonly Axis[];
  private readonly axisAt: ReadonlyMap<number, Axis>;
  readonly units: Float64Array;
  private readonly votes: Float64Array;
  private readonly classOf: Uint16Array;
  private readonly hasPriority: Uint8Array;
  private readonly start: readonly number[];
  private readonly divisors: { others: Float64Array; priority: Float64Array };
  private readonly scratch: { scores: Float64Array; priority: Float64Array };

  constructor(
    private readonly set: RuleSet,
    table: Table | null,
  ) {
    const cuts = cutsOf(set);
    this.units = Float64Array.from(set.features, (feature, place) =>
      feature.kind === "numeric" ? unitOf(cuts.get(place) ?? new Float64Array(0), table?.columns[place] ?? null) : 1,
    );
    this.axes = [...cuts.keys()].sort((a, b) => a - b).map((place) => axisOf(set, place, cuts.get(place), this.units[place], table?.columns[place] ?? null));
    this.axisAt = new Map(this.axes.map((axis) => [axis.feature, axis]));
    this.votes = Float64Array.from(set.rules, (rule) => votesOf(rule, set.voting));
    this.classOf = Uint16Array.from(set.rules, (rule) => rule.classIndex);
    this.hasPriority = Uint8Array.from(set.rules, (rule) => (rule.priority ? 1 : 0));
    this.start = startOf(set);
    this.divisors = divisorsOf(set);
    this.scratch = { scores: new Float64Array(set.classes.length), priority: new Float64Array(set.classes.length) };
  }

  /** The smallest change, or null if there is none; yields now and then. Missing and infinite values stay. */
  *smallest(row: ArrayLike<number>, wish: Wish): Generator<void, Counterfactual | null> {
    const state = new RowState(this.set, this.axes, row);
    const mine = this.decide(state.firing);
    if (mine === wish.to) return { changes: [], becomes: mine, distance: 0 };
    const isWanted = (decision: number) => (wish.to === null ? decision !== mine : decision === wish.to);
    const moves = this.axes.filter((axis) => Number.isFinite(row[axis.feature])).map((axis) => this.movesOf(axis, row[axis.feature]));
    let best: Counterfactual | null = null;
    let bound = Infinity;
    for (const all of moves) {
      const rules = state.mayFire(all.axis, null);
      const one = distinctMoves(all, rules, 0);
      for (let i = 0; i < one.bins.length; i++) {
        if (!(one.costs[i] < bound)) continue;
        const becomes = this.decide(passing(rules, one, i));
        if (!isWanted(becomes)) continue;
        bound = one.costs[i];
        best = { changes: [changeOf(one, i, row)], becomes, distance: bound };
      }
      yield;
    }
    if (wish.maxFeatures === 1) return best;
    const least = moves.map((all) => all.costs.reduce((a, b) => Math.min(a, b), Infinity));
    for (let a = 0; a < moves.length; a++) {
      for (let b = a + 1; b < moves.length; b++) {
        if (least[a] + least[b] >= bound || moves[a].bins.length === 0 || moves[b].bins.length === 0) continue;
        // Costs add up, so that either must be below the bound by the least that the other costs.
        const rules = state.mayFire(moves[a].axis, moves[b].axis);
        const [near, otherNear] = [movesBelow(moves[a], bound - least[b]), movesBelow(moves[b], bound - least[a])];
        const one = distinctMoves(near, rules, largest(otherNear.costs));
        const other = distinctMoves(otherNear, rules, largest(near.costs));
        for (let i = 0; i < one.bins.length; i++) {
          if (!(one.costs[i] + least[b] < bound)) continue;
          const left = passing(rules, one, i);
          const terms = left.map((r) => other.axis.accepts.get(r) ?? null);
          for (let j = 0; j < other.bins.length; j++) {
            const cost = one.costs[i] + other.costs[j];
            if (!(cost < bound)) continue;
            const becomes = this.decide(left, terms, other.bins[j]);
            if (!isWanted(becomes)) continue;
            bound = cost;
            best = { changes: [changeOf(one, i, row), changeOf(other, j, row)], becomes, distance: cost };
          }
          yield;
        }
      }
    }
    return best;
  }

  /**
   * What these rules (by place, ascending) decide if they fire, in Python's order of sums. Where terms are given,
   * one each, a rule fires only if its term holds in the bin.
   */
  private decide(rules: readonly number[], terms: readonly (Uint8Array | null)[] = [], bin = 0): number {
    const { scores, priority } = this.scratch;
    scores.set(this.start);
    priority.fill(0);
    let isPriority = false;
    for (let k = 0; k < rules.length; k++) {
      if (terms.length > 0 && terms[k]?.[bin] === 0) continue;
      const r = rules[k];
      if (this.hasPriority[r] === 1) {
        isPriority = true;
        priority[this.classOf[r]] += this.votes[r];
      } else scores[this.classOf[r]] += this.votes[r];
    }
    const divisor = isPriority ? this.divisors.priority : this.divisors.others;
    const totals = isPriority ? priority : scores;
    for (let c = 0; c < totals.length; c++) totals[c] /= divisor[c];
    return winner(totals, this.set.defaultIndex);
  }

  private movesOf(axis: Axis, value: number): Moves {
    const mine = binOf(axis, value);
    const bins: number[] = [];
    const values: number[] = [];
    for (let bin = 0; bin < axis.nBins; bin++) {
      const to = bin > mine ? axis.fromBelow[bin] : axis.fromAbove[bin];
      if (bin === mine || !Number.isFinite(to)) continue;
      bins.push(bin);
      values.push(to);
    }
    return { axis, bins, values, costs: values.map((to) => this.costOf(axis.feature, value, to)) };
  }

  private costOf(feature: number, before: number, after: number): number {
    return this.set.features[feature].kind === "categorical" ? 1 : Math.abs(after - before) / this.units[feature];
  }

  /** The thresholds of the rules on a feature, ascending; none for categories. */
  thresholds(feature: number): ArrayLike<number> {
    return this.axisAt.get(feature)?.cuts ?? [];
  }
}

/** Runs a search to its end. */
export function finished<T>(search: Generator<void, T>): T {
  for (;;) {
    const step = search.next();
    if (step.done === true) return step.value;
  }
}

/** Which rules fire on a row, and which would if one or two features were different. */
class RowState {
  readonly firing: number[] = [];
  /** Rules that fail on one feature only, by it; and on two, by both. */
  private readonly failOnOne = new Map<number, number[]>();
  private readonly failOnTwo = new Map<string, number[]>();

  constructor(set: RuleSet, axes: readonly Axis[], row: ArrayLike<number>) {
    const failing: number[][] = set.rules.map(() => []);
    for (const axis of axes) {
      const value = row[axis.feature];
      const bin = value !== value ? -1 : binOf(axis, value);
      for (const [r, accepts] of axis.accepts) if (bin < 0 || accepts[bin] === 0) failing[r].push(axis.feature);
    }
    failing.forEach((features, r) => {
      if (features.length === 0) this.firing.push(r);
      else if (features.length === 1) listAt(this.failOnOne, features[0]).push(r);
      else if (features.length === 2) listAt(this.failOnTwo, features.join()).push(r);
    });
  }

  /** Rules that could fire with other values of these features, ascending. */
  mayFire(a: Axis, b: Axis | null): number[] {
    const found = [...this.firing, ...(this.failOnOne.get(a.feature) ?? [])];
    if (b !== null) {
      found.push(...(this.failOnOne.get(b.feature) ?? []), ...(this.failOnTwo.get([a.feature, b.feature].join()) ?? []));
    }
    return found.sort((x, y) => x - y);
  }
}

function listAt<K>(lists: Map<K, number[]>, key: K): number[] {
  let list = lists.get(key);
  if (list === undefined) lists.set(key, (list = []));
  return list;
}

function changeOf(moves: Moves, i: number, row: ArrayLike<number>): ValueChange {
  const { feature } = moves.axis;
  return { feature, before: row[feature], after: moves.values[i] };
}

/** The rules that hold where a move leads, of those that hold otherwise. */
function passing(rules: readonly number[], moves: Moves, i: number): number[] {
  const bin = moves.bins[i];
  const { accepts } = moves.axis;
  return rules.filter((r) => accepts.get(r)?.[bin] !== 0);
}

/**
 * Without the moves beside which stands a cheaper one after which the same rules hold. Costs of up to `most` are
 * added; where that could make two sums equal, Python takes the first, which therefore stays.
 */
function distinctMoves(moves: Moves, rules: readonly number[], most: number): Moves {
  const { bins, values, costs, axis } = moves;
  const terms = rules.flatMap((r) => axis.accepts.get(r) ?? []);
  const isCheaper = (j: number, i: number) => costs[j] < costs[i] && (j < i || costs[i] - costs[j] > 1e-15 * (costs[i] + most));
  const isNoBetter = (i: number, j: number) => isCheaper(j, i) && terms.every((accepts) => accepts[bins[i]] === accepts[bins[j]]);
  const kept = [...bins.keys()].filter((i) => !isNoBetter(i, i - 1) && !isNoBetter(i, i + 1));
  return { axis, bins: kept.map((i) => bins[i]), values: kept.map((i) => values[i]), costs: kept.map((i) => costs[i]) };
}

function largest(costs: readonly number[]): number {
  return costs.reduce((a, b) => Math.max(a, b), 0);
}

function movesBelow(moves: Moves, bound: number): Moves {
  const near = moves.costs.map((cost) => cost < bound);
  const kept = <T>(list: readonly T[]) => list.filter((_, i) => near[i]);
  return { axis: moves.axis, bins: kept(moves.bins), values: kept(moves.values), costs: kept(moves.costs) };
}

// --- Bins and units ---

/** Per feature that rules test, all finite thresholds, ascending. */
function cutsOf(set: RuleSet): Map<number, Float64Array> {
  const found = new Map<number, Set<number>>();
  for (const rule of set.rules) {
    for (const { feature, low, high } of rule.terms) {
      let cuts = found.get(feature);
      if (cuts === undefined) found.set(feature, (cuts = new Set()));
      for (const bound of [low, high]) if (Number.isFinite(bound)) cuts.add(bound);
    }
  }
  return new Map([...found].map(([feature, cuts]) => [feature, Float64Array.from(cuts).sort()]));
}

/** What counts as a distance of 1: the standard deviation in the report, or else the range of thresholds. */
function unitOf(cuts: Float64Array, column: Column | null): number {
  const isUnit = (spread: number) => spread > 0 && spread < Infinity;
  let spread = cuts.length > 0 ? cuts[cuts.length - 1] - cuts[0] : 0;
  if (column !== null) spread = standardDeviation(finiteValues(column));
  // One threshold: changes relative to its size.
  if (!isUnit(spread)) spread = cuts.reduce((largest, cut) => Math.max(largest, Math.abs(cut)), 0);
  return isUnit(spread) ? spread : 1;
}

function finiteValues(column: Column): Float64Array {
  return Float64Array.from({ length: column.codes.length }, (_, row) => valueAt(column, row)).filter(Number.isFinite);
}

/** As NumPy computes it, to the last bit. */
function standardDeviation(values: Float64Array): number {
  if (values.length === 0) return 0;
  const mean = pairwiseSum(values, 0, values.length) / values.length;
  const squares = values.map((value) => (value - mean) * (value - mean));
  return Math.sqrt(pairwiseSum(squares, 0, squares.length) / squares.length);
}

/** NumPy's order of summation. */
function pairwiseSum(values: Float64Array, from: number, n: number): number {
  if (n < 8) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += values[from + i];
    return sum;
  }
  if (n <= 128) {
    const r = values.slice(from, from + 8);
    let i = 8;
    for (; i < n - (n % 8); i += 8) for (let k = 0; k < 8; k++) r[k] += values[from + i + k];
    let sum = r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
    for (; i < n; i++) sum += values[from + i];
    return sum;
  }
  const half = Math.floor(n / 2);
  const first = half - (half % 8);
  return pairwiseSum(values, from, first) + pairwiseSum(values, from + first, n - first);
}

function axisOf(set: RuleSet, place: number, cuts: Float64Array | undefined, unit: number, column: Column | null): Axis {
  const { kind, categories } = set.features[place];
  if (kind === "categorical") {
    const codes = Float64Array.from((categories ?? []).keys());
    return { feature: place, cuts: null, nBins: codes.length, fromBelow: codes, fromAbove: codes, accepts: acceptedBins(set, place, null, codes) };
  }
  if (kind === "binary") {
    const values = Float64Array.of(0, 1);
    return { feature: place, cuts: Float64Array.of(0), nBins: 2, fromBelow: values, fromAbove: values, accepts: acceptedBins(set, place, null, values) };
  }
  const thresholds = cuts ?? new Float64Array(0);
  const [fromBelow, fromAbove] = nearestValues(thresholds, unit, column !== null && holdsWholeNumbers(column));
  return { feature: place, cuts: thresholds, nBins: thresholds.length + 1, fromBelow, fromAbove, accepts: acceptedBins(set, place, thresholds, fromBelow) };
}

function holdsWholeNumbers(column: Column): boolean {
  const values = finiteValues(column);
  return values.length > 0 && values.every(Number.isInteger);
}

/** Per bin the values to take when coming from below and from above; NaN or infinite where there is none. */
function nearestValues(cuts: Float64Array, unit: number, isWhole: boolean): [below: Float64Array, above: Float64Array] {
  const below = new Float64Array(cuts.length + 1).fill(NaN);
  const above = Float64Array.of(...cuts, Infinity);
  for (let bin = 0; bin <= cuts.length; bin++) {
    const low = bin === 0 ? -Infinity : cuts[bin - 1];
    const high = bin === cuts.length ? Infinity : cuts[bin];
    if (isWhole) {
      const last = Math.floor(high);
      above[bin] = last > low ? last : NaN;
      const first = Number.isFinite(low) ? Math.floor(low) + 1 : Infinity;
      below[bin] = low < first && first <= high ? first : NaN;
      continue;
    }
    if (Number.isFinite(low)) {
      const first = nextAbove(low);
      const last = Math.max(Math.min(high, low + SLACK * unit), first);
      if (Number.isFinite(last)) below[bin] = shortestDecimal(first, nextAbove(last), first);
    }
    if (Number.isFinite(high) && Number(high.toPrecision(4)) !== high) {
      const first = Math.max(nextAbove(low), high - SLACK * unit);
      if (Number.isFinite(first)) above[bin] = shortestDecimal(first, nextAbove(high), high);
    }
  }
  return [below, above];
}

/** In which bins each rule's term holds. Every bound is a cut, so a bin lies inside an interval or outside of it. */
function acceptedBins(set: RuleSet, place: number, cuts: Float64Array | null, values: Float64Array): Map<number, Uint8Array> {
  const accepts = new Map<number, Uint8Array>();
  set.rules.forEach((rule, r) => {
    for (const term of rule.terms) {
      if (term.feature !== place) continue;
      const isInside = (bin: number) =>
        cuts === null
          ? holds(term, values[bin])
          : (bin === 0 ? -Infinity : cuts[bin - 1]) >= term.low && (bin === cuts.length ? Infinity : cuts[bin]) <= term.high;
      accepts.set(r, Uint8Array.from(values, (_, bin) => (isInside(bin) ? 1 : 0)));
    }
  });
  return accepts;
}

/** The bin of a value; −1 for a category that is not known. */
function binOf(axis: Axis, value: number): number {
  if (axis.cuts === null) return value >= 0 && value < axis.nBins ? value : -1;
  let low = 0;
  let high = axis.cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (axis.cuts[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
