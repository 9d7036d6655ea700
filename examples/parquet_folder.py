"""A Parquet folder larger than memory: rules from twelve months of card payments

The rows of a year lie in twelve Parquet files. They are never in memory together: the model labels them batch
by batch, the rules are searched on a sample, and what is said about each rule is counted on all of them. The
payments are generated, and so few that they would fit into memory, so that the example runs anywhere; the
calls are the same for a folder of a terabyte.
"""

# %%
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

import clausewise

n_of_month = 30_000
columns = ["amount", "hour", "distance", "payments today", "shop"]
shops = ["fuel", "groceries", "jewellery", "online", "travel"]


def draw_payments(month):
    """Return the payments of a month, and which of them were reported as fraud."""
    rng = np.random.default_rng(month)
    n = n_of_month
    payments = pd.DataFrame(
        {
            "amount": rng.lognormal(3.5, 1.1, n).round(2),
            "hour": rng.integers(0, 24, n),
            "distance": rng.exponential(40 + 2 * month, n).round(1),
            "payments today": rng.poisson(1.5, n),
            "shop": rng.choice(shops, n, p=[0.2, 0.4, 0.05, 0.25, 0.1]),
        }
    )
    risk = np.log(payments["amount"]) + 0.02 * payments["distance"] + 0.5 * payments["payments today"]
    risk += 1.5 * (payments["hour"] < 6) + 1.5 * payments["shop"].isin(["jewellery", "online"])
    return payments, risk + rng.logistic(0, 0.5, n) > 8


# %% [markdown]
# ## A folder, and a model
# The model knows January only.

# %%
folder = Path(tempfile.mkdtemp()) / "payments"
folder.mkdir()
for month in range(1, 13):
    payments, _ = draw_payments(month)
    payments.to_parquet(folder / f"2026-{month:02}.parquet")
january, fraud = draw_payments(1)
categories = january.assign(shop=pd.Categorical(january["shop"], shops))
booster = HistGradientBoostingClassifier(max_iter=60, categorical_features="from_dtype", random_state=0)
booster.fit(categories[:20_000], np.where(fraud, "hold", "pay")[:20_000])


def decide(rows):
    """Return the decisions of the model, which wants its shops as categories."""
    return booster.predict(rows.assign(shop=pd.Categorical(rows["shop"], shops)))


print(f"{len(list(folder.iterdir()))} files, {12 * n_of_month:,} rows")

# %% [markdown]
# ## Rules from the folder
# The folder takes the place of the table. Any function that gives classes for rows takes the place of the
# model.

# %%
rules = clausewise.extract(decide, folder, max_rules=6)
rules

# %% [markdown]
# ## How faithful are they, on all rows?
# One pass over the files. `evaluate` counts, so that it needs no more memory for more rows.

# %%
rules.evaluate(folder, network=decide)

# %% [markdown]
# ## Month by month
# Each file is a table of its own, so the year can be looked at in parts. Distances grow during this year, so
# more payments are held.

# %%
months = sorted(folder.iterdir())
found = [rules.evaluate(file, network=decide) for file in months]
held = [np.mean(rules.predict(file) == "hold") for file in months]

figure, (upper, lower) = plt.subplots(2, figsize=(7, 4.5), sharex=True, layout="constrained")
names = [file.stem[-2:] for file in months]
upper.plot(names, [one.fidelity for one in found], marker="o")
upper.set(ylabel="fidelity")
lower.bar(names, held)
lower.set(xlabel="month of 2026", ylabel="payments held")

# %% [markdown]
# ## Decisions as a file
# Of a lazy frame of polars, `predict` makes a lazy frame: nothing is computed until it is written, and then a
# batch at a time.

# %%
decided = rules.predict(pl.scan_parquet(folder / "*.parquet"))
decided.sink_parquet(folder.parent / "decided.parquet")
pl.scan_parquet(folder.parent / "decided.parquet").group_by("prediction").len().sort("len").collect()

# %%
shutil.rmtree(folder.parent)
