"""Evaluating discrete and ordered attributes (B7, B8)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from .c50_numbers import f32, lg, quotient, size32, sum_in_order, times_lg, total_information
from .c50_split import Candidate, Spot
from .c50_tree import MULTIWAY, SUBSET

SMALLEST_OCCURRENCE = 1e-4
SAME_PROPORTION = 0.001
LEAST_IMPROVEMENT = 1e-4
LEAST_COUNTED_VALUE = 0.5  # weight of a value that counts as a branch of a multiway test (B2.2)


@dataclass
class Block:
    """Values that go down the same branch."""

    values: tuple[int, ...]
    class_weights: np.ndarray
    weight: float
    information: float

    @classmethod
    def of_value(cls, value: int, class_weights: np.ndarray) -> Block:
        weight = 0.0
        for each in class_weights.tolist():
            weight += each
        return cls((value,), class_weights, weight, total_information(class_weights))

    def joined(self, other: Block) -> Block:
        class_weights = self.class_weights + other.class_weights
        return Block(
            self.values + other.values,
            class_weights,
            self.weight + other.weight,
            information_of_joined(class_weights.tolist()),
        )

    @property
    def proportions(self) -> np.ndarray:
        return self.class_weights / float(f32(self.weight))


def information_of_joined(class_weights: list[float]) -> float:
    """-sum F lg F + S lg S with S added in single precision (B7, subset tests, 3)."""
    summed = 0.0
    for weight in class_weights:
        summed += times_lg(weight)
    return times_lg(float(size32(class_weights))) - summed


def evaluate_discrete(spot: Spot, feature: int) -> Candidate | None:
    data = spot.data
    known = data.known[feature][spot.cases]
    known_cases = spot.cases[known]
    missing_weight = sum_in_order(data.weights[spot.cases[~known]])
    codes = data.columns[feature][known_cases]
    n_values = data.n_values[feature]
    blocks = [Block.of_value(v, data.class_weights(known_cases[codes == v])) for v in range(n_values)]
    scoring = Scoring.of(spot, missing_weight, blocks)
    if data.is_ordered(feature):
        return best_ordered_test(scoring, feature, blocks, spot)
    if data.subset and n_values + 1 > 3:
        return best_subset_test(scoring, feature, n_values, blocks, spot)
    n_big = sum(block.weight >= spot.min_cases for block in blocks)
    n_counted = sum(block.weight > LEAST_COUNTED_VALUE for block in blocks)
    if feature in spot.tested or n_big < 2 or n_counted > spot.most_branches:
        return None
    return Candidate(
        feature,
        f32(scoring.gain(blocks)),
        f32(scoring.split(blocks)),
        MULTIWAY,
        n_forks=n_values + 1,
        n_declared_values=n_values + 1,
    )


@dataclass(frozen=True)
class Scoring:
    """The figures of a node that gains and split information depend on (B7)."""

    size: float  # n
    known_weight: float  # n_k
    missing_weight: float  # u
    base: float

    @classmethod
    def of(cls, spot: Spot, missing_weight: float, blocks: list[Block]) -> Scoring:
        known_weight = float(f32(spot.size - missing_weight))
        base = spot.base
        if missing_weight > 0:
            class_weights = [f32(0)] * spot.data.n_classes
            for block in blocks:
                for c, weight in enumerate(block.class_weights.tolist()):
                    class_weights[c] = f32(float(class_weights[c]) + weight)
            base = 0.0 if known_weight < 1e-5 else total_information(class_weights) / known_weight
        return cls(spot.size, known_weight, missing_weight, base)

    @property
    def missing_rate(self) -> float:
        return self.missing_weight / self.size

    def gain(self, blocks: list[Block]) -> float:
        total = 0.0
        for block in blocks:
            total += total_information(block.class_weights)
        information = quotient(total, self.known_weight)
        if self.base <= information:
            return 0.0
        return float(f32(1 - float(f32(self.missing_rate)))) * (self.base - information)

    def split(self, blocks: list[Block]) -> float:
        return total_information([self.missing_weight, *(block.weight for block in blocks)]) / self.size

    def part(self, weight: float) -> float:
        """q of B7."""
        return -weight * lg(weight / self.size)


@dataclass(frozen=True)
class Stage:
    blocks: list[Block]
    score: float
    gain: float  # with the penalty
    split: float


def best_subset_test(
    scoring: Scoring, feature: int, n_values: int, all_blocks: list[Block], spot: Spot
) -> Candidate | None:
    """Join blocks of values step by step, keep the stage with the best penalised gain ratio."""
    min_cases = spot.min_cases
    n_big = sum(block.weight >= min_cases for block in all_blocks)
    if n_big < 1:
        return None
    blocks = [block for block in all_blocks if block.weight > SMALLEST_OCCURRENCE]
    absent = tuple(block.values[0] for block in all_blocks if not block.weight > SMALLEST_OCCURRENCE)
    n_occurring = len(blocks)
    gain, split = scoring.gain(blocks), scoring.split(blocks)
    best = Stage(list(blocks), quotient(gain, split), gain, split)

    def consider() -> None:
        nonlocal best
        code_length = lg(partitions(n_occurring, len(blocks)))
        score = quotient(gain - code_length / scoring.size, split)
        if score >= best.score:  # the later stage on ties
            best = Stage(list(blocks), score, gain - code_length / scoring.known_weight, split)

    def join(i: int, j: int) -> None:
        nonlocal n_big
        n_big += change_of_big(blocks[i].weight, blocks[j].weight, min_cases - 1e-4)
        blocks[i] = blocks[i].joined(blocks[j])
        del blocks[j]

    i = 0
    while i < len(blocks):
        j = i + 1
        while j < len(blocks):
            if np.all(np.abs(blocks[i].proportions - blocks[j].proportions) <= SAME_PROPORTION):
                join(i, j)
            else:
                j += 1
        i += 1
    if len(blocks) < n_occurring:
        split = scoring.split(blocks)
        if len(blocks) >= 2 and n_big >= 2:
            consider()
    while len(blocks) > 2:
        found = best_join(scoring, blocks, gain, split, n_big == 2, min_cases - 1e-4)
        if found is None:
            break
        pair, gain, split = found
        join(*pair)
        consider()
    subsets = [tuple(sorted(block.values)) for block in best.blocks]
    if absent:
        subsets.append(absent)
    if len(subsets) > spot.most_branches:
        return None
    return Candidate(
        feature,
        f32(best.gain),
        f32(best.split),
        SUBSET,
        n_forks=len(subsets),
        subsets=tuple(subsets),
        n_declared_values=n_values + 1,
    )


def change_of_big(a: float, b: float, least: float) -> int:
    """How joining blocks of these weights changes the number of big ones."""
    if a >= least and b >= least:
        return -1
    return int(a < least and b < least and a + b >= least)


def best_join(
    scoring: Scoring, blocks: list[Block], gain: float, split: float, only_two_big: bool, least: float
) -> tuple[tuple[int, int], float, float] | None:
    """The pair that keeps the highest gain, with the gain and split after joining it; pairs in lexicographic order."""
    best_gain, best = -LEAST_IMPROVEMENT, None
    scale = (1 - scoring.missing_rate) / scoring.known_weight
    for i in range(len(blocks)):
        for j in range(i + 1, len(blocks)):
            a, b = blocks[i], blocks[j]
            if only_two_big and a.weight >= least and b.weight >= least:
                continue
            union = (a.class_weights + b.class_weights).astype(np.float32).astype(np.float64)
            joined_gain = gain - scale * (
                information_of_joined(union.tolist()) - (a.information + b.information)
            )
            if joined_gain > best_gain + LEAST_IMPROVEMENT:
                joined_part = scoring.part(float(f32(a.weight + b.weight)))
                joined_split = (
                    split + (joined_part - (scoring.part(a.weight) + scoring.part(b.weight))) / scoring.size
                )
                best_gain, best = joined_gain, ((i, j), joined_gain, joined_split)
    return best


def best_ordered_test(scoring: Scoring, feature: int, blocks: list[Block], spot: Spot) -> Candidate | None:
    """Levels up to a cut and above it (B8)."""
    if spot.most_branches < 2:
        return None
    n_cuts, best, best_cut, best_sides = 0, 0.0, None, None
    for cut in range(1, len(blocks)):
        sides = [as_one_block(blocks[:cut]), as_one_block(blocks[cut:])]
        if not blocks[cut].weight > 0 or min(side.weight for side in sides) < spot.min_cases:
            continue
        n_cuts += 1
        gain = scoring.gain(sides)
        if best_cut is None or gain > best:
            best, best_cut, best_sides = gain, cut, sides
    if best_cut is None:
        return None
    split = scoring.split(best_sides)
    gain = best - (lg(n_cuts) / scoring.size if n_cuts > 1 else 0.0)
    if gain <= 0:
        return None
    return Candidate(
        feature,
        f32(gain),
        f32(split),
        SUBSET,
        n_forks=2,
        subsets=(tuple(range(best_cut)), tuple(range(best_cut, len(blocks)))),
        n_declared_values=len(blocks) + 1,
        is_ordered=True,
    )


def as_one_block(blocks: list[Block]) -> Block:
    class_weights, weight = np.zeros_like(blocks[0].class_weights), 0.0
    for block in blocks:
        class_weights = class_weights + block.class_weights
        weight += block.weight
    return Block(tuple(block.values[0] for block in blocks), class_weights, weight, 0.0)


@cache
def partitions(n_values: int, n_blocks: int) -> int:
    """Stirling number of the second kind: ways to put values into non-empty blocks."""
    if n_blocks == n_values:
        return 1
    if n_blocks == 0 or n_blocks > n_values:
        return 0
    return n_blocks * partitions(n_values - 1, n_blocks) + partitions(n_values - 1, n_blocks - 1)
