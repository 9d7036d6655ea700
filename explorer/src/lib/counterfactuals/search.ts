/**
 * The smallest change of one or two values that changes the decision, as Python's counterfactuals find it with the
 * rows of the report as reference.
 *
 * The thresholds of all rules on a feature cut its axis into bins (`bins.ts`), and a decision depends only on the bins
 * of a row. So there is one candidate per bin, at the end that is next to the row; all of them, and all pairs of two
 * features, are tried. The search is a generator, so that the page stays responsive while it runs.
 */

import type { RuleSet } from "../rules";
import type { Table } from "../table";
import { divisorsOf, startOf, votesOf, winner } from "../votes";
import { type Axis, axisOf, binOf, cutsOf } from "./bins";
import { distinctMoves, largest, type Moves, movesBelow, passing } from "./moves";
import { unitOf } from "./units";

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
  /** The wanted class; null for any other than the current one. */
  readonly to: number | null;
  readonly maxFeatures: 1 | 2;
  /** Places of features that keep their values. */
  readonly fixed?: ReadonlySet<number>;
}

/** What is decided along the axis of one feature, all other values of a row as they are. */
export interface Along {
  /** The thresholds of the rules, ascending; none for categories. */
  readonly cuts: ArrayLike<number>;
  /** Neighbouring values with the same decision, from and up to; categories by their codes, without the end. */
  readonly runs: readonly { from: number; to: number; decision: number }[];
  /** The decision in a bin; for categories, at a code. */
  readonly at: (bin: number) => number;
}

/** A search prepared for one rule set, for any number of rows. */
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

  /** The smallest change, or null if there is none; yields now and then. Missing and infinite values are not changed. */
  *smallest(row: ArrayLike<number>, wish: Wish): Generator<void, Counterfactual | null> {
    const state = new RowState(this.set, this.axes, row);
    const mine = this.decide(state.firing);
    if (mine === wish.to) return { changes: [], becomes: mine, distance: 0 };
    const isWanted = (decision: number) => (wish.to === null ? decision !== mine : decision === wish.to);
    const mayChange = (axis: Axis) => Number.isFinite(row[axis.feature]) && wish.fixed?.has(axis.feature) !== true;
    const moves = this.axes.filter(mayChange).map((axis) => this.movesOf(axis, row[axis.feature]));
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
        // Costs add up, so each must be below the bound minus the least cost of the other.
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

  /** A function that gives, for each feature, what is decided along its axis; null for features that no rule tests. */
  along(row: ArrayLike<number>): (feature: number) => Along | null {
    const state = new RowState(this.set, this.axes, row);
    return (feature) => {
      const axis = this.axisAt.get(feature);
      if (axis === undefined) return null;
      const rules = state.mayFire(axis, null);
      const decisions = Array.from({ length: axis.nBins }, (_, bin) => this.decide(rules.filter((r) => axis.accepts.get(r)?.[bin] !== 0)));
      const isNumeric = this.set.features[feature].kind === "numeric";
      const cuts = isNumeric ? (axis.cuts ?? []) : [];
      const runs: { from: number; to: number; decision: number }[] = [];
      decisions.forEach((decision, bin) => {
        const from = !isNumeric ? bin : bin === 0 ? -Infinity : cuts[bin - 1];
        const to = !isNumeric ? bin + 1 : bin === axis.nBins - 1 ? Infinity : cuts[bin];
        const last = runs[runs.length - 1];
        if (last !== undefined && last.decision === decision) last.to = to;
        else runs.push({ from, to, decision });
      });
      return { cuts, runs, at: (bin) => decisions[bin] };
    };
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
  /** Rules that fail on exactly one feature, by that feature; and on two, by both. */
  private readonly failOnOne = new Map<number, number[]>();
  private readonly failOnTwo = new Map<string, number[]>();

  constructor(set: RuleSet, axes: readonly Axis[], row: ArrayLike<number>) {
    const failing: number[][] = set.rules.map(() => []);
    for (const axis of axes) {
      const value = row[axis.feature];
      const bin = value !== value ? -1 : binOf(axis, value);
      for (const [r, accepts] of axis.accepts) {
        const isHolding = value !== value ? axis.acceptMissing.has(r) : bin >= 0 && accepts[bin] === 1;
        if (!isHolding) failing[r].push(axis.feature);
      }
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
