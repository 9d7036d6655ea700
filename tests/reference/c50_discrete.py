"""Evaluating discrete attributes (spec App. A)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from .c50_numbers import f32, lg, sum_in_order, total_information
from .c50_split import Candidate, Spot, split_information
from .c50_tree import MULTIWAY, SUBSET

SMALLEST_OCCURRENCE = 1e-4
SAME_PROPORTION = 0.001
LEAST_IMPROVEMENT = 1e-4


@dataclass
class Block:
    """Values that go down the same branch."""

    values: tuple[int, ...]
    class_weights: np.ndarray

    @property
    def weight(self) -> float:
        total = 0.0
        for weight in self.class_weights.tolist():
            total += weight
        return total

    def joined(self, other: Block) -> Block:
        return Block(self.values + other.values, self.class_weights + other.class_weights)


def evaluate_discrete(spot: Spot, feature: int) -> Candidate | None:
    data = spot.data
    known = data.known[feature][spot.cases]
    known_cases = spot.cases[known]
    missing_weight = sum_in_order(data.weights[spot.cases[~known]])
    known_weight = spot.size - missing_weight
    codes = data.columns[feature][known_cases]
    n_values = data.n_values[feature]
    blocks = [Block((v,), data.class_weights(known_cases[codes == v])) for v in range(n_values)]
    base = spot.base
    if missing_weight > 0 and known_weight > 0:
        base = total_information(data.class_weights(known_cases)) / known_weight
    scoring = Scoring(spot.size, known_weight, missing_weight, base)
    if data.subset and n_values + 1 > 3:
        return best_subset_test(scoring, feature, n_values, blocks, spot.min_cases)
    n_big = sum(block.weight >= spot.min_cases for block in blocks)
    if feature in spot.tested or n_big < 2:
        return None
    gain = max(scoring.gain(blocks), 0.0)
    return Candidate(
        feature,
        f32(gain),
        f32(scoring.split(blocks)),
        MULTIWAY,
        n_forks=n_values + 1,
        n_declared_values=n_values + 1,
    )


@dataclass(frozen=True)
class Scoring:
    size: float
    known_weight: float
    missing_weight: float
    base: float

    def gain(self, blocks: list[Block]) -> float:
        information = 0.0
        for block in blocks:
            information += total_information(block.class_weights)
        missing_rate = 1 - self.known_weight / self.size
        return (1 - missing_rate) * (self.base - information / self.known_weight)

    def split(self, blocks: list[Block]) -> float:
        return split_information([self.missing_weight, *(block.weight for block in blocks)], self.size)


@dataclass(frozen=True)
class Stage:
    blocks: list[Block]
    score: float
    penalised_gain: float
    split: float


def best_subset_test(
    scoring: Scoring, feature: int, n_values: int, all_blocks: list[Block], min_cases: float
) -> Candidate | None:
    """Join blocks of values step by step, keep the stage with the best penalised gain ratio.

    Readings of App. A that the goldens leave open: values as they are form a stage under the condition of a multiway
    test; stages after a join have no condition of their own (App. A puts one on the stage of equal proportions only).
    """
    if not any(block.weight >= min_cases for block in all_blocks):
        return None
    blocks = [block for block in all_blocks if block.weight > SMALLEST_OCCURRENCE]
    absent = tuple(block.values[0] for block in all_blocks if not block.weight > SMALLEST_OCCURRENCE)
    n_occurring = len(blocks)
    best: Stage | None = None

    def consider(stage_blocks: list[Block]) -> None:
        nonlocal best
        split = scoring.split(stage_blocks)
        if not split > 0:
            return
        code_length = lg(partitions(n_occurring, len(stage_blocks)))
        gain = scoring.gain(stage_blocks)
        score = (gain - code_length / scoring.size) / split
        if best is None or score >= best.score:  # the later stage on ties
            best = Stage(stage_blocks, score, gain - code_length / scoring.known_weight, split)

    def has_two_big(stage_blocks: list[Block]) -> bool:
        return len(stage_blocks) >= 2 and sum(block.weight >= min_cases for block in stage_blocks) >= 2

    if has_two_big(blocks):
        consider(blocks)
    blocks = with_equal_proportions_joined(blocks)
    if has_two_big(blocks):
        consider(blocks)
    while len(blocks) > 2:
        joined = best_join(scoring, blocks, min_cases)
        if joined is None:
            break
        blocks = joined
        consider(blocks)
    if best is None:
        return None
    subsets = [tuple(sorted(block.values)) for block in best.blocks]
    n_formed = len(subsets)
    if absent:
        subsets.append(absent)
    return Candidate(
        feature,
        f32(best.penalised_gain),
        f32(best.split),
        SUBSET,
        n_forks=len(subsets),
        subsets=tuple(subsets),
        n_occurring=n_formed,
        n_declared_values=n_values + 1,
    )


def with_equal_proportions_joined(blocks: list[Block]) -> list[Block]:
    """Blocks whose class proportions agree within 0.001 in every class become one."""
    blocks = list(blocks)
    i = 0
    while i < len(blocks):
        j = i + 1
        while j < len(blocks):
            difference = (
                blocks[i].class_weights / blocks[i].weight - blocks[j].class_weights / blocks[j].weight
            )
            if np.all(np.abs(difference) < SAME_PROPORTION):
                blocks[i] = blocks[i].joined(blocks[j])
                del blocks[j]
            else:
                j += 1
        i += 1
    return blocks


def best_join(scoring: Scoring, blocks: list[Block], min_cases: float) -> list[Block] | None:
    """The blocks after joining the pair that keeps the highest gain, pairs in lexicographic order."""
    is_big = [block.weight >= min_cases - 1e-4 for block in blocks]
    only_two_big = sum(is_big) == 2
    best_gain, best_blocks = -LEAST_IMPROVEMENT, None
    for i in range(len(blocks)):
        for j in range(i + 1, len(blocks)):
            if only_two_big and is_big[i] and is_big[j]:
                continue
            trial = [*blocks[:i], blocks[i].joined(blocks[j]), *blocks[i + 1 : j], *blocks[j + 1 :]]
            gain = scoring.gain(trial)
            if gain > best_gain + LEAST_IMPROVEMENT:
                best_gain, best_blocks = gain, trial
    return best_blocks


@cache
def partitions(n_values: int, n_blocks: int) -> int:
    """Stirling number of the second kind: ways to put values into non-empty blocks."""
    if n_blocks == n_values:
        return 1
    if n_blocks == 0 or n_blocks > n_values:
        return 0
    return n_blocks * partitions(n_values - 1, n_blocks) + partitions(n_values - 1, n_blocks - 1)
