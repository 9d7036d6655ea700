"""A summary of a whole rule set: the features it tests, rule lengths, coverage, overlap and agreement."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.base import html
from clausewise.base.frames import Backend, frame_of
from clausewise.data.table import Matrix
from clausewise.networks.answers import ask_network
from clausewise.rules import display
from clausewise.rules.evaluator import BitMatrix
from clausewise.rules.ruleset import RuleSet
from clausewise.rules.term import format_category

# Counts up to here are exact in the single precision of the matrix product.
_ROWS_PER_PRODUCT = 2**20
_NUMBERS_PER_PRODUCT = 2**24
# What a notebook shows at most.
_SHOWN_FEATURES = 20
_SHOWN_CLASSES = 8


@dataclass(frozen=True, eq=False, repr=False)
class GlobalExplanation:
    """A summary of a whole rule set; made by `RuleSet.explain_global`.

    Arrays hold the numbers; methods that end in `_frame` return them as tables with names.

    Attributes
    ----------
    rules : RuleSet
        The rules.
    fires : BitMatrix or None
        Which rules fire on which rows, if rows were given.
    target : ndarray of shape (n_rows,) or None
        The network's class index for each row, if given; len(classes) and above for unknown labels.
    decisions : ndarray of shape (n_rows,) or None
        The rules' class index for each row, if rows were given.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> text = "IF age > 50 THEN high IF debt > 8 AND age > 30 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> explained = rules.explain_global([[60, 9], [60, 0], [40, 9], [30, 0]], ["high", "high", "low", "low"])
    >>> explained.fidelity, explained.agreement.tolist()
    (0.75, [1.0, 0.5])
    >>> explained.coverage_frame()[["premise", "n_rows", "n_rows_alone"]]
                     premise  n_rows  n_rows_alone
    0               age > 50       2             1
    1  age > 30 AND debt > 8       2             1
    >>> explained.feature_use_frame()
      feature conclusion  n_rules  fraction_of_rules
    0     age       high        2                1.0
    1     age        low        0                0.0
    2    debt       high        1                0.5
    3    debt        low        0                0.0
    """

    rules: RuleSet
    fires: BitMatrix | None = None
    target: NDArray[np.int64] | None = None
    decisions: NDArray[np.int32] | None = None

    # --- Without rows ---

    @cached_property
    def feature_use(self) -> NDArray[np.int64]:
        """Number of rules that test each feature, by class: shape (n_features, n_classes)."""
        stored = self.rules.columns
        class_of_term = np.repeat(stored.class_index, stored.lengths)
        counts = np.zeros((len(self.rules.features), len(self.rules.labels)), dtype=np.int64)
        np.add.at(counts, (stored.feature, class_of_term), 1)
        return counts

    @cached_property
    def rule_lengths(self) -> NDArray[np.int64]:
        """Number of rules of each length, by class: shape (longest + 1, n_classes)."""
        stored = self.rules.columns
        longest = int(stored.lengths.max(initial=0))
        counts = np.zeros((longest + 1, len(self.rules.labels)), dtype=np.int64)
        np.add.at(counts, (stored.lengths, stored.class_index), 1)
        return counts

    def feature_use_frame(self, backend: Backend = "pandas") -> Any:
        """Return how many rules, and which fraction, test each feature, by class (the paper's XOR figure)."""
        n_rules = max(len(self.rules), 1)
        names, labels = self.rules.features.names, self.rules.labels
        return frame_of(
            {
                "feature": [name for name in names for _ in labels],
                "conclusion": [label for _ in names for label in labels],
                "n_rules": self.feature_use.ravel(),
                "fraction_of_rules": self.feature_use.ravel() / n_rules,
            },
            backend,
        )

    def rule_length_frame(self, backend: Backend = "pandas") -> Any:
        """Return the number of rules by length and class."""
        labels = self.rules.labels
        lengths = range(len(self.rule_lengths))
        return frame_of(
            {
                "length": [length for length in lengths for _ in labels],
                "conclusion": [label for _ in lengths for label in labels],
                "n_rules": self.rule_lengths.ravel(),
            },
            backend,
        )

    # --- On given rows ---

    @property
    def n_rows(self) -> int:
        """Number of rows; 0 if none were given."""
        return 0 if self.fires is None else self.fires.n_rows

    @cached_property
    def n_rows_covered(self) -> NDArray[np.int64]:
        """Number of rows on which each rule fires."""
        return self._fires.rows_per_rule()

    @cached_property
    def n_rows_alone(self) -> NDArray[np.int64]:
        """Number of rows on which each rule fires and no other does."""
        alone = _packed(self._fires.rules_per_row() == 1)
        return BitMatrix(self._fires.words & alone, self.n_rows).rows_per_rule()

    @cached_property
    def overlap(self) -> NDArray[np.int64]:
        """Number of rows on which two rules both fire: shape (n_rules, n_rules)."""
        n_rules = len(self._fires)
        counts = np.zeros((n_rules, n_rules), dtype=np.int64)
        n_words = min(_ROWS_PER_PRODUCT, _NUMBERS_PER_PRODUCT // max(n_rules, 1)) // 64 + 1
        for start in range(0, self._fires.words.shape[1], n_words):
            words = self._fires.words[:, start : start + n_words]
            dense = BitMatrix(np.ascontiguousarray(words), words.shape[1] * 64).dense().astype(np.float32)
            counts += (dense @ dense.T).astype(np.int64)
        return counts

    @cached_property
    def n_rows_agreeing(self) -> NDArray[np.int64]:
        """Number of rows on which each rule fires and the network predicts the rule's class."""
        if self.target is None:
            raise ValueError("Agreement needs a network's labels; pass target to explain_global.")
        classes = range(len(self.rules.labels))
        of_class = np.concatenate([_packed(self.target == c)[None] for c in classes])
        words = self._fires.words & of_class[self.rules.columns.class_index]
        return BitMatrix(words, self.n_rows).rows_per_rule()

    @property
    def agreement(self) -> NDArray[np.float64]:
        """Fraction of each rule's rows on which the network predicts the rule's class; NaN without rows."""
        nowhere = np.full(len(self.rules), np.nan)
        covered = self.n_rows_covered
        return np.asarray(np.divide(self.n_rows_agreeing, covered, out=nowhere, where=covered > 0))

    @property
    def fidelity(self) -> float:
        """Fraction of rows on which the rules together decide as the network does."""
        if self.target is None or self.decisions is None:
            raise ValueError("Fidelity needs a network's labels; pass X and target to explain_global.")
        return float(np.mean(self.decisions == self.target))

    def coverage_frame(self, backend: Backend = "pandas") -> Any:
        """Return how many rows, and which fraction, each rule covers, and how many it covers alone."""
        covered = self.n_rows_covered
        return frame_of(
            self._per_rule()
            | {
                "n_rows": covered,
                "fraction_of_rows": covered / max(self.n_rows, 1),
                "n_rows_alone": self.n_rows_alone,
            },
            backend,
        )

    def overlap_frame(self, backend: Backend = "pandas") -> Any:
        """Return, per pair of rules, the rows on which both fire, also as a fraction of those of either."""
        one, other = np.nonzero(np.triu(self.overlap, k=1))
        both = self.overlap[one, other]
        covered = self.n_rows_covered
        return frame_of(
            {
                "rule": one,
                "other": other,
                "n_rows": both,
                "fraction_of_either": both / (covered[one] + covered[other] - both),
                "same_conclusion": self.rules.columns.class_index[one]
                == self.rules.columns.class_index[other],
            },
            backend,
        )

    def agreement_frame(self, backend: Backend = "pandas") -> Any:
        """Return how many rows each rule covers, and on how many the network predicts the rule's class."""
        return frame_of(
            self._per_rule()
            | {
                "n_rows": self.n_rows_covered,
                "n_agreeing": self.n_rows_agreeing,
                "agreement": self.agreement,
            },
            backend,
        )

    def __str__(self) -> str:
        lines = [f"  {name}: {value}" for name, value in self._summary()]
        return "\n".join([self.rules.headline, *lines])

    def _summary(self) -> Iterator[tuple[str, str]]:
        """Yield names and values of what is printed."""
        rules = self.rules
        n_using = self.feature_use.sum(axis=1)
        used = np.argsort(-n_using, kind="stable")[: max(1, min(5, int((n_using > 0).sum())))]
        yield (
            "features tested most (rules)",
            ", ".join(f"{rules.features.names[f]} ({n_using[f]:,})" for f in used),
        )
        lengths = rules.columns.lengths
        mean = lengths.mean() if len(lengths) else 0
        yield "terms per rule", f"{mean:.1f} on average, {lengths.max(initial=0)} at most"
        if self.fires is not None and self.n_rows:
            n_fired = self.fires.rules_per_row()
            covered = f"{100 * np.mean(n_fired > 0):.1f} % covered by a rule"
            yield f"on {self.n_rows:,} rows", f"{covered}, {n_fired.mean():.1f} rules fire on average"
        if self.target is not None and self.n_rows:
            yield "decided as the network decides", f"{100 * self.fidelity:.1f} %"

    def _repr_html_(self) -> str:
        return html.block(self.rules.headline, html.table(("", ""), self._summary()), self._feature_table())

    def _feature_table(self) -> str:
        """Return the number of rules that test each feature, by class, for the features tested most."""
        n_using, labels = self.feature_use.sum(axis=1), self.rules.labels
        if not n_using.any():
            return ""
        order = np.argsort(-n_using, kind="stable")[: int((n_using > 0).sum())]
        n_classes = len(labels) if len(labels) <= _SHOWN_CLASSES else 0
        rows = [
            (
                self.rules.features.names[f],
                html.Bar(f"{n_using[f]:,}", n_using[f] / n_using.max()),
                *(f"{count:,}" for count in self.feature_use[f, :n_classes].tolist()),
            )
            for f in order[:_SHOWN_FEATURES].tolist()
        ]
        head = ("feature", "rules", *map(format_category, labels[:n_classes]))
        n_more = len(order) - len(rows)
        more = html.note(f"… and {n_more:,} more features") if n_more else ""
        return html.table(head, rows, numbers=range(1, len(head))) + more

    def __repr__(self) -> str:
        return f"<GlobalExplanation of {len(self.rules):,} rules on {self.n_rows:,} rows>"

    @property
    def _fires(self) -> BitMatrix:
        if self.fires is None:
            raise ValueError("Coverage and overlap need rows; pass X to explain_global.")
        return self.fires

    def _per_rule(self) -> dict[str, Any]:
        stored, features = self.rules.columns, self.rules.features
        return {
            "rule": np.arange(len(self.rules)),
            "premise": [display.describe_premise(stored, rule, features) for rule in range(len(self.rules))],
            "conclusion": self.rules.classes[stored.class_index].tolist(),
        }


def explain_global(rules: RuleSet, X: Any, target: Any, n_jobs: int | None) -> GlobalExplanation:
    """Summarise the rule set as a whole; see `RuleSet.explain_global`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.analysis import explain_global
    >>> text = "IF age > 50 THEN high IF debt > 8 AND age > 30 THEN high"
    >>> rules = RuleSet.from_text(text, ["age", "debt"], default="low")
    >>> explained = explain_global(rules, [[60, 9], [60, 0], [40, 9]], ["high", "high", "low"], n_jobs=None)
    >>> explained.agreement_frame()
       rule                premise conclusion  n_rows  n_agreeing  agreement
    0     0               age > 50       high       2           2        1.0
    1     1  age > 30 AND debt > 8       high       2           1        0.5
    """
    if X is None:
        if target is not None:
            raise ValueError("target is given without rows; pass its rows as X.")
        return GlobalExplanation(rules)
    matrix: Matrix = rules.features.encode(X)
    codes = None
    if target is not None:
        answers = ask_network(target, X, rules.features, rules.labels, len(matrix), name="target")
        codes = answers.labels.codes
    decisions = rules.evaluator.decide(matrix, rules.voting, rules.default_index, n_jobs)
    return GlobalExplanation(rules, rules.evaluator.fires(matrix, n_jobs), codes, decisions)


def _packed(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack flags as one bit per row, in the words of a BitMatrix."""
    padded = np.zeros(-(-len(flags) // 64) * 64, dtype=bool)
    padded[: len(flags)] = flags
    return np.packbits(padded, bitorder="little").view("<u8").astype(np.uint64, copy=False)
