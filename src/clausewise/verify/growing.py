"""Certified parts of a rule: boxes with many rows on which the network provably decides as the rule says.

A part begins as the box of a row and of those next to it, as many as can be proven. It then grows, by one
slice at a time that is proven too. Starting small and growing finds larger boxes than cutting counterexamples
off a whole rule: with ten columns, these are nearly everywhere in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, log10
from typing import Final

import numpy as np

from clausewise.networks.plain import Dense, Floats
from clausewise.verify.domain import Booleans, Domain, Places, Regions
from clausewise.verify.search import Claim, Clock, Prover

# Rows that parts are looked for with; of more, a random sample. Fewer for a large network, whose gradients on
# these rows take so many products.
_MAX_ROWS: Final = 20_000
_LEAST_ROWS: Final = 256
_MAX_PRODUCTS: Final = 2**30
# Rows that parts may start from, which are drawn again after a fraction of the parts, and their nearest rows.
# Each draw takes at most this part of all boxes.
_N_SEEDS: Final = 64
_OF_DRAW: Final = 1 / 24
_PARTS_PER_DRAW: Final = 1 / 4
_N_NEAREST: Final = 256
# Steps of the search for the number of nearest rows that one bound proves.
_N_HALVINGS: Final = 6
# Cutting boxes proves more rows than one bound does: this factor is tried first, then fewer.
_HOPED_FOR: Final = 2.0
_FEWER: Final = 0.7
# A column that does not matter to the network is still this wide, where an average one is 1.
_LEAST_WEIGHT: Final = 0.3
# The part of a part's boxes that the first proof, and each slice, may take.
_OF_FIRST_PROOF: Final = 1 / 16
_OF_SLICE: Final = 1 / 32
_LEAST_BOXES: Final = 64
_OF_FEW: Final = 1 / 8
# A slice takes this fraction of the rows in its direction; after each slice that is not proven, less.
_SLICE: Final = 1 / 8
_SMALLER_SLICE: Final = 1 / 3
_N_TRIES: Final = 3
# The part of a part's boxes for slices with rows; the others are for slices without, which later rows may be
# in. These take this fraction of all rows in their direction.
_OF_GROWING: Final = 0.5
_WIDER: Final = 1 / 20
# Bounds are decimals whose last digit is at most this fraction of the width of a box, or of the domain.
_OF_WIDTH: Final = 0.05
_OF_DOMAIN: Final = 1e-4


@dataclass(frozen=True, eq=False)
class Parts:
    """Proven parts of a region, and how many boxes were bounded to find them."""

    regions: Regions
    n_boxes: int


def grow_parts(
    prover: Prover,
    region: Regions,
    claim: Claim,
    rows: Floats,
    max_parts: int,
    max_boxes: int,
    clock: Clock,
    random: np.random.RandomState,
) -> Parts:
    """Return parts of a region on which the claim is proven, each with many rows that no other one has.

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
    max_parts, max_boxes : int
        How many parts to return, and how many boxes to bound, at most.
    clock : Clock
        Stops the search.
    random : RandomState
        Draws rows.
    """
    domain, found, n_left = prover.domain, [region.take(slice(0, 0))], max_boxes
    if clock.is_over:
        return Parts(found[0], 0)
    n_weights = sum(step.weights.size for step in prover.network.steps if isinstance(step, Dense))
    n_rows = max(_LEAST_ROWS, min(_MAX_ROWS, _MAX_PRODUCTS // max(n_weights, 1)))
    if len(rows) > n_rows:
        rows = rows[random.permutation(len(rows))[:n_rows]]
    values, slopes = prover.slopes(rows, claim)
    rows, slopes, values = rows[values > 0], slopes[values > 0], values[values > 0]
    every, weights = rows, _weights(rows[:, domain.numbers], slopes)
    n_per_draw = ceil(max_parts * _PARTS_PER_DRAW)
    n_seeds = min(_N_SEEDS, ceil(_OF_DRAW * max_boxes / _N_HALVINGS))
    while len(rows) and len(found) <= max_parts and n_left > 0 and not clock.is_over:
        # A part is to be where the network is sure; rows near the decision boundary are added by growing.
        sure = np.flatnonzero(values >= np.median(values))
        seeds = random.permutation(sure)[:n_seeds]
        starts = _Starts.around(domain, rows, seeds, weights)
        n_left -= starts.measure(prover, claim, n_left, clock)
        is_left, n_before = np.ones(len(rows), dtype=bool), len(found)
        while len(found) <= max_parts and len(found) - n_before < n_per_draw and n_left > 0:
            start = starts.pop_best(is_left)
            if start is None or clock.is_over:
                break
            allowed = ceil(n_left / (max_parts + 1 - len(found)))
            one = _Growth(prover, region, claim, rows[is_left], every, allowed, clock)
            part = one.from_start(starts, *start)
            n_left -= one.n_boxes
            if part is not None:
                found.append(part)
                is_left &= ~domain.contains(part, rows)[0]
        if len(found) == n_before:
            break
        rows, values = rows[is_left], values[is_left]
    return Parts(Regions.joined(found), max_boxes - n_left)


def _weights(numbers: Floats, slopes: Floats) -> Floats:
    """Return how much distances count in each column: more where the network's output is steep."""
    if len(numbers) == 0:
        return np.ones(numbers.shape[1])
    spread = numbers.std(axis=0)
    spread[spread == 0] = 1.0
    effect = np.abs(slopes).mean(axis=0) * spread
    mean = effect.mean() if effect.any() else 1.0
    return np.asarray((effect / mean + _LEAST_WEIGHT) / spread)


