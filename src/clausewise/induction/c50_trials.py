"""The classifiers of a boosted C5.0 model, and their vote."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.induction.tree import C50Tree
from clausewise.rules import RuleSet

# Rules × rows that are looked at in one step; it bounds memory.
_CELLS_PER_STEP = 1 << 23
CONFIDENCE_WITHOUT_RULE = 0.5
_STOP_TEXTS = {
    "accurate": "Boosting stopped: the last classifier has hardly any errors.",
    "inaccurate": "Boosting stopped: the next classifier had too many errors.",
    "too few": "Boosting was abandoned: with early stopping, fewer than three classifiers become one.",
}


@dataclass(frozen=True, eq=False)
class C50Trial:
    """One classifier of a `C50Classifier`: a rule set or a tree.

    Attributes
    ----------
    rules : RuleSet or None
        The rules, if rules were asked for.
    tree : C50Tree or None
        The tree otherwise.
    size : int
        Number of rules, or of leaves with training rows.
    n_errors : int
        Training rows that this classifier alone gets wrong.
    weight : float
        Its weight in the vote, averaged over the training rows. C5.0 has no fixed weight per classifier: each
        votes for one class, with its confidence in this class for the row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from clausewise import C50Classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> boosted = C50Classifier(trials=3).fit(X, y)
    >>> for trial in boosted.trials_:
    ...     print(trial.size, trial.n_errors, round(trial.weight, 2))
    4 4 0.97
    5 8 0.95
    3 6 0.84
    """

    rules: RuleSet | None
    tree: C50Tree | None
    size: int
    n_errors: int
    weight: float

    def __repr__(self) -> str:
        kind = "rules" if self.tree is None else "leaves"
        return f"<C50Trial: {self.size} {kind}, {self.n_errors} training errors, weight {self.weight:.3f}>"


@dataclass(frozen=True, eq=False)
class Summary:
    """What `C50Classifier.summary` shows beyond the trials."""

    n_rows: int
    n_errors: int  # of all trials together
    usage: NDArray[np.float64]  # fraction of the training rows per column

    def text(self, trials: Sequence[C50Trial], stop_reason: str | None, names: Sequence[str]) -> str:
        """Return the summary as lines of text."""
        what = "Rules" if trials[0].tree is None else "Leaves"
        lines = [
            f"Evaluation on the training data ({self.n_rows:,} rows):",
            "",
            f"Trial  {what:>6}  Errors",
            *(
                f"{number:5}  {trial.size:6}  {self._errors(trial.n_errors)}"
                for number, trial in enumerate(trials)
            ),
        ]
        if len(trials) > 1:
            lines.append(f"boost          {self._errors(self.n_errors)}")
        if stop_reason is not None:
            lines += ["", _STOP_TEXTS[stop_reason]]
        used = [column for column in np.argsort(-self.usage, kind="stable") if self.usage[column] > 0]
        if used:
            lines += ["", "Column usage:", ""]
            lines += [f"{100 * min(self.usage[column], 1):7.2f}%  {names[column]}" for column in used]
        return "\n".join(lines)

    def _errors(self, n_errors: int) -> str:
        return f"{n_errors} ({100 * n_errors / self.n_rows:.1f}%)"


@dataclass(frozen=True, eq=False)
class Answer:
    """What a classifier says of some rows; class codes are positions in the declared order."""

    codes: NDArray[np.intp]
    confidences: NDArray[np.float64]  # in the class of each row
    probabilities: NDArray[np.float64]  # rows × classes


def answer_of(
    trial: C50Trial, table: NDArray[Any], costs: NDArray[np.float64] | None, n_jobs: int | None
) -> Answer:
    """Return the answer of one classifier for encoded rows."""
    if trial.tree is not None:
        return _answer_of_tree(trial.tree, table, costs, n_jobs)
    assert trial.rules is not None
    return _answer_of_rules(trial.rules, table, n_jobs)


def codes_of(
    trials: Sequence[C50Trial],
    table: NDArray[Any],
    costs: NDArray[np.float64] | None,
    n_jobs: int | None,
) -> NDArray[np.intp]:
    """Return the class codes by all of these classifiers; one alone needs no confidences."""
    if len(trials) > 1:
        return joint_answer(trials, table, costs, n_jobs).codes
    rules, tree = trials[0].rules, trials[0].tree
    if rules is not None:
        return _codes_of_rules(rules, table, n_jobs)
    assert tree is not None
    scores, _ = tree.class_scores(table, n_jobs)
    return _codes_of_scores(tree, scores, costs)


def answers_in_turn(
    trials: Sequence[C50Trial],
    table: NDArray[Any],
    costs: NDArray[np.float64] | None,
    n_jobs: int | None,
) -> Iterator[Answer]:
    """Yield the answer of the first classifier, of the first two, and so on."""
    vote = _Vote(trials[0])
    for trial in trials:
        vote.add(answer_of(trial, table, costs, n_jobs))
        yield vote.answer()


def joint_answer(
    trials: Sequence[C50Trial],
    table: NDArray[Any],
    costs: NDArray[np.float64] | None,
    n_jobs: int | None,
) -> Answer:
    """Return the answer of all of these classifiers together."""
    vote = _Vote(trials[0])
    for trial in trials:
        vote.add(answer_of(trial, table, costs, n_jobs))
    return vote.answer()


class _Vote:
    """Adds up the confidences of classifiers. A classifier alone keeps its own answer."""

    def __init__(self, first: C50Trial) -> None:
        self._default = _default_code(first)
        self._alone: Answer | None = None
        self._votes: NDArray[np.float32] | None = None
        self._total: NDArray[np.float64] | None = None

    def add(self, answer: Answer) -> None:
        if self._votes is None or self._total is None:
            self._alone = answer
            self._votes = np.zeros(answer.probabilities.shape, dtype=np.float32)
            self._total = np.zeros(len(answer.codes))
        else:
            self._alone = None
        # C5.0 adds votes in single precision, and their total in double precision.
        of_class = np.arange(len(answer.codes)), answer.codes
        before = self._votes[of_class].astype(np.float64)
        self._votes[of_class] = (before + answer.confidences).astype(np.float32)
        self._total += answer.confidences

    def answer(self) -> Answer:
        if self._alone is not None:
            return self._alone
        assert self._votes is not None
        assert self._total is not None
        even = np.full(self._votes.shape, 1 / self._votes.shape[1])
        total = self._total[:, None]
        shares = np.divide(self._votes.astype(np.float64), total, out=even, where=total > 0)
        highest = shares.max(axis=1)
        codes = np.where(shares[:, self._default] >= highest, self._default, shares.argmax(axis=1))
        return Answer(codes, highest, shares / shares.sum(axis=1, keepdims=True))


def _default_code(trial: C50Trial) -> int:
    if trial.tree is not None:
        return _root_code(trial.tree)
    assert trial.rules is not None
    return trial.rules.default_index


def _answer_of_tree(
    tree: C50Tree, table: NDArray[Any], costs: NDArray[np.float64] | None, n_jobs: int | None
) -> Answer:
    """The class fractions at the leaf, smoothed by one case with the fractions of all training rows."""
    scores, leaf_sizes = tree.class_scores(table, n_jobs)
    prior = tree.class_fractions.astype(np.float64)
    raw = (leaf_sizes[:, None] * scores + prior) / (leaf_sizes[:, None] + 1)
    codes = _codes_of_scores(tree, scores, costs)
    of_class = np.arange(len(table)), codes
    return Answer(codes, raw[of_class], raw / raw.sum(axis=1, keepdims=True))


def _codes_of_scores(
    tree: C50Tree, scores: NDArray[np.float64], costs: NDArray[np.float64] | None
) -> NDArray[np.intp]:
    return _most_frequent(scores, _root_code(tree)) if costs is None else _cheapest(scores, costs)


def _codes_of_rules(rules: RuleSet, table: NDArray[Any], n_jobs: int | None) -> NDArray[np.intp]:
    return rules.evaluator.decide(table, rules.voting, rules.default_index, n_jobs).astype(np.intp)


def _root_code(tree: C50Tree) -> int:
    return int(tree.arrays["label"][0])


def _most_frequent(scores: NDArray[np.float64], root: int) -> NDArray[np.intp]:
    """Return the class with the highest score; the root's class on ties."""
    return np.where(scores[:, root] >= scores.max(axis=1), root, scores.argmax(axis=1))


