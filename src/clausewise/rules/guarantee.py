"""What was counted on fresh rows, and what follows for all rows of that kind.

Everything here is a function of counts: how many rows, and on how many of them rules and network agree. The
intervals are those of Clopper and Pearson, which are exact for counts of independent rows. They hold all at
once: the chance that one of them misses is divided among them beforehand (Bonferroni), in equal parts among
fidelity, the classes and the rules, and in each of these in equal parts among its members. So the interval of
the fidelity stays narrow, however many rules there are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from clausewise.base import html
from clausewise.base.counts import count_of
from clausewise.base.frames import Backend, frame_of
from clausewise.base.parameters import check_parameters, number
from clausewise.data.labels import Label
from clausewise.rules.decimals import format_number
from clausewise.rules.term import format_category

METHOD: Final = "Clopper–Pearson intervals, simultaneous by Bonferroni"
"""How the intervals are computed, in words."""

_SHOWN_CLASSES: Final = 26
_SHOWN_RULES: Final = 40


@dataclass(frozen=True)
class Count:
    """How many fresh rows there were, and on how many of them rules and network agree."""

    n_rows: int
    n_agreeing: int

    @property
    def fraction(self) -> float:
        """The fraction of the rows on which they agree; NaN without rows."""
        return self.n_agreeing / self.n_rows if self.n_rows else float("nan")


@dataclass(frozen=True)
class Promise:
    """A fraction that was counted on fresh rows, and the interval that holds it for all rows of that kind.

    Attributes
    ----------
    subject : str
        What the fraction is of, in words.
    n_rows, n_agreeing : int
        Number of fresh rows, and of those on which rules and network agree.
    low, high : float
        The bounds of the interval; 0 and 1 without rows.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low").remember_rows([[40], [70]])
    >>> fresh = np.random.default_rng(0).uniform(20, 80, (1000, 1))
    >>> promise = rules.guarantee(fresh, np.where(fresh[:, 0] > 51, "high", "low")).rules[0]
    >>> promise.subject, promise.n_rows, promise.n_agreeing
    ('precision of rule 0', 527, 513)
    >>> promise.describe()
    ('97.34 %', '95.1–98.8 %', '527 rows')
    """

    subject: str
    n_rows: int
    n_agreeing: int
    low: float
    high: float

    @property
    def fraction(self) -> float:
        """The fraction of these rows on which rules and network agree; NaN without rows."""
        return Count(self.n_rows, self.n_agreeing).fraction

    def describe(self) -> tuple[str, str, str]:
        """Return the fraction, the interval and the number of rows as text."""
        if self.n_rows == 0:
            return "", "", "no rows"
        rows = count_of(self.n_rows, "row")
        return f"{self.fraction:.2%}".replace("%", " %"), describe_interval(self.low, self.high), rows


@dataclass(frozen=True)
class Guarantee:
    """What a rule set promises about rows that nothing was learnt from; `print` it.

    With probability `confidence`, all intervals hold at once: that of the fidelity, those of the fidelity on
    each class of the network, and those of the precision of each rule. The probability is over the choice of
    the fresh rows, which must be independent draws of the rows that the promise is about. The precision of a
    rule is the fraction of the rows on which it fires that the network gives its class (or another class, if
    the rule speaks against it). For rules that predict numbers, rules and network agree where they differ by
    no more than `tolerance`, and for each rule this is counted where it fires.

    Attributes
    ----------
    confidence : float
        The probability with which all intervals hold.
    fidelity : Promise
        The fraction of rows that rules and network decide alike.
    baseline : float
        What always predicting the network's most frequent class (for numbers: its median) reaches on the
        same rows.
    classes : tuple of Promise
        Fidelity on the rows to which the network gives each class; empty for numbers.
    rules : tuple of Promise
        The precision of each rule; for numbers, the fidelity where it fires.
    tolerance : float or None
        The largest difference of numbers that counts as agreement; None for classes.
    n_abstained : int
        Number of fresh rows on which the rules abstain; they count nowhere else.
    notes : tuple of str
        How rows were chosen, and what could not be checked.
    digest : str
        Stands for the rules that were counted; edited rules have another (`RuleSet.digest`).
    method : str
        How the intervals are computed.
    whole, n_baseline, of_classes, of_rules
        The counts from which all of this follows, and which rule files keep.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low").remember_rows([[40], [70]])
    >>> fresh = np.random.default_rng(0).uniform(20, 80, (1000, 1))
    >>> network = np.where(fresh[:, 0] > 51, "high", "low")  # or the model itself
    >>> found = rules.guarantee(fresh, network)
    >>> print(found.summary)
    on 1,000 fresh rows: 97.4–99.4 % agreement with the network (95 % confidence)
    >>> for promise in found.promises:
    ...     print(promise.subject, *promise.describe(), sep=", ")
    fidelity to the network, 98.60 %, 97.4–99.4 %, 1,000 rows
    fidelity on high, 100.00 %, 98.9–100.0 %, 513 rows
    fidelity on low, 97.13 %, 94.4–98.8 %, 487 rows
    precision of rule 0, 97.34 %, 95.1–98.8 %, 527 rows
    >>> found.rules_with_precision(0.9)
    (0,)
    """

    confidence: float
    whole: Count
    n_baseline: int
    of_classes: tuple[tuple[Label, Count], ...]
    of_rules: tuple[Count, ...]
    digest: str
    tolerance: float | None = None
    n_abstained: int = 0
    notes: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        """How the intervals are computed."""
        return METHOD

    @property
    def n_rows(self) -> int:
        """Number of fresh rows that the rules decided."""
        return self.whole.n_rows

    @property
    def baseline(self) -> float:
        """The fraction of these rows on which a constant prediction agrees with the network."""
        return Count(self.n_rows, self.n_baseline).fraction

    @cached_property
    def fidelity(self) -> Promise:
        """The fraction of rows that rules and network decide alike."""
        return self._promises(["fidelity to the network"], [self.whole])[0]

    @cached_property
    def classes(self) -> tuple[Promise, ...]:
        """Fidelity on the rows to which the network gives each class."""
        subjects = [f"fidelity on {format_category(label)}" for label, _ in self.of_classes]
        return self._promises(subjects, [count for _, count in self.of_classes])

    @cached_property
    def rules(self) -> tuple[Promise, ...]:
        """The precision of each rule."""
        # Rules for numbers add up, so that no single one is right or wrong.
        what = "precision of rule {}" if self.tolerance is None else "fidelity where rule {} fires"
        subjects = [what.format(number) for number in range(len(self.of_rules))]
        return self._promises(subjects, list(self.of_rules))

    def _promises(self, subjects: list[str], counts: list[Count]) -> tuple[Promise, ...]:
        """Return the intervals of one family, which gets an equal part of the chance to miss."""
        n_families = 1 + bool(self.of_classes) + bool(self.of_rules)
        miss = (1 - self.confidence) / n_families / max(len(counts), 1)
        n_rows = np.array([count.n_rows for count in counts], dtype=np.int64)
        n_agreeing = np.array([count.n_agreeing for count in counts], dtype=np.int64)
        bounds = zip(*map(np.ndarray.tolist, clopper_pearson(n_agreeing, n_rows, miss)), strict=True)
        return tuple(
            Promise(subject, count.n_rows, count.n_agreeing, low, high)
            for subject, count, (low, high) in zip(subjects, counts, bounds, strict=True)
        )

    def rules_with_precision(self, target: float) -> tuple[int, ...]:
        """Return the rules whose precision is at least `target`, by number.

        Exact binomial tests with Holm's correction: with probability `confidence`, no rule is named whose
        precision is lower. This holds for one target that was chosen before the rows were seen, and apart
        from the intervals; it may name rules whose interval begins below the target.
        """
        check_parameters({"target": number(above=0, below=1)}, {"target": target})
        return tuple(sorted(rejected_by_holm(tails(self.of_rules, target), 1 - self.confidence)))

    @property
    def promises(self) -> tuple[Promise, ...]:
        """All promises: fidelity, then classes, then rules."""
        return (self.fidelity, *self.classes, *self.rules)

    @property
    def summary(self) -> str:
        """One line: rows, interval of the fidelity and confidence."""
        interval = describe_interval(self.fidelity.low, self.fidelity.high)
        near = self.tolerance
        agreement = "agreement with" if near is None else f"within {format_number(near)} of"
        abstained = ""
        if self.n_abstained:
            share = self.n_rows / (self.n_rows + self.n_abstained)
            abstained = f" where the rules decide ({describe_fraction(share)} of rows)"
        return (
            f"on {count_of(self.n_rows, 'fresh row')}: {interval} {agreement} the network{abstained} "
            f"({describe_confidence(self.confidence)} confidence)"
        )

    @property
    def explanation(self) -> str:
        """Two sentences on what is promised."""
        return (
            f"With {describe_confidence(self.confidence)} confidence, all intervals hold at once for rows "
            f"drawn like these, which nothing was learnt from. {METHOD}."
        )

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return one line per promise, as a DataFrame of pandas or another backend ("polars", "pyarrow")."""
        promises = self.promises
        columns = ("subject", "n_rows", "n_agreeing", "fraction", "low", "high")
        return frame_of({name: [getattr(one, name) for one in promises] for name in columns}, backend)

    def to_html(self) -> str:
        """Return a table in HTML, as notebooks show it; text from data is escaped."""
        rows: list[tuple[html.Cell, ...]] = [
            (subject, html.Bar(fraction, float(fraction[:-2]) / 100) if fraction else "", interval, n_rows)
            for subject, fraction, interval, n_rows in self._lines()
        ]
        head = ("", "counted", f"{describe_confidence(self.confidence)} interval", "fresh rows")
        notes = map(html.note, (self.explanation, *self.notes))
        return html.block(f"Guarantee {self.summary}", html.table(head, rows, numbers=[1, 2, 3]), *notes)

    _repr_html_ = to_html

    def __str__(self) -> str:
        lines = list(self._lines())
        width = min(max(len(subject) for subject, *_ in lines), 40)
        shown = [
            f"  {subject:<{width}} {fraction:>9}  {interval:<17} {n_rows}".rstrip()
            for subject, fraction, interval, n_rows in lines
        ]
        notes = [f"Note: {note}" for note in self.notes]
        return "\n".join([f"Guarantee {self.summary}", *shown, self.explanation, *notes])

    def __repr__(self) -> str:
        return f"<Guarantee: {self.summary}>"

    def _lines(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield subject, fraction, interval and number of rows of what is shown."""
        yield (self.fidelity.subject, *self.fidelity.describe())
        constant = "majority baseline" if self.tolerance is None else "baseline of the median"
        yield constant, f"{self.baseline:.2%}".replace("%", " %"), "", ""
        for promises, most in ((self.classes, _SHOWN_CLASSES), (self.rules, _SHOWN_RULES)):
            for promise in promises[:most]:
                yield (promise.subject, *promise.describe())
            if len(promises) > most:
                yield f"… {len(promises) - most:,} more (to_frame)", "", "", ""


def clopper_pearson(
    n_agreeing: NDArray[np.int64], n_rows: NDArray[np.int64], miss: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of exact intervals for fractions, each of which misses with probability `miss`."""
    hits, misses = n_agreeing.astype(np.float64), (n_rows - n_agreeing).astype(np.float64)
    low = np.where(hits > 0, betaincinv(np.maximum(hits, 1), misses + 1, miss / 2), 0.0)
    high = np.where(misses > 0, betaincinv(hits + 1, np.maximum(misses, 1), 1 - miss / 2), 1.0)
    return low, high


def tails(counts: Sequence[Count], target: float) -> NDArray[np.float64]:
    """Return the chance of as many rows in agreement, or more, if the fraction is `target`: a p-value."""
    n_rows = np.array([count.n_rows for count in counts], dtype=np.float64)
    n_agreeing = np.array([count.n_agreeing for count in counts], dtype=np.float64)
    found = betainc(np.maximum(n_agreeing, 1), n_rows - n_agreeing + 1, target)
    return np.where(n_agreeing > 0, found, 1.0)


def rejected_by_holm(p_values: NDArray[np.float64], miss: float) -> list[int]:
    """Return the tests that Holm's step-down procedure rejects at this familywise level."""
    order = np.argsort(p_values, kind="stable")
    allowed = miss / np.arange(len(order), 0, -1)
    fails = p_values[order] > allowed
    n_rejected = int(np.argmax(fails)) if fails.any() else len(order)
    found: list[int] = order[:n_rejected].tolist()
    return found


def describe_interval(low: float, high: float) -> str:
    """Return an interval in per cent, rounded outwards: `96.7–97.3 %`."""
    lower, upper = np.floor(1000 * low) / 10, np.ceil(1000 * high) / 10
    return f"{lower:.1f}–{upper:.1f} %"


def describe_fraction(fraction: float) -> str:
    """Return a fraction in per cent: `97.1 %`."""
    return f"{100 * fraction:.1f} %"


def describe_confidence(confidence: float) -> str:
    """Return a confidence in per cent: `95 %`."""
    return f"{format_number(round(100 * confidence, 6))} %"
