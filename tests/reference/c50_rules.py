"""From a pruned tree to a rule set: candidate rules, their simplification, the chosen subset (spec 4, B6, B7, B9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .c50_data import TrainingSet
from .c50_numbers import f32, lg, quotient, quotient32, sum_in_order, times_lg
from .c50_prune import distinct_values
from .c50_select import default_class, final_order, initial_subset, shorten_description
from .c50_tree import MULTIWAY, SMALLEST_BRANCH, THRESHOLD, Node, Verdicts

THEORY_DISCOUNT = 0.23
LEAST_LIFT = 0.95


@dataclass(frozen=True)
class Condition:
    """`x <= threshold`, `x > threshold`, `x == value` or `x in values`; a missing value satisfies none."""

    feature: int
    op: str  # "<=", ">", "==", "in"
    threshold: np.float32 | None = None
    values: tuple[int, ...] = ()
    bits: np.float32 = f32(0)

    def holds(self, column: np.ndarray) -> np.ndarray:
        if self.op == "<=":
            return column <= self.threshold
        if self.op == ">":
            return column > self.threshold
        return np.isin(column, self.values)

    @property
    def test(self) -> tuple:
        return (self.feature, self.op, self.threshold, self.values)

    @property
    def sort_key(self) -> tuple[int, float]:
        return (self.feature, 0.0 if self.threshold is None else float(self.threshold))


@dataclass(frozen=True)
class Rule:
    cls: int
    conditions: tuple[Condition, ...]
    cover: float
    ok: float
    lift: float
    vote: int  # per mille
    covered: np.ndarray | None = None  # training cases, in order
    bits: np.float32 = f32(0)

    def fires(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        result = np.ones(len(columns[0]), dtype=bool)
        for condition in self.conditions:
            result &= condition.holds(columns[condition.feature])
        return result


def vote_of(ok: float, cover: float) -> int:
    """Spec 4.4, per mille."""
    return math.floor(1000 * (float(ok) + 1) / (float(cover) + 2) + 0.5)


@dataclass(frozen=True)
class RuleModel:
    rules: list[Rule]
    default: int


def rules_from_tree(data: TrainingSet, tree: Node, tree_errors: np.float32) -> RuleModel:
    """Spec 4; `tree_errors` is B_T of 4.6."""
    builder = RuleBuilder(data)
    builder.visit(tree, [])
    builder.rules = [builder.without_absent_values(rule) for rule in builder.rules]
    chosen = initial_subset(data, builder.rules)
    shorten_description(data, builder.rules, chosen, tree_errors, builder.log_factorial, builder.error_cost)
    default = default_class(data, builder.rules, chosen)
    return RuleModel(final_order(builder.rules, chosen, data.n_classes), default)


def training_time_votes(data: TrainingSet, model: RuleModel) -> Verdicts:
    """Classes and confidences of the training cases (B1.3); ties go to the default class."""
    shape = (data.n_cases, data.n_classes)
    votes, specific_vote = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    smallest_cover = np.full(shape, np.inf)
    is_covered = np.zeros(data.n_cases, dtype=bool)
    for rule in model.rules:
        at = (rule.covered, rule.cls)
        votes[at] += rule.vote
        is_covered[rule.covered] = True
        better = (rule.cover < smallest_cover[at]) | (
            (rule.cover == smallest_cover[at]) & (rule.vote > specific_vote[at])
        )
        smallest_cover[rule.covered[better], rule.cls] = rule.cover
        specific_vote[rule.covered[better], rule.cls] = rule.vote
    classes = np.argmax(votes, axis=1)
    classes[votes[:, model.default] >= votes.max(axis=1)] = model.default
    classes[~is_covered] = model.default
    confidences = specific_vote[np.arange(data.n_cases), classes] / 1000
    return Verdicts(classes, np.where(is_covered, confidences, 0.5))


class RuleBuilder:
    """Walks the tree and collects accepted rules (spec 4.1 to 4.4)."""

    def __init__(self, data: TrainingSet) -> None:
        self.data = data
        self.rules: list[Rule] = []
        self.class_totals = data.class_weights(data.all_cases)  # F_c
        self.attribute_bits = f32(lg(sum(data.in_use)))  # bA
        self.log_factorial = LogFactorial()
        self.error_cost = relative_error_costs(data, self.class_totals)
        self._test_bits: dict[int, np.float32] = {}

    # --- coding costs, spec 4.1, B2.5, B7 and B8 ---

    def threshold_bits(self, feature: int) -> np.float32:
        if feature not in self._test_bits:
            recorded = self.data.n_cuts
            if recorded is not None:
                n_cuts = recorded.get(feature, 0)
            else:
                n_cuts = len(distinct_values(self.data, feature)) - 1
            self._test_bits[feature] = f32(1 + 0.5 * lg(n_cuts)) if n_cuts > 1 else f32(0)
        return self._test_bits[feature]

    def discrete_bits(self, feature: int, n_in_set: int) -> np.float32:
        if self.data.is_ordered(feature):
            return self.attribute_bits + f32(1 + 0.5 * lg(self.data.n_values[feature]))
        bits = self._equality_bits(feature) if n_in_set == 1 else self._set_bits(feature, n_in_set)
        return self.attribute_bits + bits

    def _equality_bits(self, feature: int) -> np.float32:
        """Entropy of the value distribution, counting cases, those with a missing value in the total."""
        total, entropy = self.data.n_cases, f32(0)
        for count in self._value_counts(feature).tolist():
            entropy = f32(float(entropy) + count / total * (lg(total) - lg(count)))
        return entropy

    def _set_bits(self, feature: int, n_in_set: int) -> np.float32:
        n_occurring = int((self._value_counts(feature) > 0).sum())
        n_chosen = min(n_in_set, n_occurring - 1)
        factorial = self.log_factorial
        return f32(factorial(n_occurring) - (factorial(n_chosen) + factorial(n_occurring - n_chosen)))

    def _value_counts(self, feature: int) -> np.ndarray:
        codes = self.data.columns[feature][self.data.known[feature]]
        return np.bincount(codes, minlength=self.data.n_values[feature])

    # --- candidates, spec 4.2 ---

    def visit(self, node: Node, path: list[Condition]) -> None:
        for index, branch in enumerate(node.branches):
            if float(branch.size) < SMALLEST_BRANCH:
                continue
            self.visit(branch, [*path, self.condition_of_branch(node, index)])
        if path and float(node.size) >= 1:
            self.form_rule(path, node.cls)

    def condition_of_branch(self, node: Node, index: int) -> Condition:
        feature = node.feature
        if node.test == THRESHOLD:
            bits = self.attribute_bits + self.threshold_bits(feature)
            return Condition(feature, "<=" if index == 1 else ">", node.threshold, (), bits)
        values = (index - 1,) if node.test == MULTIWAY else node.subsets[index]
        return self.condition_of_values(feature, values)

    def condition_of_values(self, feature: int, values: tuple[int, ...]) -> Condition:
        bits = self.discrete_bits(feature, len(values))
        return Condition(feature, "==" if len(values) == 1 else "in", None, values, bits)

    # --- simplification and acceptance, spec 4.3 and 4.4 ---

    def form_rule(self, path: list[Condition], target: int) -> None:
        pruner = ConditionPruner(self, path, target)
        pruner.run()
        rule = self._accepted(pruner)
        if rule is None:
            return
        for position, old in enumerate(self.rules):
            if old.cls == rule.cls and same_conditions(old.conditions, rule.conditions):
                self.rules[position] = replace(old, vote=max(old.vote, rule.vote))
                return
        self.rules.append(rule)

    def _accepted(self, pruner: ConditionPruner) -> Rule | None:
        data, target = self.data, pruner.target
        covered = pruner.covered
        n, e = pruner.weight, pruner.errors
        prior = f32(self.class_totals[target] / data.n_cases)
        cover, ok = n, n - e
        if data.costs is not None and data.costs.reweights_cases:
            factor = data.costs.class_factor[target]
            cover = sum_in_order(data.uncosted_weights(covered))
            ok = (n - e) / float(factor)
            prior = prior / factor
        elif self.error_cost is not None:
            ok = sum_in_order(data.weights[covered[data.classes[covered] == target]])  # B9.1
        if not (n > 0.99 and THEORY_DISCOUNT * pruner.cost <= pruner.gain):
            return None
        # Costs may label a node with a class that has no case; IEEE division then accepts the rule.
        if not quotient(ok + 1, (cover + 2) * float(prior)) >= LEAST_LIFT:
            return None
        cover, ok = f32(cover), f32(ok)
        conditions = tuple(sorted(pruner.kept_conditions, key=lambda condition: condition.sort_key))
        return Rule(
            cls=target,
            conditions=conditions,
            cover=float(cover),
            ok=float(ok),
            lift=float(quotient32(ok + f32(1), (cover + f32(2)) * prior)),
            vote=vote_of(ok, cover),
            covered=covered,
        )

    def _rule_bits(self, conditions: Sequence[Condition]) -> np.float32:
        """Spec 4.6."""
        total = f32(0)
        for condition in conditions:
            total = total + condition.bits
        return f32(float(total) + lg(len(conditions)) - self.log_factorial(len(conditions)))

    def without_absent_values(self, rule: Rule) -> Rule:
        """B7: with subset = TRUE, values that no covered case has leave the sets; then the code length of the rule."""
        conditions = []
        for condition in rule.conditions:
            if condition.op == "in" and self.data.subset:
                present = set(self.data.columns[condition.feature][rule.covered].tolist())
                values = tuple(v for v in condition.values if v in present)
                condition = self.condition_of_values(condition.feature, values)
            conditions.append(condition)
        return replace(rule, conditions=tuple(conditions), bits=self._rule_bits(conditions))


def same_conditions(a: Sequence[Condition], b: Sequence[Condition]) -> bool:
    return [c.test for c in a] == [c.test for c in b]


class LogFactorial:
    """LF(j) = lg(j!) as a running sum (spec 4.1)."""

    def __init__(self) -> None:
        self._table = [0.0, 0.0]

    def __call__(self, j: int) -> float:
        while len(self._table) <= j:
            self._table.append(self._table[-1] + lg(len(self._table)))
        return self._table[j]


def relative_error_costs(data: TrainingSet, class_totals: np.ndarray) -> np.ndarray | None:
    """The matrix M / a-bar of spec 6, rules with K >= 3 and costs; None otherwise."""
    if data.costs is None or data.costs.reweights_cases:
        return None
    matrix = data.costs.matrix.astype(np.float64)
    share = class_totals / data.n_cases
    expected = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        for p in range(data.n_classes):
            for r in range(data.n_classes):
                if r != p:
                    expected += share[p] * share[r] / (1 - share[p]) * matrix[p][r]
    return (matrix / (0.5 * (1 + expected))).astype(np.float32)


def two_way_information(a: float, b: float) -> float:
    """I2(a, b) of spec 4.3."""
    return times_lg(a + b) - times_lg(a) - times_lg(b)


class ConditionPruner:
    """Drops conditions of one candidate rule (spec 4.3).

    Counts are kept incrementally as described there, since capping with costs makes that visible.
    """

    def __init__(self, builder: RuleBuilder, path: list[Condition], target: int) -> None:
        data = builder.data
        self.data, self.path, self.target = data, path, target
        self.log_factorial = builder.log_factorial
        self.class_total = float(builder.class_totals[target])
        self.fails = np.stack([~condition.holds(data.columns[condition.feature]) for condition in path])
        self.n_failed = self.fails.sum(axis=0)
        self.kept = list(range(len(path)))
        weights = data.weights.astype(np.float64)
        is_error = data.classes != target
        if builder.error_cost is None:
            error_weights = np.where(is_error, weights, 0.0)
        else:
            case_errors = data.weights * builder.error_cost[target][data.classes]  # single precision (B9.1)
            error_weights = np.where(is_error, case_errors.astype(np.float64), 0.0)
        self.case_weights, self.case_errors = weights, error_weights
        satisfied = self.n_failed == 0
        self.weight = sum_in_order(weights[satisfied])  # n_0
        self.errors = sum_in_order(error_weights[satisfied])  # e_0
        self.weight_without = [self.weight] * len(path)  # n_d
        self.errors_without = [self.errors] * len(path)  # e_d
        self._add_nearly_covered(np.ones(data.n_cases, dtype=bool))
        total_bits = 0.0
        for condition in path:
            total_bits += float(condition.bits)
        self.cost = total_bits - self.log_factorial(len(path))
        self.gain = 0.0

    @property
    def covered(self) -> np.ndarray:
        return np.flatnonzero(self.n_failed == 0)

    @property
    def kept_conditions(self) -> list[Condition]:
        return [self.path[d] for d in self.kept]

    def run(self) -> None:
        while True:
            self.gain = self._coding_gain()
            self._cap_errors()
            rate_without = {
                d: laplace_error(self.weight_without[d], self.errors_without[d]) for d in self.kept
            }
            weakest = min(self.kept, key=lambda d: (rate_without[d], -d))  # the last in path order on ties
            if len(self.kept) == 1:
                return
            is_worth_it = THEORY_DISCOUNT * self.cost <= self.gain
            if is_worth_it and rate_without[weakest] > laplace_error(self.weight, self.errors):
                return
            self._drop(weakest)

    def _coding_gain(self) -> float:
        n, e, total = self.weight, self.errors, self.class_total
        others = self.data.n_cases - total
        return (
            two_way_information(total, others)
            - two_way_information(n - e, e)
            - two_way_information(total - n + e, others - e)
        )

    def _cap_errors(self) -> None:
        if self.errors > self.weight:
            self.errors = self.weight
        for d in self.kept:
            if self.errors_without[d] > self.weight_without[d]:
                self.errors_without[d] = self.weight_without[d]

    def _drop(self, dropped: int) -> None:
        failed_dropped = self.fails[dropped]
        self.kept.remove(dropped)
        for d in self.kept:
            self.weight_without[d] += self.weight_without[dropped] - self.weight
            self.errors_without[d] += self.errors_without[dropped] - self.errors
        self.weight, self.errors = self.weight_without[dropped], self.errors_without[dropped]
        self.n_failed = self.n_failed - failed_dropped
        self._add_nearly_covered(failed_dropped)
        n_kept = len(self.kept)
        self.cost = (
            self.cost
            - float(self.path[dropped].bits)
            + self.log_factorial(n_kept + 1)
            - self.log_factorial(n_kept)
        )

    def _add_nearly_covered(self, among: np.ndarray) -> None:
        """Cases that fail exactly one kept condition count for the rule without it."""
        nearly = among & (self.n_failed == 1)
        for d in self.kept:
            cases = np.flatnonzero(nearly & self.fails[d])
            self.weight_without[d] += sum_in_order(self.case_weights[cases])
            self.errors_without[d] += sum_in_order(self.case_errors[cases])


def laplace_error(weight: float, errors: float) -> np.float32:
    """p(n, e) of spec 4.3."""
    return f32(0.5) if weight < 1e-4 else f32((errors + 1) / (weight + 2))
