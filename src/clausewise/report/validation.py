"""The validation of rules on fresh rows: what a model-risk team files, collected in one object.

`validation_page` writes it as a page. Everything in it is counted on the same rows: those of X that nothing
was learnt from, one of each group.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from platform import python_version
from typing import Any, Final

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.analysis import Evaluation, FeatureDifferences, RegressionEvaluation, differences_by_feature
from clausewise.analysis.abstaining import NoMarginError
from clausewise.analysis.guarantee import Overlap, fresh_rows
from clausewise.base.parameters import (
    NOTHING,
    TEXT,
    Constraint,
    check_parameters,
    instance_of,
    number,
)
from clausewise.data.features import Features
from clausewise.data.rows import as_rows, raw_rows, take_rows
from clausewise.data.table import Matrix
from clausewise.io.atomic import write_atomically
from clausewise.networks.answers import are_labels, ask_network, ask_numbers, number_model
from clausewise.networks.detect import wrap
from clausewise.report.differences import Slice, find_slices
from clausewise.report.validation_page import validation_page
from clausewise.report.view import ReportView
from clausewise.rules import Guarantee, RegressionRules, RuleSet, SelectivePromise
from clausewise.rules.abstention import ABSTAINS

LIBRARIES: Final = (
    "numpy",
    "scipy",
    "scikit-learn",
    "narwhals",
    "pandas",
    "torch",
    "keras",
    "onnxruntime",
    "xgboost",
    "lightgbm",
    "catboost",
)
"""Libraries whose versions are listed, if they are installed."""
_MOST_FEATURES: Final = 5

_PARAMETERS: Final[Mapping[str, Constraint]] = {
    "title": TEXT | NOTHING,
    "model_name": TEXT | NOTHING,
    "agreement": number(above=0, below=1) | NOTHING,
    "sources": instance_of(Mapping, "a mapping from names to texts") | NOTHING,
    "results": instance_of(Mapping, "a mapping from headings to results") | NOTHING,
}


@dataclass(frozen=True)
class RowFacts:
    """Which rows a validation is about.

    Attributes
    ----------
    n_given, n_used : int
        Number of rows that were given, and of those that were counted.
    digest : str
        The SHA-256 of the given rows: the names of the columns that the rules know, and their encoded values.
    period : tuple of str, optional
        The first and the last date, if there are dates.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low").remember_rows([[40], [70]])
    >>> fresh = np.random.default_rng(0).uniform(20, 80, (1000, 1))
    >>> rows = rules.validate(fresh, np.where(fresh[:, 0] > 51, "high", "low")).rows
    >>> rows.n_given, rows.n_used, rows.period
    (1000, 1000, None)
    >>> len(rows.digest)
    64
    """

    n_given: int
    n_used: int
    digest: str
    period: tuple[str, str] | None = None


@dataclass(frozen=True, eq=False)
class Validation:
    """The validation of rules on fresh rows; `save` writes it as a page that needs no script.

    Attributes
    ----------
    title : str
        Heading of the page.
    rules : RuleSet or RegressionRules
        The rules.
    model : str
        What the model is.
    rows : RowFacts
        Which rows it is about.
    guarantee : Guarantee
        What is promised of the rules.
    evaluation : Evaluation or RegressionEvaluation
        Measures on the same rows.
    promise : SelectivePromise, optional
        What rules that abstain promise.
    refusal : str, optional
        Why they cannot promise the agreement that was asked for.
    slices : tuple of Slice
        Where rules and model differ most, in words.
    features : tuple of FeatureDifferences
        How often they differ by value of a feature, the most uneven first.
    results : dict
        Further results by heading, such as those of a challenge.
    sources : dict
        Where things come from, such as names of files and their hashes.
    versions : dict
        Versions of clausewise, Python and libraries.

    Examples
    --------
    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low").remember_rows([[40], [70]])
    >>> fresh = np.random.default_rng(0).uniform(20, 80, (1000, 1))
    >>> network = np.where(fresh[:, 0] > 51, "high", "low")  # or the model itself
    >>> validation = rules.validate(fresh, network, model_name="credit-2026")
    >>> print(validation)
    Validation of rules
      1 rule for the classes high, low; voting confidence, otherwise low
      on 1,000 fresh rows: 97.4–99.4 % agreement with the network (95 % confidence)
    >>> validation.rows.n_used, validation.n_differ
    (1000, 14)
    >>> html = validation.to_html()  # the page that `save` writes
    """

    title: str
    rules: RuleSet | RegressionRules
    model: str
    rows: RowFacts
    guarantee: Guarantee
    evaluation: Evaluation | RegressionEvaluation
    promise: SelectivePromise | None
    refusal: str | None
    slices: tuple[Slice, ...]
    features: tuple[FeatureDifferences, ...]
    n_differ: int
    results: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_html(self) -> str:
        """Return the page: self-contained, without scripts, and ready to print."""
        return validation_page(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file; an interrupted save leaves the old file as it was."""
        write_atomically(path, self.to_html().encode("utf-8", "replace"))

    def __str__(self) -> str:
        lines = [self.title, f"  {self.rules.headline}", f"  {self.guarantee.summary}"]
        lines += [f"  {self.promise.summary}"] if self.promise is not None else []
        lines += [f"  {self.refusal}"] if self.refusal is not None else []
        return "\n".join([*lines, *(f"  note: {note}" for note in self.guarantee.notes)])

    def __repr__(self) -> str:
        return f"<Validation: {self.guarantee.summary}>"

    def _repr_html_(self) -> str:
        return ReportView(self.to_html())._repr_html_()