def _cheapest(scores: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the class of least expected cost among those with a score."""
    effective = np.where(costs > 1, costs, 1.0)
    np.fill_diagonal(effective, 0.0)
    expected = np.where(scores != 0, scores @ effective.T, math.inf)
    return np.asarray(expected.argmin(axis=1))


def _answer_of_rules(rules: RuleSet, table: NDArray[Any], n_jobs: int | None) -> Answer:
    n_classes = len(rules.classes)
    codes = _codes_of_rules(rules, table, n_jobs)
    probabilities = np.empty((len(table), n_classes))
    confidences = np.empty(len(table))
    n_rows = max(1, _CELLS_PER_STEP // max(1, len(rules)))
    for start in range(0, len(table), n_rows):
        rows = slice(start, start + n_rows)
        confidences[rows], probabilities[rows] = _rule_confidences(
            rules, rules.evaluator.fires(table[rows], n_jobs).dense(), codes[rows]
        )
    return Answer(codes, confidences, probabilities)


def _rule_confidences(
    rules: RuleSet, fires: NDArray[np.bool_], codes: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the confidence in the class of each row, and class probabilities.

    A class has the mean vote over all rules that fire, and the vote of the most specific of its rules: the
    greater of the two counts for the predicted class, the smaller for the others.
    """
    columns = rules.columns
    votes = np.floor(1000 * columns.confidence + 0.5).astype(np.uint16)
    n_rows, n_classes = fires.shape[1], len(rules.classes)
    sums, specific = np.zeros((n_rows, n_classes)), np.zeros((n_rows, n_classes))
    fired = fires.view(np.uint8)  # products of small whole numbers are much quicker than of booleans
    # From the most general rule to the most specific: the last one that fires counts.
    order = np.lexsort((votes, -columns.cover))
    for c in range(n_classes):
        of_class = order[columns.class_index[order] == c]
        if len(of_class) == 0:
            continue
        fired_here, places = fired[of_class], np.arange(1, len(of_class) + 1, dtype=np.uint32)
        sums[:, c] = (votes[of_class, None] * fired_here).sum(axis=0, dtype=np.int64)
        votes_by_place = np.append(np.uint16(0), votes[of_class])  # at place 0, no rule has fired
        specific[:, c] = votes_by_place[(places[:, None] * fired_here).max(axis=0)]
    n_firing = np.maximum(fired.sum(axis=0, dtype=np.int64), 1)
    mean_vote = sums / (1000 * n_firing[:, None])
    specific /= 1000
    confidence = np.minimum(mean_vote, specific)
    of_winner = np.arange(n_rows), codes
    confidence[of_winner] = np.maximum(mean_vote, specific)[of_winner]
    is_silent = ~fires.any(axis=0)
    of_codes = np.where(is_silent, CONFIDENCE_WITHOUT_RULE, confidence[of_winner])
    confidence[is_silent] = 1.0
    total = confidence.sum(axis=1, keepdims=True)
    even = np.full_like(confidence, 1 / n_classes)
    return of_codes, np.asarray(np.divide(confidence, total, out=even, where=total > 0))
