"""Several inputs: from the rows of one table to the arrays that a model takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from clausewise.base.parameters import NOTHING, Constraint
from clausewise.networks.preprocess import as_numbers

InputKey = str | int
"""The name of an input, or its position among several."""

ColumnChoice = str | int | Sequence[str | int]
"""Columns by name or position: a list gives an array of shape (n_rows, n_columns), one alone (n_rows,)."""

InputChoice = Mapping[str, ColumnChoice] | Callable[[Any], Any] | None
"""The values of `inputs=`; see `wrap`."""


def _is_column(value: Any) -> bool:
    is_position = hasattr(value, "__index__") and not isinstance(value, bool | np.bool_)
    return isinstance(value, str) or is_position


def _are_columns(value: Any) -> bool:
    if _is_column(value):
        return True
    is_list = isinstance(value, Sequence | np.ndarray) and len(value) > 0
    return is_list and all(map(_is_column, value))


def _are_inputs(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return callable(value) and not isinstance(value, type)
    return len(value) > 0 and all(isinstance(key, str) and _are_columns(value[key]) for key in value)


INPUTS: Final = NOTHING | Constraint(
    "a mapping from the names of the model's inputs to columns (names or positions), or a function from rows "
    "to what the model takes",
    _are_inputs,
)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The rows of a batch as several arrays, each with one entry per row.

    Attributes
    ----------
    arrays : dict
        The array of each input, by its name, or by its position.
    """

    arrays: Mapping[InputKey, NDArray[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def __getitem__(self, rows: Any) -> "Inputs":
        return Inputs({key: array[rows] for key, array in self.arrays.items()})

    @property
    def keys(self) -> tuple[InputKey, ...]:
        """The inputs, in order."""
        return tuple(self.arrays)

    @property
    def row_shapes(self) -> tuple[tuple[InputKey, tuple[int, ...]], ...]:
        """The shape of one row of each input."""
        return tuple((key, array.shape[1:]) for key, array in self.arrays.items())


Rows = NDArray[Any] | Inputs
"""What an adapter evaluates: one array, or several."""


def row_shape(rows: Any) -> tuple[Any, ...]:
    """Return the shape of one row, or of one row of each input."""
    shape: tuple[Any, ...] = rows.row_shapes if isinstance(rows, Inputs) else rows.shape[1:]
    return shape


def shapes_text(rows: Rows) -> str:
    """Return the shape of one row for error messages: `(4,)`, or `numeric (3,), codes (2,)`."""
    if isinstance(rows, Inputs):
        return ", ".join(f"{key} {shape}" for key, shape in rows.row_shapes)
    return str(rows.shape[1:])


@dataclass(frozen=True, eq=False)
class InputReader:
    """Reads the inputs of a model from rows.

    Attributes
    ----------
    choice : mapping or callable
        Allowed by `INPUTS`.
    """

    choice: Mapping[str, ColumnChoice] | Callable[[Any], Any]

    def read(
        self, rows: Any, names: Sequence[str] | None, dtype_of: Callable[[InputKey], np.dtype[Any]]
    ) -> Inputs:
        """Return the inputs for some rows.

        Parameters
        ----------
        rows : array or DataFrame
            The rows, after preprocessing.
        names : sequence of str, optional
            Names of the columns of an array.
        dtype_of : callable
            The type in which the model reads the columns of an input.
        """
        if callable(self.choice):
            return _as_inputs(self.choice(rows), _title(self.choice), len(rows))
        frame = nw.from_native(rows, eager_only=True, pass_through=True)
        known = frame.columns if isinstance(frame, nw.DataFrame) else names
        arrays: dict[InputKey, NDArray[Any]] = {}
        for key, columns in self.choice.items():
            if isinstance(frame, nw.DataFrame):
                places = self.positions(key, known, frame.shape[1])
                values = frame.select([frame.columns[place] for place in places]).to_numpy()
            else:
                table = np.asarray(rows)
                if table.ndim != 2:
                    raise ValueError(
                        f"X has shape {table.shape}, but inputs= chooses columns of a table; pass rows of a "
                        "table, or a function as inputs."
                    )
                values = table[:, self.positions(key, known, table.shape[1])]
            numbers = as_numbers(values, dtype_of(key))
            arrays[key] = numbers[:, 0] if _is_column(columns) else numbers
        return Inputs(arrays)

    def positions(self, key: InputKey, names: Sequence[str] | None, n_columns: int) -> list[int]:
        """Return the positions of the columns that an input is made of."""
        assert isinstance(self.choice, Mapping)
        chosen = self.choice[str(key)]
        return [
            _position(column, key, names, n_columns)
            for column in ([chosen] if _is_column(chosen) else list(chosen))  # type: ignore[arg-type]
        ]

    def columns_read(self, names: Sequence[str], keys: Sequence[InputKey] | None = None) -> list[str] | None:
        """Return the names of the columns of some inputs (all unless given); None if they are unknown."""
        if callable(self.choice):
            return None
        wanted = self.choice if keys is None else keys
        places = [place for key in wanted for place in self.positions(key, names, len(names))]
        return [names[place] for place in dict.fromkeys(places)]

    def __str__(self) -> str:
        if callable(self.choice):
            return f"inputs made by {_title(self.choice)}"
        sizes = (1 if _is_column(columns) else len(columns) for columns in self.choice.values())  # type: ignore[arg-type]
        return (
            f"inputs {', '.join(f'{key} ({size:,})' for key, size in zip(self.choice, sizes, strict=True))}"
        )


def _title(function: Callable[[Any], Any]) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return "a function" if name == "<lambda>" else str(name)


def _position(column: Any, key: InputKey, names: Sequence[str] | None, n_columns: int) -> int:
    if not isinstance(column, str):
        place = int(column)
        if not -n_columns <= place < n_columns:
            raise ValueError(f"inputs[{key!r}] has the column {place}, but X has {n_columns} columns.")
        return place % n_columns
    if names is None:
        raise ValueError(
            f"inputs[{key!r}] names the column {column!r}, but X has no column names; pass a DataFrame, "
            "feature_names=, or positions of columns."
        )
    if column not in names:
        raise ValueError(
            f"inputs[{key!r}] names the column {column!r}, which X does not have; pass the columns that the "
            "model was trained on."
        )
    return list(names).index(column)


def _as_inputs(made: Any, title: str, n_rows: int) -> Inputs:
    """Return what the caller's function makes of rows: a tuple, a mapping or one array."""
    if isinstance(made, Mapping):
        parts: dict[InputKey, Any] = {str(key): part for key, part in made.items()}
    elif isinstance(made, tuple | list):
        parts = dict(enumerate(made))
    else:
        parts = {0: made}
    if not parts:
        raise ValueError(f"inputs= ({title}) returned nothing; return an array, a tuple or a dictionary.")
    arrays = {key: _as_array(part) for key, part in parts.items()}
    for key, array in arrays.items():
        if array.ndim == 0 or len(array) != n_rows:
            raise ValueError(
                f"inputs= ({title}) returned an array of shape {array.shape} as {key!r} for {n_rows} rows; "
                "the first axis must be the rows."
            )
    return Inputs(arrays)


def _as_array(part: Any) -> NDArray[Any]:
    """Return a part as floats, whole numbers or booleans, whatever the caller made it."""
    if hasattr(part, "detach"):  # a PyTorch tensor
        part = part.detach().cpu().numpy()
    array = np.asarray(part)
    if array.dtype.kind in "iu":
        return np.ascontiguousarray(array, dtype=np.int64)
    return array if array.dtype.kind == "b" else as_numbers(array, np.dtype(np.float64))