def validate(
    rules: RuleSet | RegressionRules,
    X: Any,
    network: Any,
    *,
    tolerance: float | None = None,
    confidence: float,
    agreement: float | None = None,
    overlap: Overlap,
    groups: ArrayLike | None,
    dates: ArrayLike | str | None,
    title: str | None,
    model_name: str | None,
    sources: Mapping[str, str] | None,
    results: Mapping[str, Any] | None,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
) -> Validation:
    """Collect what is known of rules on fresh rows; see `RuleSet.validate` and `RegressionRules.validate`.

    Examples
    --------
    `RuleSet.validate` calls it, with defaults:

    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low").remember_rows([[40], [70]])
    >>> fresh = np.random.default_rng(0).uniform(20, 80, (1000, 1))
    >>> validation = rules.validate(fresh, np.where(fresh[:, 0] > 51, "high", "low"))
    >>> print(validation.guarantee.summary)
    on 1,000 fresh rows: 97.4–99.4 % agreement with the network (95 % confidence)
    """
    check_parameters(
        _PARAMETERS,
        {"title": title, "model_name": model_name, "agreement": agreement}
        | {"sources": sources, "results": results},
    )
    period = _period(X, dates)
    given = raw_rows(X) if rules.features.reads_raw(X) else as_rows(rules.features.table(X))
    matrix = rules.features.encode(given)
    # A generator would draw other rows each time.
    seed = random_state.randint(2**31) if isinstance(random_state, np.random.RandomState) else random_state
    options: dict[str, Any] = {"overlap": overlap, "groups": groups, "random_state": seed}
    fresh = fresh_rows(rules, matrix, overlap, groups, seed).rows
    network = _wrapped(rules, network)
    answers = _answers(rules, X, network, len(matrix))
    promise: SelectivePromise | None = None
    refusal: str | None = None
    if isinstance(rules, RuleSet):
        promised = rules.guarantee(given, answers, confidence, **options, n_jobs=n_jobs)
        promise = rules.promised
        if agreement is not None:
            promise, refusal = _promise(rules, given, answers, agreement, confidence, options, n_jobs)
    else:
        promised = rules.guarantee(given, answers, tolerance, confidence, **options, n_jobs=n_jobs)  # type: ignore[arg-type]
    used, asked = take_rows(given, fresh), answers[fresh]
    differs = _differs(rules, matrix[fresh], asked, tolerance, n_jobs)
    return Validation(
        title="Validation of rules" if title is None else title,
        rules=rules.with_guarantee(None),
        model=_described(network, model_name),
        rows=RowFacts(len(matrix), len(fresh), _digest(rules.features, matrix), period),
        guarantee=promised,
        evaluation=_evaluated(rules, used, asked, tolerance, n_jobs),
        promise=promise,
        refusal=refusal,
        slices=tuple(find_slices(matrix[fresh], differs, rules.features)),
        features=tuple(differences_by_feature(matrix[fresh], differs, rules.features, _MOST_FEATURES)),
        n_differ=int(differs.sum()),
        results=dict(results or {}),
        sources=dict(sources or {}),
        versions=_versions(),
    )


