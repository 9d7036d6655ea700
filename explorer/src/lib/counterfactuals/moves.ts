/** Candidate changes of one feature in the search for counterfactuals. */

import type { Axis } from "./bins";

/** Candidate values of one feature: their bins, and what each change costs. */
export interface Moves {
  readonly axis: Axis;
  readonly bins: readonly number[];
  readonly values: readonly number[];
  readonly costs: readonly number[];
}

/** The rules that hold after a move, of those that hold on all other features. */
export function passing(rules: readonly number[], moves: Moves, i: number): number[] {
  const bin = moves.bins[i];
  const { accepts } = moves.axis;
  return rules.filter((r) => accepts.get(r)?.[bin] !== 0);
}

/**
 * Drops moves with a cheaper neighbour after which the same rules hold. Costs of up to `most` are added later; where
 * that could make two sums equal, Python takes the first one, which is therefore kept.
 */
export function distinctMoves(moves: Moves, rules: readonly number[], most: number): Moves {
  const { bins, values, costs, axis } = moves;
  const terms = rules.flatMap((r) => axis.accepts.get(r) ?? []);
  const isCheaper = (j: number, i: number) => costs[j] < costs[i] && (j < i || costs[i] - costs[j] > 1e-15 * (costs[i] + most));
  const isNoBetter = (i: number, j: number) => isCheaper(j, i) && terms.every((accepts) => accepts[bins[i]] === accepts[bins[j]]);
  const kept = [...bins.keys()].filter((i) => !isNoBetter(i, i - 1) && !isNoBetter(i, i + 1));
  return { axis, bins: kept.map((i) => bins[i]), values: kept.map((i) => values[i]), costs: kept.map((i) => costs[i]) };
}

export function largest(costs: readonly number[]): number {
  return costs.reduce((a, b) => Math.max(a, b), 0);
}

export function movesBelow(moves: Moves, bound: number): Moves {
  const near = moves.costs.map((cost) => cost < bound);
  const kept = <T>(list: readonly T[]) => list.filter((_, i) => near[i]);
  return { axis: moves.axis, bins: kept(moves.bins), values: kept(moves.values), costs: kept(moves.costs) };
}
