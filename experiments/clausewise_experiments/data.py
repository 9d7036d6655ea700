"""The rows of each task: from a data folder, from OpenML, or generated."""

import hashlib
import os
import urllib.error
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from clausewise_experiments.settings import DataSettings, TaskSettings, load_settings

VARIABLE: Final = "CLAUSEWISE_DATA"


class DataNotFoundError(RuntimeError):
    """The rows of a task are missing and could not be fetched; the message says what to do."""


@dataclass(frozen=True, eq=False)
class TaskData:
    """The rows of a task.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Raw rows.
    y : ndarray of int64, of shape (n_rows,)
        Class of each row, as an index into `class_names`.
    feature_names, class_names : tuple of str
        Names of columns and classes.
    fold : ndarray of int64, of shape (n_rows,), optional
        The fold in which each row is tested, where folds have been published.
    """

    X: NDArray[Any]
    y: NDArray[np.int64]
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    fold: NDArray[np.int64] | None = None

    @property
    def digest(self) -> str:
        """A short hash of these rows, in this order."""
        parts = [np.ascontiguousarray(self.X).tobytes(), self.y.astype("<i8").tobytes()]
        parts += [b"" if self.fold is None else self.fold.astype("<i8").tobytes()]
        parts += ["\n".join((*self.feature_names, *self.class_names)).encode()]
        return hashlib.sha256(b"|".join(parts)).hexdigest()[:20]

    def take(self, rows: NDArray[np.intp]) -> "TaskData":
        """Return the task with the rows at these positions only."""
        fold = None if self.fold is None else self.fold[rows]
        return TaskData(self.X[rows], self.y[rows], self.feature_names, self.class_names, fold)


def data_folder() -> Path | None:
    """Return the folder of data files: $CLAUSEWISE_DATA, or `../shared/data` beside a checkout."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    root = Path(__file__).parents[2]
    beside = root.parent / "shared" / "data"
    return beside if (root / "pyproject.toml").is_file() and beside.is_dir() else None


def load_task(task: str | Path | TaskSettings) -> TaskData:
    """Return the rows of a task, given by its name: `load_task("magic")`.

    A file in the data folder is used first; otherwise public data is fetched from OpenML, through
    scikit-learn's cache. The rows must match the task file: its `checksum`, or its number of rows per class.

    Raises
    ------
    DataNotFoundError
        If there is no file and nothing can be fetched; the message says what to do.
    """
    settings = task if isinstance(task, TaskSettings) else load_settings(task)
    data = settings.data
    if data.source == "xor":
        return generate_xor(data.n_rows or 1000, data.n_columns or 10, data.seed)
    path = find_file(data.file)
    if path is not None:
        return checked(read_file(path), settings.title, data)
    if data.source == "openml":
        return checked(fetch(settings), settings.title, data)
    raise DataNotFoundError(
        f"{settings.title} needs the file {data.file}, and {_where()}. Put it into a folder and set "
        f"{VARIABLE} to that folder; it cannot be downloaded because METABRIC has its own terms of use."
    )


def find_file(name: str | None) -> Path | None:
    """Return the path of a file in the data folder, or None if there is none."""
    folder = data_folder()
    if folder is None or name is None:
        return None
    path = folder / name
    return path if path.is_file() else None


def generate_xor(n_rows: int, n_columns: int, seed: int) -> TaskData:
    """Return uniform rows whose class is round(x1) xor round(x2) (the paper, section 4.1)."""
    X = np.random.default_rng(seed).uniform(size=(n_rows, n_columns))
    y = (X[:, 0] >= 0.5) ^ (X[:, 1] >= 0.5)
    names = tuple(f"x{number}" for number in range(1, n_columns + 1))
    return TaskData(X, y.astype(np.int64), names, ("0", "1"))


# --- Files ---


def read_file(path: Path) -> TaskData:
    """Read a `.npz` file with X, y, feature_names and class_names, or MiniBooNE's text file."""
    if path.suffix == ".txt":
        return read_miniboone(path)
    with np.load(path, allow_pickle=False) as file:
        missing = [key for key in ("X", "y", "feature_names", "class_names") if key not in file.files]
        if missing:
            raise ValueError(f"{path.name} has no array {missing[0]!r}; it has {', '.join(file.files)}.")
        return TaskData(
            file["X"],
            file["y"].astype(np.int64),
            tuple(file["feature_names"].tolist()),
            tuple(file["class_names"].tolist()),
            file["fold"].astype(np.int64) if "fold" in file.files else None,
        )


