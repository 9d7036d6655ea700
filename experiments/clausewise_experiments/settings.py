"""Settings of a task: read from a file in `tasks/`, checked, and reduced for smaller runs."""

import hashlib
import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from clausewise_experiments.methods import METHODS

T = TypeVar("T")

TASK_FOLDER: Final = Path(__file__).parent / "tasks"
# The order of the paper's table; covtype130k, which is not in the paper, comes last.
PAPER_ORDER: Final = ("xor", "mb-er", "mb-hist", "magic", "miniboone", "letters", "covtype130k")

Activation = Literal["tanh", "relu", "elu"]
ACTIVATIONS: Final[tuple[Activation, ...]] = ("tanh", "relu", "elu")
# The paper's architecture search.
WIDTHS: Final = (8, 16, 32, 64, 128)
EPOCHS: Final = (50, 100, 150, 200)
BATCH_SIZES: Final = (16, 32)

N_FOLDS: Final = 5


@dataclass(frozen=True)
class DataSettings:
    """Where the rows come from; see `data.load_task`."""

    source: Literal["xor", "file", "openml"]
    file: str | None = None
    openml_id: int | None = None
    classes: Mapping[str, str] = field(default_factory=dict)
    n_of_classes: Mapping[str, int] = field(default_factory=dict)
    sample: Mapping[str, int] = field(default_factory=dict)
    n_rows: int | None = None
    n_columns: int | None = None
    seed: int = 0
    checksum: str | None = None


@dataclass(frozen=True)
class FoldSettings:
    """How rows are divided into five folds: randomly, stratified by class, or as published in the file."""

    kind: Literal["stratified", "published"]
    seed: int = 0


@dataclass(frozen=True)
class NetworkSettings:
    """The network and its training. `published` names a file with trained weights, one network per fold."""

    hidden: tuple[int, ...]
    activation: Activation
    epochs: int
    batch_size: int
    scaling: Literal["none", "min-max"]
    learning_rate: float = 1e-3
    seed: int = 0
    published: str | None = None
    use_published: bool = False


@dataclass(frozen=True)
class CopingSettings:
    """Values to try for the four coping mechanisms of the paper's appendix."""

    min_cases: tuple[float, ...]
    layers: tuple[str, ...]
    rows: tuple[float, ...]
    dropped: tuple[float, ...]
    fixed_min_cases: float


@dataclass(frozen=True)
class Limits:
    """Limits of one extraction.

    Attributes
    ----------
    seconds, rules, megabytes
        `max_seconds`, `max_product_rules` and `max_memory` of REM-D and DeepRED*.
    process_seconds
        Any process is stopped after this time, which includes scoring μ on held-out rows.
    """

    seconds: float = 60.0
    rules: int = 100_000
    megabytes: int = 1024
    process_seconds: float = 1800.0

    def __str__(self) -> str:
        return f"{self.seconds:g} s, {self.rules:,} rules and {self.megabytes:,} MB"


@dataclass(frozen=True)
class CartSettings:
    """Settings of CART that the paper does not state, chosen to give as many rules on Letters as it reports.

    Attributes
    ----------
    ccp_alpha
        Strength of cost-complexity pruning.
    balanced
        Whether ECLAIRE balances the targets of its clauses. Clauses hold on few rows; without balancing,
        their trees are pruned to nothing.
    """

    ccp_alpha: float = 1.4e-4
    balanced: bool = True


@dataclass(frozen=True)
class TaskSettings:
    """One task: the settings in its file, with the changes of the run.

    Attributes
    ----------
    name, title
        The name of the file, and the name used in tables.
    data, folds, network
        Rows, folds, and the network with its training.
    architectures
        The search of `clausewise-experiments architectures`: `n_hidden`, `epochs`, `batch_sizes`.
    min_cases
        Values of the paper's μ for each method; a value below 1 is a fraction of the rows.
    budgets
        Numbers of rules for compact rule sets.
    coping
        Values for the paper's coping mechanisms, if they are tried on this task.
    limits
        Limits of one extraction.
    cart
        Settings of CART.
    max_rows
        Maximum number of rows; all by default.
    n_folds_run
        Number of folds to run, out of five.
    """

    name: str
    title: str
    data: DataSettings
    folds: FoldSettings
    network: NetworkSettings
    architectures: Mapping[str, Any]
    min_cases: Mapping[str, tuple[float, ...]]
    budgets: tuple[int, ...]
    coping: CopingSettings | None = None
    limits: Limits = field(default_factory=Limits)
    cart: CartSettings = field(default_factory=CartSettings)
    max_rows: int | None = None
    n_folds_run: int = N_FOLDS

    def reduced(self, scale: "Scale") -> "TaskSettings":
        """Return the task at another scale."""
        network = replace(
            self.network,
            epochs=max(1, round(self.network.epochs * scale.epochs)),
            use_published=scale.published and self.network.published is not None,
        )
        coping = self.coping
        if coping is not None:
            coping = replace(
                coping,
                min_cases=thinned(coping.min_cases, scale.max_coping_values),
                layers=thinned(coping.layers, scale.max_coping_values),
                rows=thinned(coping.rows, scale.max_coping_values),
                dropped=thinned(coping.dropped, scale.max_coping_values),
            )
        return replace(
            self,
            network=network,
            min_cases={name: scale.values_for(name, values) for name, values in self.min_cases.items()},
            budgets=self.budgets[: scale.max_budgets],
            coping=coping,
            limits=scale.limits,
            max_rows=scale.max_rows,
            n_folds_run=min(self.n_folds_run, scale.n_folds),
        )


