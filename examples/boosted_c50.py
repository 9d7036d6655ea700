"""Boosted C5.0: accuracy, size and time beside scikit-learn and XGBoost

C5.0 in one set of rules, boosted rules and boosted trees, and gradient boosting from two other libraries, on
four tables. Every model has its default settings and 50 rounds.
Run it with OMP_NUM_THREADS=1 to compare times.
"""

# %%
import time
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from xgboost import XGBClassifier

from clausewise import C50Classifier

n_rounds, n_folds = 50, 5

# %% [markdown]
# ## Four tables
# Three come with scikit-learn. The fourth is generated: categories, an ordered column, missing values and 5 %
# wrong labels.

# %%
rng = np.random.default_rng(0)
n = 4_000
clinic = pd.DataFrame(
    {
        "age": rng.integers(18, 90, n).astype(float),
        "pressure": rng.normal(130, 20, n).round(),
        "dose": rng.gamma(2, 1, n).round(1),
        "ward": pd.Categorical(rng.choice(list("ABCDEF"), n)),
        "pain": pd.Categorical.from_codes(
            rng.integers(0, 4, n), ["none", "mild", "strong", "severe"], ordered=True
        ),
    }
)
at_risk = (clinic["age"] > 60) & (clinic["pressure"] > 135)
at_risk |= clinic["ward"].isin(["B", "E"]) & (clinic["dose"] > 2.5) & (clinic["pain"] >= "strong")
at_risk ^= rng.random(n) < 0.05
for column in ("age", "dose"):
    clinic.loc[rng.random(n) < 0.08, column] = np.nan
tables = {
    "breast cancer": load_breast_cancer(return_X_y=True, as_frame=True),
    "wine": load_wine(return_X_y=True, as_frame=True),
    "digits": load_digits(return_X_y=True, as_frame=True),
    "clinic": (clinic, at_risk.astype(int)),
}

# %% [markdown]
# ## Five models
# `C50Classifier` takes categories and missing values as they are; the others get a column per category.

# %%
encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
encoded = make_column_transformer(
    (encoder, make_column_selector(dtype_include="category")), remainder="passthrough"
)
models = {
    "C5.0 rules, one": C50Classifier(n_jobs=1),
    "C5.0 rules, boosted": C50Classifier(trials=n_rounds, n_jobs=1),
    "C5.0 trees, boosted": C50Classifier(trials=n_rounds, rules=False, n_jobs=1),
    "HistGradientBoosting": make_pipeline(
        encoded, HistGradientBoostingClassifier(max_iter=n_rounds, random_state=0)
    ),
    "XGBoost": make_pipeline(encoded, XGBClassifier(n_estimators=n_rounds, n_jobs=1, random_state=0)),
}


# %% [markdown]
# ## Accuracy, size and time
# Accuracy is the mean over the folds. Size is what one would have to read: all leaves, or all rules with
# their conditions. Time is processor time for fitting and predicting, per fold.


# %%
def size_of(model):
    """Return how many rules and conditions, or leaves, there are to read."""
    if isinstance(model, C50Classifier):
        if model.trials_[0].rules is None:
            return sum(trial.size for trial in model.trials_)
        return sum(1 + len(rule.terms) for trial in model.trials_ for rule in trial.rules)
    if isinstance(model[-1], XGBClassifier):
        return int((model[-1].get_booster().trees_to_dataframe()["Feature"] == "Leaf").sum())
    return sum(tree.get_n_leaf_nodes() for trees in model[-1]._predictors for tree in trees)


measured = []
warnings.filterwarnings("ignore", message="Found unknown categories")
for table, (X, y) in tables.items():
    for name, model in models.items():
        accuracies, started = [], time.process_time()
        for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
            fitted = clone(model).fit(X.iloc[train], y.iloc[train])
            accuracies.append(np.mean(fitted.predict(X.iloc[test]) == y.iloc[test]))
        seconds = (time.process_time() - started) / n_folds
        measured.append((table, name, np.mean(accuracies), size_of(fitted), seconds))
results = pd.DataFrame(measured, columns=["table", "model", "accuracy", "to read", "seconds"])
print(results.round({"accuracy": 3, "seconds": 2}).to_string(index=False))

# %% [markdown]
# Boosted, C5.0 is about as accurate as the others, and as long. A single rule set can be read, and on the
# clinic's table it is as accurate as any of them.

# %%
figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, rows in results.groupby("model", sort=False):
    axis.plot(rows["to read"], 100 * rows["accuracy"], "o", label=name, alpha=0.8)
axis.set(xscale="log", xlabel="rules and conditions, or leaves", ylabel="accuracy (%)")
axis.legend(frameon=False, fontsize=8)