@dataclass(eq=False)
class _Starts:
    """Boxes that parts may start with: those of a row and its nearest rows, for each of several rows.

    Attributes
    ----------
    nearest : ndarray of shape (n_seeds, n_nearest)
        Positions of the nearest rows, each itself first.
    regions : Regions
        The box of the first 1, 2, … nearest rows, one seed after the other.
    n_proven : ndarray of shape (n_seeds,)
        Of how many nearest rows one bound proves the box; 0 if not even that of one, or already used.
    """

    nearest: Places
    regions: Regions
    n_proven: Places

    @classmethod
    def around(cls, domain: Domain, rows: Floats, seeds: Places, weights: Floats) -> "_Starts":
        """Return the boxes around some of the rows."""
        numbers = rows[:, domain.numbers]
        options = [domain.option_of(choice, rows) for choice in domain.choices]
        n_nearest = min(_N_NEAREST, len(rows))
        nearest = np.empty((len(seeds), n_nearest), dtype=np.intp)
        for at, seed in enumerate(seeds.tolist()):
            distance = (np.abs(numbers - numbers[seed]) * weights).max(axis=1, initial=0.0)
            for option in options:
                distance += option != option[seed]
            distance[seed] = -1.0
            some = np.argpartition(distance, n_nearest - 1)[:n_nearest]
            nearest[at] = some[np.argsort(distance[some], kind="stable")]
        shape = (nearest.size, -1)
        regions = Regions(
            np.minimum.accumulate(numbers[nearest], axis=1).reshape(nearest.size, numbers.shape[1]),
            np.maximum.accumulate(numbers[nearest], axis=1).reshape(nearest.size, numbers.shape[1]),
            tuple(
                np.logical_or.accumulate(
                    np.arange(choice.n_options) == option[nearest][:, :, None], axis=1
                ).reshape(shape)
                for choice, option in zip(domain.choices, options, strict=True)
            ),
        )
        return cls(nearest, regions, np.zeros(len(seeds), dtype=np.intp))

    def measure(self, prover: Prover, claim: Claim, max_boxes: int, clock: Clock) -> int:
        """Find how many nearest rows one bound proves; return how many boxes were bounded."""
        n_seeds, n_nearest = self.nearest.shape
        beyond, n_boxes, left, needed = np.full(n_seeds, n_nearest + 1), 0, clock.left, 0.0
        for _ in range(_N_HALVINGS):
            # Not begun if it may end too late: a step takes about as long as the one before.
            if n_boxes + n_seeds > max_boxes or clock.left <= needed:
                break
            tried = np.sqrt((self.n_proven + 1) * beyond).astype(np.intp)
            tried = np.clip(tried, self.n_proven + 1, np.maximum(beyond - 1, 1))
            is_proven = np.concatenate(
                [
                    prover.examine(self.box(some, tried[some]), claim).is_proven
                    for some in np.array_split(np.arange(n_seeds), ceil(n_seeds / prover.batch_size))
                ]
            )
            n_boxes += n_seeds
            left, needed = clock.left, left - clock.left
            self.n_proven = np.where(is_proven, tried, self.n_proven)
            beyond = np.where(is_proven, beyond, np.minimum(tried, beyond))
        return n_boxes

    def box(self, seeds: Places, n_rows: Places) -> Regions:
        """Return the box of the nearest rows of each seed."""
        return self.regions.take(seeds * self.nearest.shape[1] + n_rows - 1)

    def pop_best(self, is_wanted: Booleans) -> tuple[int, int] | None:
        """Return the seed whose proven box has the most wanted rows, and its size; each only once."""
        within = np.arange(self.nearest.shape[1]) < self.n_proven[:, None]
        n_wanted = (is_wanted[self.nearest] & within).sum(axis=1)
        best = int(n_wanted.argmax())
        if n_wanted[best] == 0:
            return None
        n_proven, self.n_proven[best] = int(self.n_proven[best]), 0
        return best, n_proven


