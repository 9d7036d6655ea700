"""Small gradient-boosted models of a table with numbers, categories and missing values."""

import numpy as np
import pandas as pd

DRAW = np.random.default_rng(0)
N_ROWS = 300
PEOPLE = pd.DataFrame(
    {
        "age": DRAW.integers(18, 80, N_ROWS).astype(float),
        "job": pd.Categorical(DRAW.choice(["baker", "clerk", "smith", "cook"], N_ROWS)),
        "pay": np.where(DRAW.random(N_ROWS) < 0.25, np.nan, DRAW.lognormal(3, 1, N_ROWS).round(2)),
    }
)
NUMBERS = PEOPLE[["age", "pay"]].to_numpy()
IS_PAID = (PEOPLE.age > 45) & PEOPLE.job.isin(["clerk", "cook"]) | (PEOPLE.pay.isna() & (PEOPLE.age > 30))
TWO = IS_PAID.astype(int).to_numpy()
THREE = np.where(PEOPLE.age > 65, 2, TWO)


def xgboost_classifier(codes, X=PEOPLE, **options):
    import xgboost

    options = {"n_estimators": 4, "max_depth": 4, "enable_categorical": True, "n_jobs": 1} | options
    return xgboost.XGBClassifier(**options).fit(X, codes)


def xgboost_booster(codes, objective, X=PEOPLE):
    import xgboost

    parameters = {"objective": objective, "max_depth": 4, "nthread": 1}
    if objective.startswith("multi"):
        parameters["num_class"] = len(np.unique(codes))
    return xgboost.train(parameters, xgboost.DMatrix(X, codes, enable_categorical=True), 4)


def lightgbm_classifier(labels, X=PEOPLE, **options):
    import lightgbm

    options = {"n_estimators": 4, "num_leaves": 6, "verbose": -1, "n_jobs": 1} | options
    # By default, categories are only split if each has hundreds of rows.
    options |= {"min_data_per_group": 5, "cat_smooth": 1}
    return lightgbm.LGBMClassifier(**options).fit(X, labels)


def lightgbm_booster(codes, objective, X=PEOPLE):
    import lightgbm

    parameters = {"objective": objective, "num_leaves": 6, "verbose": -1, "num_threads": 1}
    parameters |= {"min_data_per_group": 5, "cat_smooth": 1}
    if objective != "binary":
        parameters["num_class"] = len(np.unique(codes))
    return lightgbm.train(parameters, lightgbm.Dataset(X, codes), 4)


def catboost_model(labels, kind="CatBoostClassifier", X=PEOPLE, **options):
    import catboost

    has_text = hasattr(X, "columns") and "job" in X.columns
    options = {"iterations": 4, "depth": 3, "verbose": 0, "allow_writing_files": False} | options
    options |= {"thread_count": 1, "cat_features": ["job"] if has_text else None}
    return getattr(catboost, kind)(**options if kind != "CatBoost" else {"params": options}).fit(X, labels)