def read_miniboone(path: Path) -> TaskData:
    """Read UCI's MiniBooNE_PID.txt: the numbers of signal and background events, then one event per line."""
    with path.open(encoding="ascii") as file:
        head = file.readline().split()
        if len(head) != 2 or not all(part.isdigit() for part in head):
            raise ValueError(
                f"{path.name} begins with {' '.join(head)[:40]!r}; expected the numbers of signal and of "
                "background events, as in UCI's MiniBooNE_PID.txt."
            )
        X = np.loadtxt(file, dtype=np.float32, ndmin=2)
    n_signal, n_background = map(int, head)
    if len(X) != n_signal + n_background:
        raise ValueError(
            f"{path.name} announces {n_signal:,} + {n_background:,} events but holds {len(X):,}; "
            "it may be truncated, download it again."
        )
    y = np.repeat([1, 0], [n_signal, n_background])
    names = tuple(f"ParticleID_{number}" for number in range(X.shape[1]))
    return TaskData(X, y, names, ("background", "signal"))


# --- OpenML ---


def fetch(settings: TaskSettings) -> TaskData:
    """Fetch a task's rows from OpenML, through scikit-learn's cache."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # one for each failed attempt
            found = fetch_openml(data_id=settings.data.openml_id, as_frame=True, parser="auto")
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise DataNotFoundError(
            f"{settings.title} needs {settings.data.file}: {_where()}, and OpenML's data set "
            f"{settings.data.openml_id} could not be fetched ({error}). Run it once while online, or put the "
            f"file into a folder and set {VARIABLE} to it; docs/reproduction.md describes the format."
        ) from error
    return from_openml(found, settings.data)


def from_openml(found: Any, data: DataSettings) -> TaskData:
    """Convert what `fetch_openml` returns: the task's class names, sampled as the task file says."""
    frame = found.data.select_dtypes("number") if not data.sample else found.data
    X = frame.to_numpy(dtype=np.float64)
    labels = [data.classes.get(str(label), str(label)) for label in found.target]
    class_names = tuple(data.sample) or tuple(sorted(set(labels)))
    index = {name: number for number, name in enumerate(class_names)}
    y = np.array([index[label] for label in labels], dtype=np.int64)
    loaded = TaskData(X, y, tuple(map(str, frame.columns)), class_names)
    if not data.sample:
        return loaded
    random = np.random.default_rng(data.seed)
    drawn = [random.choice(np.flatnonzero(y == index[name]), n, False) for name, n in data.sample.items()]
    return loaded.take(np.sort(np.concatenate(drawn)))


# --- Checks ---


def content_checksum(data: TaskData) -> str:
    """Return a checksum of rows and classes that does not depend on their order or on the number format."""
    table = np.column_stack([data.y.astype(np.float64), data.X.astype(np.float32).astype(np.float64)])
    ordered = table[np.lexsort(table.T[::-1])]
    return hashlib.sha256(ordered.astype("<f8").tobytes()).hexdigest()


def checked(loaded: TaskData, title: str, data: DataSettings) -> TaskData:
    """Return the rows if they match the task file; raise an error otherwise."""
    if not np.isfinite(loaded.X).all():
        raise ValueError(
            f"The rows of {title} contain NaN or infinity; the paper's tasks have complete rows."
        )
    counts = {name: int((loaded.y == code).sum()) for code, name in enumerate(loaded.class_names)}
    if data.n_of_classes and counts != dict(data.n_of_classes):
        raise ValueError(f"{title} should have {dict(data.n_of_classes)} rows per class, but has {counts}.")
    if data.checksum is not None and content_checksum(loaded) != data.checksum:
        raise ValueError(
            f"The rows of {title} are not those of the paper: their checksum is {content_checksum(loaded)}, "
            f"expected {data.checksum}. Delete the file, or scikit-learn's cached copy, and get it again."
        )
    return loaded


def _where() -> str:
    folder = data_folder()
    return f"no data folder is set ({VARIABLE})" if folder is None else f"it is not in {folder}"
