"""Rules that decide only where they keep a promise: the choice of the margin below which they abstain.

A part of the fresh rows suggests margins; whether each of them keeps the promise is tested on the others. As
the margins do not depend on the rows that test them, the number of agreeing rows among those that are decided
is binomial, and the tests are exact. Holm's correction makes them hold together, so that the smallest margin
that passes, which decides most rows, may be chosen.
"""

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clausewise.analysis.guarantee import (
    CONFIDENCE,
    FRESH_ROWS,
    Overlap,
    fresh_rows,
    random_of,
    refuse_weights,
)
from clausewise.base.counts import count_of
from clausewise.base.parameters import check_parameters
from clausewise.data.labels import Label
from clausewise.networks.answers import ask_network
from clausewise.rules.abstention import Abstention, SelectivePromise, margins, usual_label
from clausewise.rules.decimals import shortest_decimal
from clausewise.rules.guarantee import Count, rejected_by_holm, tails
from clausewise.rules.ruleset import RuleSet

_N_CANDIDATES: Final = 20
"""About as many margins are tested: all that occur, or those that leave 5, 10, … % of rows to decide."""
_FRACTION_TO_SUGGEST: Final = 0.1
"""The fraction of fresh rows that suggests margins."""
_MIN_ROWS: Final = 20


class NoMarginError(ValueError):
    """At no margin do the rules keep the agreement that was asked for."""


def abstaining(
    rules: RuleSet,
    X: Any,
    network: Any,
    agreement: float,
    confidence: float,
    *,
    label: Label | None,
    overlap: Overlap,
    groups: ArrayLike | None,
    sample_weight: ArrayLike | None,
    random_state: int | np.random.RandomState | None,
    n_jobs: int | None,
) -> RuleSet:
    """Return rules that abstain where they may not keep the promise; see `RuleSet.abstaining`.

    Examples
    --------
    `RuleSet.abstaining` calls it, with defaults:

    >>> import numpy as np
    >>> from clausewise import RuleSet
    >>> text = "IF age > 40 THEN high IF age <= 60 THEN low"
    >>> rules = RuleSet.from_text(text, ["age"], default="low").remember_rows([[30], [70]])
    >>> fresh = np.random.default_rng(0).uniform(20, 80, (2000, 1))
    >>> network = np.where(fresh[:, 0] > 45, "high", "low")
    >>> careful = rules.abstaining(fresh, network, agreement=0.95)
    >>> careful.predict([[30], [50], [70]]).tolist()
    ['low', 'abstains', 'high']
    """
    check_parameters(
        {"agreement": CONFIDENCE, "confidence": CONFIDENCE, **FRESH_ROWS},
        {
            "agreement": agreement,
            "confidence": confidence,
            "overlap": overlap,
            "random_state": random_state,
            "n_jobs": n_jobs,
        },
    )
    refuse_weights(sample_weight)
    deciding = rules.always_deciding()
    chosen_label = usual_label(rules.classes) if label is None else label
    replace(deciding, abstention=Abstention(0.0, chosen_label))  # refuses a wrong label before any work
    matrix = deciding.features.encode(X)
    fresh = fresh_rows(deciding, matrix, overlap, groups, random_state)
    if len(fresh.rows) < _MIN_ROWS:
        raise ValueError(f"There are {len(fresh.rows)} fresh rows; pass at least {_MIN_ROWS}.")
    asked = ask_network(network, X, deciding.features, deciding.labels, len(matrix)).labels.codes[fresh.rows]
    matrix = matrix[fresh.rows]
    lead = margins(deciding.evaluator.scores(matrix, deciding.voting, n_jobs))
    agrees = deciding.evaluator.decide(matrix, deciding.voting, deciding.default_index, n_jobs) == asked
    suggests = _drawn(len(lead), random_of(random_state))
    margin, counted = _smallest_kept(
        _candidates(lead[suggests]), lead[~suggests], agrees[~suggests], agreement, confidence
    )
    chosen = replace(deciding, abstention=Abstention(margin, chosen_label), last_guarantee=None)
    n_tested = int((~suggests).sum())
    suggested = f"{int(suggests.sum()):,} other fresh rows suggested the margins that were tested."
    promise = SelectivePromise(
        float(agreement), float(confidence), n_tested, counted, chosen.digest, (suggested, *fresh.notes)
    )
    promising = replace(chosen, abstention=Abstention(margin, chosen_label, promise))
    # The margin was learnt from these rows, so that they are no longer fresh.
    return promising.having_learnt_from(matrix)


def _drawn(n_rows: int, random: np.random.RandomState) -> NDArray[np.bool_]:
    """Draw the rows that suggest margins."""
    is_drawn = np.zeros(n_rows, dtype=bool)
    is_drawn[random.permutation(n_rows)[: max(1, round(_FRACTION_TO_SUGGEST * n_rows))]] = True
    return is_drawn


def _candidates(lead: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return margins to test, ascending, from 0 (decide everything) to that of few rows; short decimals."""
    known = np.unique(lead[np.isfinite(lead)])
    if len(known) == 0:
        return np.zeros(1)
    reached = known
    if len(known) > _N_CANDIDATES:
        levels = np.arange(1, _N_CANDIDATES) / _N_CANDIDATES
        reached = np.unique(np.quantile(lead, levels, method="higher"))
    found = {0.0}
    for margin in reached[np.isfinite(reached) & (reached > 0)].tolist():
        below = known[known < margin].max(initial=0.0)
        # Any number above the next smaller margin, up to this one, decides the same of these rows.
        found.add(shortest_decimal(np.nextafter(below, np.inf), np.nextafter(margin, np.inf), prefer=margin))
    return np.array(sorted(found))


def _smallest_kept(
    candidates: NDArray[np.float64],
    lead: NDArray[np.float64],
    agrees: NDArray[np.bool_],
    agreement: float,
    confidence: float,
) -> tuple[float, Count]:
    """Return the smallest margin that keeps the promise, and the rows that are decided with it."""
    counts = [Count(int((lead >= m).sum()), int(agrees[lead >= m].sum())) for m in candidates.tolist()]
    kept = rejected_by_holm(tails(counts, agreement), 1 - confidence)
    if not kept:
        best = max(counts, key=lambda count: count.fraction if count.n_rows else -1.0)
        reached = f"{best.fraction:.3f}, on {best.n_rows:,} of {count_of(len(lead), 'row')}"
        if best.fraction > agreement:
            what = (
                f"These rows are too few for an agreement of {agreement:g} with confidence {confidence:g}, "
                f"although they reach {reached}"
            )
        else:
            what = (
                f"At no margin do the rules keep an agreement of {agreement:g} with confidence "
                f"{confidence:g}; the most was {reached}"
            )
        raise NoMarginError(f"{what}. Pass more rows, or ask for less agreement or confidence.")
    first = min(kept)
    return float(candidates[first]), counts[first]
