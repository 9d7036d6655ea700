"""Boosted C5.0: accuracy, size and time on four tables, beside scikit-learn and XGBoost.

    OMP_NUM_THREADS=1 python examples/boosted_c50.py    # all rows, five folds
    python examples/boosted_c50.py --quick              # a glance: fewer rows, folds and rounds

Every model has its default settings and 50 rounds. Accuracy is the mean over the folds. Size is what one
would have to read: all leaves, or all rules with their conditions. Time is processor time of all threads,
for fitting and predicting. XGBoost is left out where it is not installed.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from clausewise import C50Classifier

N_ROUNDS = 50


def clinic(n_rows: int = 4_000) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a synthetic table with categories, an ordered column, missing values and 5 % wrong labels."""
    rng = np.random.default_rng(0)
    pain = ["none", "mild", "strong", "severe"]
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows).astype(float),
            "pressure": rng.normal(130, 20, n_rows).round(),
            "dose": rng.gamma(2, 1, n_rows).round(1),
            "ward": pd.Categorical(rng.choice(list("ABCDEF"), n_rows)),
            "pain": pd.Categorical.from_codes(rng.integers(0, 4, n_rows), pain, ordered=True),
        }
    )
    at_risk = (table["age"] > 60) & (table["pressure"] > 135)
    at_risk |= table["ward"].isin(["B", "E"]) & (table["dose"] > 2.5) & (table["pain"].cat.codes >= 2)
    for column in ("age", "dose"):
        table.loc[rng.random(n_rows) < 0.08, column] = np.nan
    return table, (at_risk ^ (rng.random(n_rows) < 0.05)).to_numpy().astype(int)


def tables(is_quick: bool) -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    found = {
        "breast cancer": load_breast_cancer(return_X_y=True, as_frame=True),
        "wine": load_wine(return_X_y=True, as_frame=True),
        "digits": load_digits(return_X_y=True, as_frame=True),
        "clinic": clinic(),
    }
    most = 300 if is_quick else None
    return {name: (X[:most], np.asarray(y)[:most]) for name, (X, y) in found.items()}


def models(n_rounds: int) -> dict[str, object]:
    def encoded(model):
        # One column per category, where a model does not take categories as they are.
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        columns = make_column_transformer(
            (encoder, make_column_selector(dtype_include="category")), remainder="passthrough"
        )
        return make_pipeline(columns, model)

    listed = {
        "C5.0 rules, one": C50Classifier(n_jobs=1),
        "C5.0 rules, boosted": C50Classifier(trials=n_rounds, n_jobs=1),
        "C5.0 trees, boosted": C50Classifier(trials=n_rounds, rules=False, n_jobs=1),
        "HistGradientBoosting": encoded(HistGradientBoostingClassifier(max_iter=n_rounds, random_state=0)),
    }
    try:
        from xgboost import XGBClassifier
    except ImportError:
        return listed
    return listed | {"XGBoost": encoded(XGBClassifier(n_estimators=n_rounds, n_jobs=1, random_state=0))}


def size_of(model) -> str:
    """Return how much there is to read."""
    if isinstance(model, C50Classifier):
        if model.trials_[0].rules is None:
            return f"{sum(trial.size for trial in model.trials_):,} leaves"
        n_conditions = sum(len(rule.terms) for trial in model.trials_ for rule in trial.rules)
        return f"{sum(trial.size for trial in model.trials_):,} rules, {n_conditions:,} conditions"
    booster = model[-1]
    if hasattr(booster, "get_booster"):
        trees = booster.get_booster().trees_to_dataframe()
        return f"{int((trees['Feature'] == 'Leaf').sum()):,} leaves"
    return f"{sum(tree.get_n_leaf_nodes() for trees in booster._predictors for tree in trees):,} leaves"


def measured(model, X, y, n_folds: int) -> tuple[float, str, float]:
    """Return the mean accuracy, the size of the model of the last fold, and processor seconds per fold."""
    accuracies, started = [], time.process_time()
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
        fitted = clone(model).fit(X.iloc[train], y[train])
        accuracies.append(np.mean(fitted.predict(X.iloc[test]) == y[test]))
    seconds = (time.process_time() - started) / n_folds
    return float(np.mean(accuracies)), size_of(fitted), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows, folds and rounds")
    is_quick = parser.parse_args().quick
    n_folds, n_rounds = (2, 5) if is_quick else (5, N_ROUNDS)
    warnings.filterwarnings("ignore", message="Found unknown categories")
    print("| table | model | accuracy | size | seconds |\n|---|---|---|---|---|")
    for name, (X, y) in tables(is_quick).items():
        for what, model in models(n_rounds).items():
            accuracy, size, seconds = measured(model, X, y, n_folds)
            print(f"| {name} | {what} | {100 * accuracy:.1f} % | {size} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
