"""The part of a rule on which the network provably decides as the rule says, as one box with many rows.

Cuts that cost few rows remove known counterexamples, until none is found and the rest is proven (or found not
to hold, which gives more counterexamples). What is left then grows again, by one slice at a time that is
proven too.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from clausewise.networks.plain import Floats
from clausewise.verify.domain import Booleans, Domain, Regions
from clausewise.verify.search import Claim, Clock, Prover

# Fractions of the rows that a cut may lose.
_CUTS: Final = np.array([0.0, 0.01, 0.02, 0.04, 0.08, 0.15, 0.25])
# A cut that loses no rows counts as if it lost this fraction of them.
_LEAST_LOSS: Final = 0.01
_MAX_CUTS: Final = 200
# Where a proof takes too long, cuts follow until only this fraction of the rows is left.
_KEPT: Final = 0.6
# Rows from which counterexamples are looked for, and steps of that search.
_N_STARTS: Final = 64
_N_STEPS: Final = 6
# A slice that is added has at least one of so many rows.
_N_GROWN: Final = 8


@dataclass(frozen=True, eq=False)
class Shrunk:
    """A proven part of a region, and how many boxes were bounded; no region if none was found."""

    region: Regions | None
    n_boxes: int


def shrink(
    prover: Prover,
    region: Regions,
    claim: Claim,
    rows: Floats,
    max_boxes: int,
    clock: Clock,
    random: np.random.RandomState,
) -> Shrunk:
    """Return a part of a region on which the claim is proven, with many of the rows.

    Parameters
    ----------
    prover : Prover
        Proves the claim on parts.
    region : Regions
        One region.
    claim : Claim
        What should hold.
    rows : ndarray of shape (n_rows, n_features)
        Encoded rows inside the region.
    max_boxes : int
        How many boxes to bound at most.
    clock : Clock
        Stops the search.
    random : RandomState
        Draws rows to look for counterexamples.
    """
    domain, n_left = prover.domain, max_boxes
    values = prover.values(rows, claim)
    every, values = rows[values > 0], values[values > 0]
    # The part is to be where the network is sure; rows near the decision boundary are added at the end.
    good = every[values >= np.median(values)] if len(values) else every
    for _ in range(_MAX_CUTS):
        if len(good) == 0 or n_left <= 0 or clock.is_over:
            break
        starts = [_some(good, random), domain.sampled(region, _N_STARTS, random)]
        failures = prover.attacked(region, claim, np.concatenate(starts), _N_STEPS)
        enough = float(len(good))
        if len(failures) == 0:
            # Cuts follow quickly, as long as some are needed: a proof that takes long is not the last one.
            found = prover.search(region, claim, min(n_left, max(max_boxes // 16, 64)), clock, None, True)
            n_left -= found.n_boxes
            if found.is_proven:
                return _grown(prover, region, claim, every, max_boxes, n_left, clock)
            failures = found.witnesses
        if len(failures):
            values, slopes = prover.slopes(failures, claim)
        else:
            undecided = found.open.take(slice(0, _N_STARTS))
            examined = prover.examine(undecided, claim)
            n_left -= len(undecided)
            failures = domain.corners(undecided, examined.slopes, prover.inputs)
            values, slopes = examined.low, prover.inputs.pulled_back(examined.slopes)[0]
            enough = _KEPT * len(good)
        region = _cut_until(domain, region, good, enough, (failures, np.maximum(-values, 0.0), slopes))
        good = good[domain.contains(region, good)[0]]
    return Shrunk(None, max_boxes - n_left)


def _cut_until(
    domain: Domain, region: Regions, good: Floats, enough: float, failures: tuple[Floats, Floats, Floats]
) -> Regions:
    """Return the region after one cut, and more of them until at most so many rows are left."""
    is_cut = False
    for _ in range(_MAX_CUTS):
        smaller = _cut(domain, region, good, *failures)
        if smaller is None:
            break
        region, is_cut = smaller, True
        good = good[domain.contains(region, good)[0]]
        if len(good) <= enough:
            break
    return region if is_cut else _around_middle(domain, good)


def _some(rows: Floats, random: np.random.RandomState) -> Floats:
    return rows[random.permutation(len(rows))[:_N_STARTS]]


def _cut(
    domain: Domain, region: Regions, good: Floats, failures: Floats, deficits: Floats, slopes: Floats
) -> Regions | None:
    """Return the region after the cut that makes up for most of the deficits, for the rows that it loses.

    Moving a failure to the new edge changes its value by the distance times its slope, up to its deficit.
    """
    best, best_score = region, -np.inf
    for at in range(len(domain.numbers)):
        values = np.sort(good[:, domain.numbers[at]])
        places = (_CUTS * len(values)).astype(np.intp)
        at_failures, slope = failures[:, domain.numbers[at], None], slopes[:, at, None]
        for is_top in (False, True):
            ends = values[::-1][places] if is_top else values[places]
            moved = np.minimum(ends - at_failures, 0.0) if is_top else np.maximum(ends - at_failures, 0.0)
            gain = np.clip(moved * slope, 0.0, deficits[:, None]).sum(axis=0)
            inside = (
                np.searchsorted(values, ends, "right")
                if is_top
                else len(values) - np.searchsorted(values, ends)
            )
            loss = 1.0 - inside / len(values)
            scores = gain / (loss + _LEAST_LOSS)
            place = int(scores.argmax())
            edge = region.high[0, at] if is_top else region.low[0, at]
            if scores[place] > best_score and ends[place] != edge:
                best_score, best = float(scores[place]), region.take([0])
                (best.high if is_top else best.low)[0, at] = ends[place]
    for at, choice in enumerate(domain.choices):
        n_good = np.bincount(domain.option_of(choice, good), minlength=choice.n_options) / len(good)
        lost = np.bincount(
            domain.option_of(choice, failures), weights=deficits, minlength=choice.n_options
        ) / (n_good + _LEAST_LOSS)
        option = int(lost.argmax())
        if lost[option] > best_score and n_good[option] < 1:
            best_score, best = float(lost[option]), region.take([0])
            best.options[at][0, option] = False
    return best if best_score > 0 else None


def _around_middle(domain: Domain, good: Floats) -> Regions:
    """Return the region of a single row, the one next to the middle: no cut helps."""
    numbers = good[:, domain.numbers]
    distance = np.abs(numbers - np.median(numbers, axis=0)).sum(axis=1)
    return region_at(domain, good[[int(distance.argmin())]])


def region_at(domain: Domain, row: Floats) -> Regions:
    """Return the region that contains a single row."""
    numbers = row[:, domain.numbers]
    options = tuple(
        np.arange(choice.n_options)[None] == domain.option_of(choice, row)[:, None]
        for choice in domain.choices
    )
    return Regions(numbers.copy(), numbers.copy(), options)


def _grown(
    prover: Prover, region: Regions, claim: Claim, good: Floats, max_boxes: int, n_left: int, clock: Clock
) -> Shrunk:
    """Return a proven region after adding proven slices that contain more rows."""
    domain = prover.domain
    is_given_up = np.zeros((2, len(domain.numbers)), dtype=bool)
    while n_left > 0 and not clock.is_over and not is_given_up.all():
        slices = _slices(domain, region, good, is_given_up)
        if not slices:
            break
        side, at, grown, slab = slices
        allowed = min(n_left, max(max_boxes // 32, 64))
        found = prover.search(slab, claim, allowed, clock, stop_at_witness=True)
        n_left -= found.n_boxes
        if found.is_proven:
            region = grown
        else:
            is_given_up[side, at] = True
    return Shrunk(region, max_boxes - n_left)


def _slices(
    domain: Domain, region: Regions, good: Floats, is_given_up: Booleans
) -> tuple[int, int, Regions, Regions] | None:
    """Return the next slice that has the most rows beside a region: side, column, the sum, the slice."""
    inside = (good[:, domain.numbers] >= region.low) & (good[:, domain.numbers] <= region.high)
    for allowed, choice in zip(region.options, domain.choices, strict=True):
        good_options = allowed[0][domain.option_of(choice, good)]
        inside &= good_options[:, None]
    n_outside = (~inside).sum(axis=1)
    best: tuple[int, int, Regions, Regions] | None = None
    most = 0
    for at in range(len(domain.numbers)):
        values = good[(n_outside == 0) | ((n_outside == 1) & ~inside[:, at])][:, domain.numbers[at]]
        for side in (0, 1):
            if is_given_up[side, at]:
                continue
            edge = region.low[0, at] if side == 0 else region.high[0, at]
            beyond = np.sort(values[values < edge])[::-1] if side == 0 else np.sort(values[values > edge])
            n_taken = min(len(beyond), max(1, len(values) // _N_GROWN))
            if n_taken > most:
                most = n_taken
                end = beyond[n_taken - 1]
                grown, slab = region.take([0]), region.take([0])
                if side == 0:
                    grown.low[0, at] = slab.low[0, at] = end
                    slab.high[0, at] = edge
                else:
                    grown.high[0, at] = slab.high[0, at] = end
                    slab.low[0, at] = edge
                best = side, at, grown, slab
    return best