@dataclass(frozen=True)
class Scale:
    """How much of a task is run; all of it by default.

    Attributes
    ----------
    n_folds
        Run the first `n_folds` of the five folds.
    max_values, max_termwise_values, max_coping_values, max_budgets
        Maximum number of values of μ per method (evenly spread, both ends included), of values for REM-D and
        DeepRED, of settings per coping mechanism, and of compact rule sets.
    max_rows
        Maximum number of rows, drawn at random.
    epochs
        Fraction of the epochs that networks are trained for.
    published
        Use published networks where they exist, instead of training.
    limits
        Limits of one extraction.
    """

    n_folds: int = N_FOLDS
    max_values: int | None = None
    max_termwise_values: int | None = None
    max_coping_values: int | None = None
    max_budgets: int | None = None
    max_rows: int | None = None
    epochs: float = 1.0
    published: bool = False
    limits: Limits = field(default_factory=Limits)

    def values_for(self, name: str, values: tuple[float, ...]) -> tuple[float, ...]:
        """Return the values of μ to run for a method."""
        kept = thinned(values, self.max_values)
        return thinned(kept, self.max_termwise_values) if METHODS[name].is_termwise else kept


# Keys that a task file may have.
KNOWN_KEYS: Final = frozenset(
    ("title", "data", "folds", "network", "architectures", "min_cases", "compact", "coping", "cart")
)

QUICK: Final = Scale(
    n_folds=2,
    max_values=2,
    max_coping_values=2,
    max_budgets=1,
    max_rows=500,
    epochs=0.1,
    limits=Limits(seconds=2.0, rules=5_000, megabytes=256, process_seconds=20.0),
)


def task_names() -> list[str]:
    """Return the names of all tasks, in the paper's order."""
    found = {path.stem for path in TASK_FOLDER.glob("*.toml")}
    return [name for name in PAPER_ORDER if name in found] + sorted(found - set(PAPER_ORDER))


def load_settings(task: str | Path) -> TaskSettings:
    """Return the settings of a task, given by its name or by the path of a task file."""
    path = Path(task) if str(task).endswith(".toml") else TASK_FOLDER / f"{task}.toml"
    if not path.is_file():
        raise ValueError(
            f"There is no task {str(task)!r}; there are {', '.join(task_names())}, or pass a .toml file."
        )
    try:
        return _settings_of(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"The task file {path.name} cannot be used: {error}") from error


def _settings_of(name: str, content: dict[str, Any]) -> TaskSettings:
    unknown = sorted(set(content) - KNOWN_KEYS)
    if unknown:
        raise ValueError(f"it has {unknown[0]!r}; there are {', '.join(sorted(KNOWN_KEYS))}.")
    min_cases = {method: grid(values) for method, values in content["min_cases"].items()}
    unknown = sorted(set(min_cases) - set(METHODS))
    if unknown:
        raise ValueError(f"min_cases names the method {unknown[0]!r}; there are {', '.join(METHODS)}.")
    network = NetworkSettings(**{**content["network"], "hidden": tuple(content["network"]["hidden"])})
    if network.activation not in ACTIVATIONS:
        raise ValueError(f"activation is {network.activation!r}; expected one of {', '.join(ACTIVATIONS)}.")
    if network.scaling not in ("none", "min-max"):
        raise ValueError(f"scaling is {network.scaling!r}; expected 'none' or 'min-max'.")
    cart = CartSettings(**content.get("cart", {}))
    if not 0.0 <= cart.ccp_alpha < math.inf:
        raise ValueError(f"ccp_alpha is {cart.ccp_alpha!r}; expected a number of 0 or more.")
    coping = content.get("coping")
    return TaskSettings(
        name=name,
        title=content["title"],
        data=DataSettings(**content["data"]),
        folds=FoldSettings(**content["folds"]),
        network=network,
        architectures=content.get("architectures", {}),
        min_cases=min_cases,
        budgets=tuple(content.get("compact", {}).get("budgets", ())),
        coping=None
        if coping is None
        else CopingSettings(
            grid(coping["min_cases"]),
            tuple(coping["layers"]),
            tuple(coping["rows"]),
            tuple(coping["dropped"]),
            coping["fixed_min_cases"],
        ),
        cart=cart,
    )


def grid(values: Mapping[str, float] | Sequence[float]) -> tuple[float, ...]:
    """Return the values of μ described by `{first, last, step}` or by a list."""
    if not isinstance(values, Mapping):
        return tuple(values)
    first, last, step = values["first"], values["last"], values["step"]
    n_values = math.floor((last - first) / step + 1e-9) + 1
    if n_values < 1:
        raise ValueError(f"There is no value from {first:g} to {last:g} in steps of {step:g}.")
    # Rounded, so that 0.1 + 2 * 0.05 is written as 0.2.
    return tuple(round(first + number * step, 10) for number in range(n_values))


def thinned(values: Sequence[T], max_values: int | None) -> tuple[T, ...]:
    """Return at most `max_values` of the values, evenly spread, with the first and the last."""
    if max_values is None or len(values) <= max_values:
        return tuple(values)
    if max_values == 1:
        return (values[0],)
    positions = [round(i * (len(values) - 1) / (max_values - 1)) for i in range(max_values)]
    return tuple(values[position] for position in positions)


def digest(value: Any) -> str:
    """Return a short hash that identifies a value."""
    text = json.dumps(value, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _plain(value: Any) -> Any:
    return asdict(value)
