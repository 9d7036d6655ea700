"""Branch and bound: cutting a region until bounds decide what the network predicts on each part."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np

from clausewise.networks.plain import Floats, PlainNetwork
from clausewise.networks.plain_inputs import PlainModel
from clausewise.verify.bounds import BoundedNetwork
from clausewise.verify.decisions import Decision
from clausewise.verify.domain import Booleans, Domain, InputMap, Places, Regions
from clausewise.verify.planes import Planes

# Boxes that are bounded at once, and coefficients of a layer for all of them: more do not fit into the cache.
_MAX_BATCH: Final = 128
# How often a region may be cut before its pieces are bounded; it is cut again if this part of the gap between
# value and bound would not suffice. A cut makes up for about as much as `_MADE_UP`.
_N_LEVELS: Final = 4
_PART_CHOSEN: Final = 32  # one of so many waiting regions is chosen at a time
_HOPED_FOR: Final = 0.4
_MADE_UP: Final = 0.2
_MAX_COEFFICIENTS: Final = 2**20
TIME_USED: Final = 0.95
"""The part of a limit on the time that is used; the rest is for what cannot be stopped."""

# Rows that a network is asked about at once.
_FIRST_BATCH: Final = 32
_GROWTH: Final = 4
_LARGEST_BATCH: Final = 8_192
# The relative error of the slopes of inputs that are added up for a raw column.
_SLOPE_ERROR: Final = 2.0**-44
# Where to cut: how much the slope of a bound counts beside its looseness. Half-spaces make up for most of
# what a slope costs.
_SLOPE_WEIGHT: Final = 0.1


Side = TypeVar("Side")


@dataclass(frozen=True, eq=False)
class Claim:
    """What should hold on a region: the network predicts a class, or any class but this one."""

    decision: Decision
    is_against: bool = False

    def sides(self, is_class: Side, is_other: Side) -> tuple[Side, Side]:
        """Return where the claim holds and where it fails, given where the class or another is predicted."""
        return (is_other, is_class) if self.is_against else (is_class, is_other)


@dataclass(eq=False)
class Clock:
    """Says when to stop, and remembers whether a search was stopped by it."""

    ends: float
    has_stopped: bool = False

    @classmethod
    def for_seconds(cls, seconds: float) -> "Clock":
        """Return a clock that stops after so many seconds."""
        return cls(time.monotonic() + seconds)

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self.ends

    @property
    def left(self) -> float:
        """Seconds left."""
        return max(0.0, self.ends - time.monotonic())

    def batches(self, n_rows: int) -> Iterator[slice]:
        """Yield rows in batches, first a small one, while the next is expected to end in time."""
        start, size, needed = 0, _FIRST_BATCH, 0.0
        while start < n_rows:
            if start and self.left <= needed:
                self.has_stopped = True
                return
            begun = time.monotonic()
            yield slice(start, min(start + size, n_rows))
            start, grown = start + size, min(_GROWTH * size, _LARGEST_BATCH)
            needed = (time.monotonic() - begun) * grown / size
            size = grown


@dataclass(eq=False)
class Outcome:
    """What a search has found out about a region.

    Attributes
    ----------
    proven, refuted, open : Regions
        The parts where the claim is proven, where its opposite is, and where neither is.
    planes : Planes
        Linear bounds on the open parts, which decide some of their volume.
    witnesses : ndarray of shape (n_rows, n_features)
        Encoded rows on which the claim fails, as far as double precision tells.
    is_proven_row : boolean ndarray of shape (n_rows,)
        On which of the given rows the claim is proven.
    n_boxes : int
        How many boxes were bounded.
    """

    proven: Regions
    refuted: Regions
    open: Regions
    planes: Planes
    witnesses: Floats
    is_proven_row: Booleans
    n_boxes: int

    @property
    def is_proven(self) -> bool:
        """Whether the claim holds on the whole region."""
        return len(self.refuted) == 0 and len(self.open) == 0


@dataclass(eq=False)
class Prover:
    """Proves claims about a network on regions of a domain.

    Attributes
    ----------
    network : PlainNetwork
        The network, up to the outputs that decide.
    domain : Domain
        The rows.
    inputs : InputMap
        From regions to the network's inputs.
    """

    network: PlainNetwork
    domain: Domain
    inputs: InputMap
    bounded: BoundedNetwork = field(init=False)
    batch_size: int = field(init=False)

    def __post_init__(self) -> None:
        self.bounded = BoundedNetwork(self.network, self.inputs.choices, self.inputs.slack)
        sizes = self.network.sizes
        largest = 2 * max(sizes) * max(sizes[1:])
        self.batch_size = max(1, min(_MAX_BATCH, _MAX_COEFFICIENTS // largest))

    @classmethod
    def of(cls, model: PlainModel, network: PlainNetwork, domain: Domain) -> "Prover":
        """Return the prover for a model, of which `network` are the layers that decide."""
        return cls(network, domain, InputMap(model, domain))

    def values(self, matrix: Floats, claim: Claim) -> Floats:
        """Return for each encoded row a number that is negative where the claim fails, without proof."""
        values = claim.decision.values(self.network.outputs(self.inputs.inputs(matrix)))
        return -values if claim.is_against else values

    def slopes(self, matrix: Floats, claim: Claim) -> tuple[Floats, Floats]:
        """Return for each encoded row the number of `values`, and its gradient in the raw numbers."""
        sign = -1.0 if claim.is_against else 1.0
        inputs = self.inputs.inputs(matrix)
        margins = self.network.outputs(inputs) @ claim.decision.functions.T + claim.decision.offsets
        weakest = margins.argmin(axis=1)
        gradients = self.network.gradients(inputs, sign * claim.decision.functions[weakest])
        return sign * margins.min(axis=1), self.inputs.pulled_back(gradients)[0]

    def examine(self, regions: Regions, claim: Claim) -> "Examined":
        """Bound the network on regions."""
        decision = claim.decision
        both = np.vstack([decision.functions, -decision.functions])
        found = self.bounded.bound(
            self.inputs.boxes(regions), both, np.concatenate([decision.offsets, -decision.offsets])
        )
        n_functions = len(decision.functions)
        margin = decision.margins(found.magnitude)[:, None]
        is_class = np.asarray((found.low[:, :n_functions] > margin).all(axis=1))
        is_other = np.asarray((found.low[:, n_functions:] > margin).any(axis=1))
        if claim.is_against:
            weakest = n_functions + found.low[:, n_functions:].argmax(axis=1)
        else:
            weakest = found.low[:, :n_functions].argmin(axis=1)
        each = np.arange(len(regions))
        low, slopes, looseness = (part[each, weakest] for part in (found.low, found.slopes, found.looseness))
        planes = Planes(found.low - margin, self._raw_slopes(found.slopes), regions)
        return Examined(*claim.sides(is_class, is_other), low, slopes, looseness, planes)

    def _raw_slopes(self, slopes: Floats) -> Floats:
        """Return slopes with respect to the raw numbers, less what rounding may have added to them."""
        flat = slopes.reshape(-1, slopes.shape[-1])
        exact, total = self.inputs.pulled_back(flat)[0], self.inputs.steepness(flat)
        # Whole numbers are counted, so that the volume of a half-space says nothing about them.
        kept = np.where(self.domain.is_whole, 0.0, np.maximum(np.abs(exact) - _SLOPE_ERROR * total, 0.0))
        return np.asarray(np.copysign(kept, exact).reshape(*slopes.shape[:-1], -1))

    def search(
        self,
        region: Regions,
        claim: Claim,
        max_boxes: int,
        clock: Clock,
        rows: Floats | None = None,
        stop_at_witness: bool = False,
    ) -> Outcome:
        """Cut a region into parts until the claim is decided on each, first those with much volume or rows.

        Parameters
        ----------
        region : Regions
            One region.
        claim : Claim
            What should hold.
        max_boxes : int
            How many boxes to bound at most.
        clock : Clock
            Stops the search.
        rows : ndarray of shape (n_rows, n_features), optional
            Encoded rows inside the region, which are followed.
        stop_at_witness : bool
            Whether to stop at the first row on which the claim fails.
        """
        domain = self.domain
        tracker = RowTracker(domain, np.empty((0, len(domain.features))) if rows is None else rows)
        first = np.zeros(1, dtype=np.intp)
        waiting = _Waiting(_Piled(region, first, first, np.ones(1)))
        none = region.take(slice(0, 0))
        proven, refuted, stuck, witnesses = [none], [none], [], []
        # The planes of every region that was cut; those of its pieces are found by their numbers.
        planes, n_planes = [Planes.unknown(region, 2 * len(claim.decision.functions))], 1
        n_boxes, longest = 0, 0.0
        # Not begun if it may end too late: a batch takes about as long as the others.
        while len(waiting) and n_boxes < max_boxes and clock.left > longest:
            begun = time.monotonic()
            batch, numbers = waiting.pop(min(self.batch_size, max_boxes - n_boxes))
            n_boxes += len(batch)
            found = self.examine(batch, claim)
            proven.append(batch.take(found.is_proven))
            refuted.append(batch.take(found.is_refuted))
            tracker.decided(numbers[found.is_proven], numbers[found.is_refuted])
            undecided = np.flatnonzero(~found.is_proven & ~found.is_refuted)
            rest, numbers = batch.take(undecided), numbers[undecided]
            tried = [domain.centres(batch), domain.corners(rest, found.slopes[undecided], self.inputs)]
            candidates = np.concatenate(tried)
            values = self.values(candidates, claim)
            fails = values < 0
            witnesses.append(candidates[fails])
            planes.append(found.planes.take(undecided))
            of_rest = n_planes + np.arange(len(rest))
            n_planes += len(rest)
            if stop_at_witness and fails.any():
                stuck.append(_Piled(rest, numbers, of_rest, np.zeros(len(rest))))
                break
            tracker.decide_rows(numbers, planes[-1], claim)
            gaps = np.maximum(values[undecided] - found.low[undecided], 0.0)
            scores = self._scores(rest, found, undecided)
            pieces = self._pieces(rest, numbers, scores, found.low[undecided], gaps, tracker)
            on_part = planes[-1].take(pieces.parents).within(pieces.regions)
            is_proven, is_refuted = claim.sides(*on_part.decided())
            proven.append(pieces.regions.take(is_proven))
            refuted.append(pieces.regions.take(is_refuted))
            tracker.decided(pieces.numbers[is_proven], pieces.numbers[is_refuted])
            share = domain.shares(pieces.regions, region) * on_part.open_shares()
            share += pieces.n_rows / max(tracker.n_rows, 1)
            left = _Piled(pieces.regions, pieces.numbers, of_rest[pieces.parents], share)
            is_left = ~is_proven & ~is_refuted
            waiting.push(left.take(is_left & pieces.is_new))
            stuck.append(left.take(is_left & ~pieces.is_new))
            longest = max(longest, time.monotonic() - begun)
        is_finished = stop_at_witness and any(map(len, witnesses))
        if len(waiting) and n_boxes < max_boxes and not is_finished:
            clock.has_stopped = True
        is_open = _Piled.joined([*waiting.piles, *stuck])
        return Outcome(
            Regions.joined(proven),
            Regions.joined(refuted),
            is_open.regions,
            Planes.joined(planes).take(is_open.planes).within(is_open.regions),
            np.concatenate([np.empty((0, len(domain.features))), *witnesses]),
            tracker.is_proven,
            n_boxes,
        )

    def _pieces(
        self,
        regions: Regions,
        numbers: Places,
        scores: Floats,
        low: Floats,
        gaps: Floats,
        tracker: "RowTracker",
    ) -> "_Pieces":
        """Cut regions.

        Bounds that are far from sufficient are not computed for the halves of a region: where making up for a
        part of the gap between the value in the middle and the bound would not do, halves are cut again.
        """
        cut = _Pieces(
            regions, numbers, np.arange(len(regions)), np.zeros(len(regions)), np.zeros(len(regions), bool)
        )
        pieces = []
        for level in range(_N_LEVELS):
            halves, of = self.domain.split(cut.regions, scores)
            is_whole = np.ones(len(cut.regions), dtype=bool)
            is_whole[of] = False
            if is_whole.any():
                pieces.append(cut.take(is_whole))
            new, n_rows = tracker.moved(halves, cut.numbers[of])
            cut = _Pieces(halves, new, cut.parents[of], n_rows, np.ones(len(halves), bool))
            low, gaps, scores = low[of], gaps[of], scores[of]
            is_far = (low + _HOPED_FOR * gaps < 0) & (level + 1 < _N_LEVELS)
            pieces.append(cut.take(~is_far))
            far = np.flatnonzero(is_far)
            if len(far) == 0:
                break
            cut, scores = cut.take(far), scores[far]
            low, gaps = low[far] + _MADE_UP * gaps[far], (1 - _MADE_UP) * gaps[far]
            scores[np.arange(len(far)), scores.argmax(axis=1)] /= 2
        return _Pieces.joined(pieces)

    def _scores(self, regions: Regions, found: "Examined", places: Places) -> Floats:
        """Return how much each coordinate of each region contributes to its bound, and to its looseness."""
        slopes, slopes_of_options = self.inputs.pulled_back(found.slopes[places])
        looseness, _ = self.inputs.pulled_back(found.looseness[places])
        scores = [(_SLOPE_WEIGHT * np.abs(slopes) + np.abs(looseness)) * (regions.high - regions.low)]
        for values, allowed in zip(slopes_of_options, regions.options, strict=True):
            most = np.where(allowed, values, -np.inf).max(axis=1)
            scores.append((most - np.where(allowed, values, np.inf).min(axis=1))[:, None])
        return np.hstack(scores)


@dataclass(frozen=True, eq=False)
class Examined:
    """What bounds say about each of several regions.

    Attributes
    ----------
    is_proven, is_refuted : boolean ndarray of shape (n_regions,)
        Whether the claim holds everywhere, and whether it fails everywhere.
    low : ndarray of shape (n_regions,)
        The bound that decides whether the claim is proven.
    slopes, looseness : ndarray of shape (n_regions, n_inputs)
        Those of this bound; see `LinearBounds`.
    planes : Planes
        All bounds as functions of the raw numbers, first those of the decision, then their negatives.
    """

    is_proven: Booleans
    is_refuted: Booleans
    low: Floats
    slopes: Floats
    looseness: Floats
    planes: Planes


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of regions: their numbers, of which region each is, how many rows it has, and if it is new."""

    regions: Regions
    numbers: Places
    parents: Places
    n_rows: Floats
    is_new: Booleans

    def take(self, places: Places | Booleans) -> "_Pieces":
        """Return some of them."""
        return _Pieces(
            self.regions.take(places),
            self.numbers[places],
            self.parents[places],
            self.n_rows[places],
            self.is_new[places],
        )

    @staticmethod
    def joined(parts: Sequence["_Pieces"]) -> "_Pieces":
        """Return the pieces of several cuts."""
        return _Pieces(
            Regions.joined([part.regions for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.parents for part in parts]),
            np.concatenate([part.n_rows for part in parts]),
            np.concatenate([part.is_new for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class _Piled:
    """Regions that are open: their numbers, those of planes that hold on them, and weights."""

    regions: Regions
    numbers: Places
    planes: Places
    weights: Floats

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, places: Places | Booleans | slice) -> "_Piled":
        """Return some of them."""
        return _Piled(
            self.regions.take(places), self.numbers[places], self.planes[places], self.weights[places]
        )

    @staticmethod
    def joined(parts: Sequence["_Piled"]) -> "_Piled":
        """Return the regions of several piles."""
        return _Piled(
            Regions.joined([part.regions for part in parts]),
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.planes for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )


class _Waiting:
    """Regions that are still to be bounded, those with the largest weights first.

    A part of them is chosen at a time, so that most are not moved for every batch.

    Parameters
    ----------
    first : _Piled
        The regions to begin with.
    """

    def __init__(self, first: _Piled) -> None:
        self._chosen, self._others = first, [first.take(slice(0, 0))]
        self._n_others = 0

    def __len__(self) -> int:
        return len(self._chosen) + self._n_others

    @property
    def piles(self) -> list[_Piled]:
        """All of them."""
        return [self._chosen, *self._others]

    def pop(self, n_wanted: int) -> tuple[Regions, Places]:
        """Remove and return regions."""
        if len(self._chosen) == 0:
            every = _Piled.joined(self._others)
            n_chosen = max(n_wanted, len(every) // _PART_CHOSEN)
            if len(every) > n_chosen:
                order = np.argpartition(-every.weights, n_chosen, kind="introselect")
                self._chosen = every.take(np.sort(order[:n_chosen]))
                every = every.take(np.sort(order[n_chosen:]))
            else:
                self._chosen, every = every, every.take(slice(0, 0))
            self._others, self._n_others = [every], len(every)
        popped, self._chosen = self._chosen.take(slice(0, n_wanted)), self._chosen.take(slice(n_wanted, None))
        return popped.regions, popped.numbers

    def push(self, more: _Piled) -> None:
        """Add regions."""
        self._others.append(more)
        self._n_others += len(more)


class RowTracker:
    """Follows rows through the regions that contain them.

    Parameters
    ----------
    domain : Domain
        What the rows are.
    rows : ndarray of shape (n_rows, n_features)
        Encoded rows, all inside the first region, whose number is 0.
    """

    def __init__(self, domain: Domain, rows: Floats) -> None:
        self._domain, self._rows = domain, rows
        self.n_rows = len(rows)
        self.is_proven = np.zeros(len(rows), dtype=bool)
        self._owner = np.zeros(len(rows), dtype=np.intp)  # −1 for rows whose region is decided
        self._n_regions = 1

    def decided(self, proven: Places, refuted: Places) -> None:
        """Note which regions are decided."""
        if self.n_rows:
            # By region instead of by row: −1, for rows that are decided, is the last place.
            is_now = np.zeros(self._n_regions + 1, dtype=bool)
            is_now[proven] = True
            self.is_proven |= is_now[self._owner]
            is_now[refuted] = True
            self._owner[is_now[self._owner]] = -1

    def decide_rows(self, numbers: Places, planes: Planes, claim: Claim) -> None:
        """Note which rows are decided by the planes of their regions."""
        if self.n_rows == 0 or len(numbers) == 0:
            return
        order = np.argsort(numbers)
        place = order[np.minimum(np.searchsorted(numbers, self._owner, sorter=order), len(numbers) - 1)]
        inside = np.flatnonzero(numbers[place] == self._owner)
        values = self._rows[inside][:, self._domain.numbers]
        is_proven, is_refuted = claim.sides(*planes.take(place[inside]).decided_at(values))
        self.is_proven[inside[is_proven]] = True
        self._owner[inside[is_proven | is_refuted]] = -1

    def moved(self, halves: Regions, parents: Places) -> tuple[Places, Floats]:
        """Move rows to the halves of their regions; return the numbers of the halves, and their rows."""
        new = self._n_regions + np.arange(len(halves))
        self._n_regions += len(halves)
        if self.n_rows == 0 or len(halves) == 0:
            return new, np.zeros(len(halves))
        n_first = len(halves) // 2
        order = np.argsort(parents[:n_first], kind="stable")
        place = np.searchsorted(parents[:n_first], self._owner, sorter=order)
        half = order[np.minimum(place, n_first - 1)]
        moved = np.flatnonzero(parents[half] == self._owner)
        half = half[moved]
        half = np.where(self._domain.holds(halves.take(half), self._rows[moved]), half, half + n_first)
        self._owner[moved] = new[half]
        return new, np.bincount(half, minlength=len(halves)).astype(np.float64)
