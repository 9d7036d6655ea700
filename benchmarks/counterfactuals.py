"""Counterfactuals: how many a network confirms, how large they are, and what they cost.

For four tables, a network of three hidden layers and the 16 rules that `extract` finds for it, on test rows:
the smallest changes for the rules alone, put to the network afterwards; and those that are searched for with
the network. CPU seconds include the network's. Needs the tables beside the recorded networks
(`benchmarks/_recorded.py`).
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks._measure import timed
from benchmarks._recorded import SHARED
from clausewise import Counterfactuals, RuleSet, extract

DATA = SHARED / "data"
TABLES = ("adult", "magic", "car", "nursery")
N_RULES, N_ROWS, N_JOBS = 16, 1_000, 2
HIDDEN_LAYERS = (64, 32, 16)


@dataclass(frozen=True)
class Case:
    """A network and rules for a table, its training rows, and the test rows to find changes for."""

    network: Any
    rules: RuleSet
    train: pd.DataFrame
    rows: pd.DataFrame


def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns of a table and its classes."""
    if (DATA / f"{name}.npz").exists():
        with np.load(DATA / f"{name}.npz", allow_pickle=False) as file:
            return pd.DataFrame(file["X"], columns=file["feature_names"].astype(object)), file["y"]
    table = pd.read_csv(DATA / f"{name}.csv.gz", keep_default_na=False, na_values=[""])
    return table.iloc[:, :-1], table.iloc[:, -1].to_numpy()


def prepare(name: str) -> Case:
    """Train the network and extract the rules."""
    X, y = load(name)
    train, test, y_train, _ = train_test_split(X, y, test_size=0.25, random_state=0)
    columns = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        remainder=OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    network = MLPClassifier(HIDDEN_LAYERS, early_stopping=True, max_iter=60, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 60 epochs suffice here
        model = make_pipeline(columns, network).fit(train, y_train)
        rules = extract(model, train, max_rules=N_RULES, n_jobs=N_JOBS)
    return Case(model, rules, train, test[:N_ROWS])


def searches(case: Case) -> Iterator[tuple[str, partial[Counterfactuals]]]:
    """Yield the ways to search, and what they are called in the output."""
    search = partial(case.rules.counterfactuals, case.rows, reference=case.train, n_jobs=N_JOBS)
    yield "rules alone", search
    yield "with the network", partial(search, network=case.network)
    yield "up to 3 features", partial(search, network=case.network, max_features=3)
    yield "300 questions", partial(search, network=case.network, max_queries=300)


def summary(case: Case, found: Counterfactuals) -> tuple[float, float, float]:
    """Return the fraction of rows with a confirmed change in %, its mean distance and number of features."""
    predicted = case.network.predict(found.rows)
    confirmed = [one for one, label in zip(found, predicted, strict=True) if one.becomes == label]
    n_features = np.mean([len(one.changes) for one in confirmed])
    distance = np.mean([one.distance for one in confirmed])
    return 100 * len(confirmed) / len(found), float(distance), float(n_features)


def main() -> None:
    if not DATA.is_dir():
        print(f"\nCounterfactuals: not run, the tables are not in {DATA}; see benchmarks/_recorded.py.")
        return
    print(f"\nCounterfactuals with {N_RULES} rules and a network of hidden layers {HIDDEN_LAYERS}\n")
    columns = ("rows", "confirmed %", "distance", "features", "cpu s", "wall s")
    print(f"{'table':<10}{'search':<18}" + "".join(f"{column:>13}" for column in columns))
    with threadpool_limits(N_JOBS):
        for name in TABLES:
            case = prepare(name)
            for title, search in searches(case):
                confirmed, distance, n_features = summary(case, search())
                cost = timed(search, 3)
                numbers = f"{len(case.rows):>13,}{confirmed:>13.1f}{distance:>13.3f}{n_features:>13.2f}"
                print(f"{name:<10}{title:<18}{numbers}{cost.cpu:>13.2f}{cost.wall:>13.2f}", flush=True)


if __name__ == "__main__":
    main()