@dataclass(frozen=True, eq=False)
class _Slice:
    """A slice beside a box: its direction, how many rows it adds, itself, and the box with it.

    A direction is a numeric column and its lower or upper end (0 or 1), or a choice and another option.
    """

    direction: tuple[int, int]
    n_rows: int
    slab: Regions
    grown: Regions


@dataclass(eq=False)
class _Growth:
    """Grows one part inside a region; `n_boxes` counts the boxes that were bounded."""

    prover: Prover
    region: Regions
    claim: Claim
    rows: Floats
    every: Floats
    max_boxes: int
    clock: Clock
    n_boxes: int = 0

    def from_start(self, starts: _Starts, seed: int, n_proven: int) -> Regions | None:
        """Return a proven part that contains the nearest rows of a seed, or some of them."""
        n_rows = min(int(_HOPED_FOR * n_proven), starts.nearest.shape[1])
        while n_rows >= 1 and self.n_boxes < self.max_boxes and not self.clock.is_over:
            box = starts.box(np.array([seed]), np.array([n_rows]))
            for at in range(box.low.shape[1]):
                _round_outwards(self.prover.domain, box, at, self.region)
            if self._proves(box, _OF_FIRST_PROOF):
                return self._widened(self._grown(box))
            n_rows = int(_FEWER * n_rows)
        return None

    def _proves(self, box: Regions, of_boxes: float) -> bool:
        # With few boxes, a first proof that fails must leave some for smaller ones.
        least = min(_LEAST_BOXES, ceil(_OF_FEW * self.max_boxes))
        allowed = min(self.max_boxes - self.n_boxes, max(int(of_boxes * self.max_boxes), least))
        found = self.prover.search(box, self.claim, allowed, self.clock, stop_at_witness=True)
        self.n_boxes += found.n_boxes
        return found.is_proven

    def _grown(self, box: Regions) -> Regions:
        """Return a proven box after adding proven slices that contain more rows."""
        n_tries: dict[tuple[int, int], int] = {}
        most = ceil(_OF_GROWING * self.max_boxes)
        n_coordinates = self.prover.domain.n_coordinates
        inside = np.column_stack([self._inside(box, at) for at in range(n_coordinates)])
        n_outside = (~inside).sum(axis=1)
        near = np.flatnonzero(n_outside <= 1)
        while self.n_boxes < most and not self.clock.is_over:
            slices = self._slices(box, n_tries, near, inside[near])
            best = max(slices, key=lambda one: one.n_rows, default=None)
            if best is None:
                break
            if self._proves(best.slab, _OF_SLICE):
                box, at = best.grown, best.direction[0]
                n_outside += inside[:, at]
                inside[:, at] = self._inside(box, at)
                n_outside -= inside[:, at]
                near = np.flatnonzero(n_outside <= 1)
            else:
                tried = _N_TRIES if best.n_rows == 1 else n_tries.get(best.direction, 0) + 1
                n_tries[best.direction] = tried
        return box

    def _widened(self, box: Regions) -> Regions:
        """Return a proven box after adding proven slices, in all directions in turn, for rows yet unseen."""
        columns = np.sort(self.every[:, self.prover.domain.numbers], axis=0)
        least = max(1, int(_WIDER * len(columns)))
        steps = dict.fromkeys(product(range(columns.shape[1]), (0, 1)), least)
        while steps:
            for (at, end), step in list(steps.items()):
                if self.n_boxes >= self.max_boxes or self.clock.is_over:
                    return box
                bound, limit = ((part.low, part.high)[end][0, at] for part in (box, self.region))
                # Beyond all rows at the bound itself.
                place = np.searchsorted(columns[:, at], bound, side="right" if end else "left")
                place += step - 1 if end else -step
                value = columns[place, at] if 0 <= place < len(columns) else limit
                slab, grown = self._beside(box, at, end, float(value))
                if bound != limit and self._proves(slab, _OF_SLICE):
                    box, steps[at, end] = grown, 2 * step
                else:
                    del steps[at, end]
        return box

    def _inside(self, box: Regions, at: int) -> Booleans:
        """Return which rows are inside a box as far as one coordinate is concerned."""
        domain = self.prover.domain
        if at < len(domain.numbers):
            values = self.rows[:, domain.numbers[at]]
            return np.asarray((values >= box.low[0, at]) & (values <= box.high[0, at]))
        place = at - len(domain.numbers)
        return np.asarray(box.options[place][0][domain.option_of(domain.choices[place], self.rows)])

    def _slices(
        self, box: Regions, n_tries: dict[tuple[int, int], int], near: Places, inside: Booleans
    ) -> Iterator[_Slice]:
        """Yield the next slice in each direction that has rows and was not tried too often.

        Rows that are outside in at most one coordinate are `near`; `inside` says in which they are not.
        """
        domain, rows = self.prover.domain, self.rows[near]
        numbers, is_outside = rows[:, domain.numbers], ~inside.all(axis=1)
        options = [domain.option_of(choice, rows) for choice in domain.choices]
        for at in range(numbers.shape[1]):
            values = numbers[~is_outside | ~inside[:, at], at]
            for end in (0, 1):
                tried = n_tries.get((at, end), 0)
                beyond = values[values < box.low[0, at]] if end == 0 else values[values > box.high[0, at]]
                if tried < _N_TRIES and len(beyond):
                    part = _SLICE * _SMALLER_SLICE**tried
                    n_taken = min(len(beyond), max(1, int(part * len(values))))
                    beyond = np.sort(beyond)[::-1] if end == 0 else np.sort(beyond)
                    slab, grown = self._beside(box, at, end, float(beyond[n_taken - 1]))
                    yield _Slice((at, end), n_taken, slab, grown)
        for place, option in enumerate(options):
            at = numbers.shape[1] + place
            counts = np.bincount(option[~inside[:, at]], minlength=1)
            for other in np.flatnonzero(counts).tolist():
                if n_tries.get((at, other), 0) == 0:
                    slab, grown = box.take([0]), box.take([0])
                    slab.options[place][0] = np.arange(domain.choices[place].n_options) == other
                    grown.options[place][0, other] = True
                    yield _Slice((at, other), int(counts[other]), slab, grown)

    def _beside(self, box: Regions, at: int, end: int, value: float) -> tuple[Regions, Regions]:
        """Return the slice of one column from the end of a box to a value, and the box with it."""
        slab, grown = box.take([0]), box.take([0])
        (grown.low if end == 0 else grown.high)[0, at] = value
        _round_outwards(self.prover.domain, grown, at, self.region, end)
        if end == 0:
            slab.low[0, at], slab.high[0, at] = grown.low[0, at], box.low[0, at]
        else:
            slab.low[0, at], slab.high[0, at] = box.high[0, at], grown.high[0, at]
        return slab, grown


def _round_outwards(domain: Domain, box: Regions, at: int, region: Regions, end: int | None = None) -> None:
    """Move the bounds (or one) of a column outwards to short decimals, at most to those of a region.

    A lower bound is the number after such a decimal d, since rules say `x > d`.
    """
    low, high = float(box.low[0, at]), float(box.high[0, at])
    last_digit = max(_OF_WIDTH * (high - low), _OF_DOMAIN * float(domain.high[at] - domain.low[at]))
    if domain.is_whole[at] or last_digit == 0:
        return
    n_digits = -floor(log10(last_digit))
    if end != 1:
        below = _decimal_beyond(low, n_digits, -1)
        box.low[0, at] = max(np.nextafter(below, np.inf), region.low[0, at])
    if end != 0:
        box.high[0, at] = min(_decimal_beyond(high, n_digits, 1), region.high[0, at])


def _decimal_beyond(value: float, n_digits: int, sign: int) -> float:
    """Return a decimal with so many digits that is larger (sign 1) or smaller (−1) than a value."""
    for decimal in (round(value, n_digits), round(value + sign * 10.0**-n_digits, n_digits)):
        if sign * (decimal - value) > 0:
            return decimal
    return float(np.nextafter(value, sign * np.inf))