def _promise(
    rules: RuleSet,
    X: Any,
    answers: NDArray[Any],
    agreement: float,
    confidence: float,
    options: dict[str, Any],
    n_jobs: int | None,
) -> tuple[SelectivePromise | None, str | None]:
    """Return what the rules would promise if they abstained, or why they cannot promise that much."""
    try:
        return rules.abstaining(X, answers, agreement, confidence, **options, n_jobs=n_jobs).promised, None
    except NoMarginError as error:  # which is a finding, and belongs on the page
        return None, str(error)


def _wrapped(rules: RuleSet | RegressionRules, network: Any) -> Any:
    """Return the model as a Network, which describes itself; answers to the rows as they are."""
    if are_labels(network):
        return network
    return number_model(network) if isinstance(rules, RegressionRules) else wrap(network)


def _answers(rules: RuleSet | RegressionRules, X: Any, network: Any, n_rows: int) -> NDArray[Any]:
    """Return what the network says of every row, asked once."""
    if isinstance(rules, RegressionRules):
        return ask_numbers(network, X, rules.features, n_rows)
    return ask_network(network, X, rules.features, rules.labels, n_rows).labels.values


def _differs(
    rules: RuleSet | RegressionRules,
    matrix: Matrix,
    asked: NDArray[Any],
    tolerance: float | None,
    n_jobs: int | None,
) -> NDArray[np.bool_]:
    """Return on which rows rules and network differ; rows on which the rules abstain do not count."""
    if isinstance(rules, RegressionRules):
        assert tolerance is not None
        numbers = rules.response_of(rules.sums_of(matrix, n_jobs))
        return np.asarray(np.abs(numbers - asked) > tolerance)
    decided = rules.evaluator.decide(matrix, rules.voting, rules.default_index, n_jobs)
    return np.asarray((rules.outcomes[decided] != asked) & (decided != ABSTAINS))


def _evaluated(
    rules: RuleSet | RegressionRules,
    X: Any,
    asked: NDArray[Any],
    tolerance: float | None,
    n_jobs: int | None,
) -> Evaluation | RegressionEvaluation:
    if isinstance(rules, RegressionRules):
        return rules.evaluate(X, network=asked, tolerance=tolerance, n_jobs=n_jobs)
    return rules.evaluate(X, network=asked, n_jobs=n_jobs)


def _described(network: Any, name: str | None) -> str:
    """Return what the model is, by its own account and by the name that it was given."""
    if are_labels(network):
        return "Known by its answers to the rows alone." if name is None else name
    return str(network) if name is None else f"{name}\n{network}"


def _digest(features: Features, matrix: Matrix) -> str:
    found = hashlib.sha256("\0".join(features.names).encode("utf-8", "surrogatepass"))
    found.update(np.ascontiguousarray(matrix, dtype="<f8").tobytes())
    return found.hexdigest()


def _period(X: Any, dates: ArrayLike | str | None) -> tuple[str, str] | None:
    """Return the first and the last date: of an array, of a named column, or of the only column of dates."""
    if dates is not None and not isinstance(dates, str):
        given = np.asarray(dates)
        # NumPy lists nanoseconds as whole numbers.
        return _ends((given.astype("M8[us]") if given.dtype.kind == "M" else given).tolist())
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        if dates is not None:
            raise ValueError(f"dates names the column {dates!r}, but X has no named columns; pass the dates.")
        return None
    if dates is not None and dates not in frame.columns:
        raise ValueError(f"There is no column {dates!r} in X, which dates names.")
    temporal = [name for name, dtype in frame.schema.items() if dtype in (nw.Date, nw.Datetime)]
    chosen = dates if dates is not None else temporal[0] if len(temporal) == 1 else None
    return None if chosen is None else _ends(frame.get_column(chosen).to_list())


def _ends(values: list[Any]) -> tuple[str, str] | None:
    """Return the first and the last of dates, of numbers such as years, or of text such as 2026-03-31."""
    known = [value for value in values if value not in (None, "") and value == value]
    if not known:
        return None
    try:
        order = [datetime.fromisoformat(value) if isinstance(value, str) else value for value in known]
        places = range(len(known))
        first, last = (choose(places, key=order.__getitem__) for choose in (min, max))
    except (TypeError, ValueError):
        raise ValueError(
            f"dates has values such as {known[0]!r}, which have no order in time; pass dates, or text of the "
            "form 2026-03-31."
        ) from None
    return str(known[first]), str(known[last])


def _versions() -> dict[str, str]:
    found = {"clausewise": version("clausewise"), "Python": python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
