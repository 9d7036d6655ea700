"""The rows that proofs are about, and parts of them: boxes over raw columns that respect what values mean."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from clausewise.data.features import Features
from clausewise.data.points import one_hot_groups
from clausewise.data.rows import as_rows, take_rows
from clausewise.networks.plain import Floats, UnsupportedLayerError
from clausewise.networks.plain_inputs import PlainColumn, PlainModel
from clausewise.rules.columns import NO_SET, RuleColumns
from clausewise.verify.bounds import Boxes, Choice

Booleans = NDArray[np.bool_]
Places = NDArray[np.intp]

# Scalers compute in single precision if they get such rows: a difference and a quotient, then another
# rounding.
_COMPUTED_ERROR: Final = 2.0**-21
_CAST_ERROR: Final = 2.0**-24


@dataclass(frozen=True, eq=False)
class KnownRows:
    """The rows of a table without missing values and without categories that the rules do not know.

    Attributes
    ----------
    X : array or DataFrame
        These rows, like the given table.
    matrix : ndarray
        The same rows, encoded.
    n_left_out : int
        How many other rows there were.
    """

    X: Any
    matrix: Floats
    n_left_out: int

    @classmethod
    def of(cls, X: Any, features: Features, name: str) -> "KnownRows":
        """Choose the rows of a table that was passed as the parameter `name`."""
        rows = as_rows(features.table(X))
        matrix = np.asarray(features.encode(rows), dtype=np.float64)
        if len(matrix) == 0:
            raise ValueError(f"{name} has no rows; pass rows that show the range of each column.")
        n_categories = features.n_categories
        is_category = (n_categories < 0) | (matrix < n_categories)
        known = np.flatnonzero((np.isfinite(matrix) & is_category).all(axis=1))
        if len(known) == 0:
            raise ValueError(
                f"Each of the {len(matrix):,} rows of {name} has a missing value, or a category that the "
                "rules do not know; pass rows without these."
            )
        if len(known) == len(matrix):
            return cls(rows, matrix, 0)
        return cls(take_rows(rows, known), matrix[known], len(matrix) - len(known))


def note_on_left_out(n_left_out: int) -> tuple[str, ...]:
    """Return a note on rows that were left out, if there are any."""
    if n_left_out == 0:
        return ()
    rows = "1 row was" if n_left_out == 1 else f"{n_left_out:,} rows were"
    return (f"{rows} left out because of missing values or categories that the rules do not know.",)


@dataclass(frozen=True, eq=False)
class RawChoice:
    """Raw columns that take one of several combinations of values: a categorical one, or a one-hot block.

    Attributes
    ----------
    columns : ndarray of int
        The raw columns.
    values : ndarray of shape (n_options, n_columns)
        The values (codes of categories, or 0 and 1) of each option.
    """

    columns: Places
    values: Floats

    @property
    def n_options(self) -> int:
        """Number of options."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Regions:
    """Boxes of rows.

    Attributes
    ----------
    low, high : ndarray of shape (n_regions, n_numbers)
        Closed bounds of the numeric columns.
    options : tuple of boolean ndarray of shape (n_regions, n_options)
        For each choice, the options that are inside.
    """

    low: Floats
    high: Floats
    options: tuple[Booleans, ...] = ()

    def __len__(self) -> int:
        return len(self.low)

    def take(self, places: Any) -> "Regions":
        """Return some of the regions."""
        return Regions(self.low[places], self.high[places], tuple(part[places] for part in self.options))

    @staticmethod
    def joined(parts: Sequence["Regions"]) -> "Regions":
        """Return the regions of several batches."""
        options = zip(*(part.options for part in parts), strict=True)
        return Regions(
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
            tuple(np.concatenate(one) for one in options),
        )


@dataclass(frozen=True, eq=False)
class Domain:
    """The range of every column of some rows: what proofs are about.

    Attributes
    ----------
    features : Features
        The raw columns.
    numbers : ndarray of int
        The columns that are bounded by intervals.
    low, high : ndarray of shape (n_numbers,)
        The least and the largest value of each.
    is_whole : boolean ndarray of shape (n_numbers,)
        Whether only whole numbers occur.
    choices : tuple of RawChoice
        The other columns.
    """

    features: Features
    numbers: Places
    low: Floats
    high: Floats
    is_whole: Booleans
    choices: tuple[RawChoice, ...]

    @classmethod
    def of_rows(cls, matrix: Floats, features: Features) -> "Domain":
        """Return the domain of encoded rows.

        It has the range of each number, whole numbers where all of them are, the categories that occur, and
        one-hot blocks with a single 1.
        """
        groups: dict[int, list[int]] = {}
        for column, group in one_hot_groups(matrix, features).items():
            groups.setdefault(group, []).append(column)
        choices = [RawChoice(np.array(columns), np.eye(len(columns))) for columns in groups.values()]
        grouped = {column for columns in groups.values() for column in columns}
        numbers, values = [], []
        for column, n_categories in enumerate(features.n_categories.tolist()):
            known = _known_values(matrix[:, column], features.names[column])
            if n_categories >= 0:
                codes = np.unique(known)
                choices.append(RawChoice(np.array([column]), codes[codes < n_categories][:, None]))
            elif column not in grouped:
                numbers.append(column)
                values.append(known)
        return cls(
            features,
            np.array(numbers, dtype=np.intp),
            np.array([column.min() for column in values]),
            np.array([column.max() for column in values]),
            np.array([bool((column == np.floor(column)).all()) for column in values], dtype=bool),
            tuple(choices),
        )

    @property
    def n_coordinates(self) -> int:
        """Number of independent columns: numbers and choices."""
        return len(self.numbers) + len(self.choices)

    def whole(self) -> Regions:
        """Return all of the domain as one region."""
        options = tuple(np.ones((1, choice.n_options), dtype=bool) for choice in self.choices)
        return Regions(self.low[None].copy(), self.high[None].copy(), options)

    def region_of(self, stored: RuleColumns, rule: int) -> Regions | None:
        """Return the part of the domain in which a rule fires; None if there is none."""
        region = self.whole()
        for term in range(stored.starts[rule], stored.starts[rule + 1]):
            column, value_set = int(stored.feature[term]), int(stored.value_set[term])
            if stored.missing[term]:
                return None  # the domain has only known values
            codes = None if value_set == NO_SET else stored.codes(value_set)
            self._restrict(region, column, float(stored.low[term]), float(stored.high[term]), codes)
        return region if self.is_inhabited(region)[0] else None

    def _restrict(
        self, region: Regions, column: int, low: float, high: float, codes: NDArray[Any] | None
    ) -> None:
        place = np.flatnonzero(self.numbers == column)
        if len(place):
            at = place[0]
            # Intervals are (low, high], so that the next double is the least value inside.
            least = np.floor(low) + 1.0 if self.is_whole[at] else np.nextafter(low, np.inf)
            most = np.floor(high) if self.is_whole[at] else high
            if low > -np.inf:
                region.low[0, at] = max(region.low[0, at], least)
            if high < np.inf:
                region.high[0, at] = min(region.high[0, at], most)
        for choice, allowed in zip(self.choices, region.options, strict=True):
            for at in np.flatnonzero(choice.columns == column):
                values = choice.values[:, at]
                inside = (values > low) & (values <= high) if codes is None else np.isin(values, codes)
                allowed[0] &= inside

    def is_inhabited(self, regions: Regions) -> Booleans:
        """Return which regions contain any row."""
        found = (regions.low <= regions.high).all(axis=1)
        for allowed in regions.options:
            found &= allowed.any(axis=1)
        return np.asarray(found)

    def contains(self, regions: Regions, matrix: Floats) -> Booleans:
        """Return for each region and each encoded row whether the row is inside."""
        rows = matrix[:, self.numbers]
        inside = np.repeat(self._are_whole(rows)[None], len(regions), axis=0)
        for at in range(len(self.numbers)):  # column by column, since all cells at once would fill the memory
            inside &= (rows[:, at] >= regions.low[:, at, None]) & (rows[:, at] <= regions.high[:, at, None])
        for choice, allowed in zip(self.choices, regions.options, strict=True):
            option = self.option_of(choice, matrix)
            inside &= (option >= 0) & allowed[:, np.maximum(option, 0)]
        return inside

    def _are_whole(self, numbers: Floats) -> Booleans:
        """Return which rows have whole numbers in all columns of these."""
        whole = numbers[:, self.is_whole]
        return np.asarray((whole == np.floor(whole)).all(axis=1))

    def option_of(self, choice: RawChoice, matrix: Floats) -> Places:
        """Return the option that each row takes; −1 for none of them."""
        same = (matrix[:, None, choice.columns] == choice.values[None]).all(axis=2)
        return np.where(same.any(axis=1), same.argmax(axis=1), -1)

    def shares(self, regions: Regions, whole: Regions) -> Floats:
        """Return the fraction of the volume of `whole` that each region has, without columns of one value."""
        share = np.ones(len(regions))
        size = self._sizes(whole)[0]
        wide = size > 0
        share *= (self._sizes(regions)[:, wide] / size[wide]).prod(axis=1)
        for allowed, every in zip(regions.options, whole.options, strict=True):
            share *= allowed.sum(axis=1) / every.sum()
        return share

    def _sizes(self, regions: Regions) -> Floats:
        """Return the width of each interval, or the number of whole numbers in it."""
        width = np.maximum(regions.high - regions.low, 0.0)
        return np.where(self.is_whole, width + 1.0, width)

    def centres(self, regions: Regions) -> Floats:
        """Return an encoded row in the middle of each region; of a choice, the first option."""
        middle = regions.low + (regions.high - regions.low) / 2
        return self.rows(np.where(self.is_whole, np.floor(middle), middle), self._first_options(regions))

    def corners(self, regions: Regions, slopes: Floats, inputs: "InputMap") -> Floats:
        """Return the encoded row of each region where a linear function of the network's inputs is least."""
        of_numbers, of_options = inputs.pulled_back(slopes)
        picked = np.where(of_numbers > 0, regions.low, regions.high)
        options = [
            np.where(allowed, values, np.inf).argmin(axis=1)
            for values, allowed in zip(of_options, regions.options, strict=True)
        ]
        return self.rows(picked, options)

    def points(self, matrix: Floats) -> Regions:
        """Return for each encoded row the region that contains nothing else."""
        options = tuple(
            np.arange(choice.n_options) == self.option_of(choice, matrix)[:, None] for choice in self.choices
        )
        return Regions(matrix[:, self.numbers], matrix[:, self.numbers], options)

    def _first_options(self, regions: Regions) -> list[Places]:
        return [allowed.argmax(axis=1) for allowed in regions.options]

    def rows(self, numbers: Floats, options: Sequence[Places]) -> Floats:
        """Return encoded rows with these numbers and options."""
        made = np.zeros((len(numbers), len(self.features)))
        made[:, self.numbers] = numbers
        for choice, option in zip(self.choices, options, strict=True):
            made[:, choice.columns] = choice.values[option]
        return made

    def sampled(self, region: Regions, n_rows: int, random: np.random.RandomState) -> Floats:
        """Return random encoded rows inside one region."""
        low, high = region.low[0], region.high[0]
        draws = low + random.random_sample((n_rows, len(low))) * (high - low)
        whole = low + np.floor(random.random_sample((n_rows, len(low))) * (high - low + 1))
        options = [random.choice(np.flatnonzero(allowed[0]), size=n_rows) for allowed in region.options]
        return self.rows(np.clip(np.where(self.is_whole, whole, draws), low, high), options)

    def holds(self, regions: Regions, matrix: Floats) -> Booleans:
        """Return for each region whether the encoded row at the same position is inside."""
        rows = matrix[:, self.numbers]
        inside = self._are_whole(rows) & ((rows >= regions.low) & (rows <= regions.high)).all(axis=1)
        for choice, allowed in zip(self.choices, regions.options, strict=True):
            option = self.option_of(choice, matrix)
            inside &= (option >= 0) & allowed[np.arange(len(matrix)), np.maximum(option, 0)]
        return np.asarray(inside)

    def split(self, regions: Regions, scores: Floats) -> tuple[Regions, Places]:
        """Return both halves of each region, cut along the coordinate with the largest score, and its number.

        The scores have a column per number and then one per choice. A coordinate that cannot be cut further
        is not chosen; regions that cannot be cut at all have no halves. All first halves come first.
        """
        n_numbers = len(self.numbers)
        middle = regions.low + (regions.high - regions.low) / 2
        middle = np.where(self.is_whole, np.floor(middle), middle)
        can_cut = np.empty((len(regions), self.n_coordinates), dtype=bool)
        can_cut[:, :n_numbers] = (middle >= regions.low) & (middle < regions.high)
        for at, allowed in enumerate(regions.options):
            can_cut[:, n_numbers + at] = allowed.sum(axis=1) > 1
        kept = np.flatnonzero(can_cut.any(axis=1))
        cut = np.where(can_cut, scores, -np.inf).argmax(axis=1)[kept]
        first, second = regions.take(kept), regions.take(kept)
        by_number = np.flatnonzero(cut < n_numbers)
        column = cut[by_number]
        at_cut = middle[kept[by_number], column]
        first.high[by_number, column] = at_cut
        second.low[by_number, column] = np.where(
            self.is_whole[column], at_cut + 1.0, np.nextafter(at_cut, np.inf)
        )
        for at in range(len(self.choices)):
            of_choice = np.flatnonzero(cut == n_numbers + at)
            allowed = regions.options[at][kept[of_choice]]
            is_first = np.cumsum(allowed, axis=1) * 2 <= allowed.sum(axis=1)[:, None]
            first.options[at][of_choice] = allowed & is_first
            second.options[at][of_choice] = allowed & ~is_first
        return Regions.joined([first, second]), np.concatenate([kept, kept])


def _known_values(column: Floats, name: str) -> Floats:
    is_known = np.isfinite(column)
    known = column if is_known.all() else column[is_known]
    if len(known) == 0:
        raise ValueError(f"Column '{name}' of domain has no known value; pass rows that show its range.")
    return known


class InputMap:
    """From regions of raw rows to boxes of a network's inputs.

    Parameters
    ----------
    model : PlainModel
        The network, with its input columns as functions of raw columns.
    domain : Domain
        The raw rows.
    """

    def __init__(self, model: PlainModel, domain: Domain) -> None:
        self._domain, self._n_inputs = domain, len(model.inputs)
        at_number = {int(column): at for at, column in enumerate(domain.numbers)}
        sources = np.array([column.source for column in model.inputs])
        self._read = np.array([i for i, s in enumerate(sources) if int(s) in at_number], dtype=np.intp)
        self._at = np.array([at_number[int(s)] for s in sources[self._read]], dtype=np.intp)
        numeric = [model.inputs[i] for i in self._read]
        if any(column.encode is not None for column in numeric):
            names = domain.features.names
            wrong = next(names[c.source] for c in numeric if c.encode is not None)
            raise UnsupportedLayerError(
                f"Column '{wrong}' is numeric in the rules, but an encoder of categories reads it; extract "
                "rules "
                "from the network itself, so that the column is categorical."
            )
        self._scale = np.array([column.scale for column in numeric])
        self._shift = np.array([column.shift for column in numeric])
        self._magnitude = np.array([column.magnitude for column in numeric])
        is_double = model.network.dtype == np.float64
        cast = 0.0 if is_double else _CAST_ERROR
        self._error = np.array([_COMPUTED_ERROR if c.is_computed else cast for c in numeric])
        self.choices: list[Choice] = []
        self.slack = np.zeros(self._n_inputs)
        for choice in domain.choices:
            self._add_choice(choice, model.inputs, sources)

    def _add_choice(self, choice: RawChoice, inputs: Sequence[PlainColumn], sources: NDArray[Any]) -> None:
        columns = np.flatnonzero(np.isin(sources, choice.columns))
        values = np.empty((choice.n_options, len(columns)))
        for place, column in enumerate(columns.tolist()):
            one = inputs[column]
            raw = choice.values[:, list(choice.columns).index(one.source)]
            if one.encode is not None:
                categories = self._domain.features.categories[one.source]
                known = raw.tolist() if categories is None else [categories[int(code)] for code in raw]
                raw = one.encode(known)
            elif self._domain.features.categories[one.source] is not None:
                raise UnsupportedLayerError(
                    f"Column '{self._domain.features.names[one.source]}' is categorical, and the network "
                    "reads it "
                    "without an encoder that proofs support (OneHotEncoder or OrdinalEncoder)."
                )
            values[:, place] = raw * one.scale + one.shift
            largest = np.abs(raw * one.scale).max(initial=0.0) + one.magnitude
            self.slack[column] = (_COMPUTED_ERROR if one.is_computed else _CAST_ERROR) * largest
        self.choices.append(Choice(columns, values))

    def boxes(self, regions: Regions) -> Boxes:
        """Return the boxes of the network's inputs that contain the regions, also after rounding."""
        ends = [part[:, self._at] * self._scale + self._shift for part in (regions.low, regions.high)]
        low, high = np.zeros((2, len(regions), self._n_inputs))
        low[:, self._read], high[:, self._read] = np.minimum(*ends), np.maximum(*ends)
        largest = np.maximum(np.abs(regions.low), np.abs(regions.high))[:, self._at] * np.abs(self._scale)
        error = self._error * (largest + self._magnitude)
        low[:, self._read] -= error
        high[:, self._read] += error
        return Boxes(low, high, regions.options)

    def inputs(self, matrix: Floats) -> Floats:
        """Return the network's inputs for encoded rows, up to rounding."""
        made = np.zeros((len(matrix), self._n_inputs))
        numbers = matrix[:, self._domain.numbers]
        made[:, self._read] = numbers[:, self._at] * self._scale + self._shift
        for raw, choice in zip(self._domain.choices, self.choices, strict=True):
            option = self._domain.option_of(raw, matrix)
            made[:, choice.columns] = choice.values[np.maximum(option, 0)]
        return made

    def pulled_back(self, slopes: Floats) -> tuple[Floats, list[Floats]]:
        """Return slopes with respect to the raw numbers, and the value of each option of each choice."""
        of_numbers = np.zeros((len(slopes), len(self._domain.numbers)))
        for at, scaled in zip(self._at, (slopes[:, self._read] * self._scale).T, strict=True):
            of_numbers[:, at] += scaled
        return of_numbers, [slopes[:, choice.columns] @ choice.values.T for choice in self.choices]

    def steepness(self, slopes: Floats) -> Floats:
        """Return the sum of the magnitudes that `pulled_back` adds up for each raw number."""
        totals = np.zeros((len(slopes), len(self._domain.numbers)))
        for at, scaled in zip(self._at, np.abs(slopes[:, self._read] * self._scale).T, strict=True):
            totals[:, at] += scaled
        return totals
