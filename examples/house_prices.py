"""House prices: a start value, and what each rule adds

A network prices houses, in thousands. Rules for numbers imitate it as a house owner would put it: start with
one price, then add or subtract an amount for each rule that fires. The table is generated: districts of a
coast like California's.
"""

# %%
import warnings

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import clausewise

rng = np.random.default_rng(0)
n = 8_000
place = rng.choice(["north", "bay", "valley", "south"], n, p=[0.15, 0.3, 0.25, 0.3])
inland = rng.gamma(1.5, 35, n) + np.where(place == "valley", 90, 0)
income = rng.lognormal(1.25, 0.45, n) * np.where(place == "bay", 1.2, 1.0)
districts = pd.DataFrame(
    {
        "income": income.round(2),
        "house age": rng.integers(1, 53, n),
        "rooms": np.clip(rng.normal(4.2 + 0.35 * income, 0.9), 1.5, 12).round(1),
        "people per household": np.clip(rng.normal(2.9, 0.6, n), 1.2, 7).round(1),
        "km to the sea": inland.round(),
        "place": place,
    }
)
price = 42 * income + 110 * np.exp(-inland / 25) + 12 * districts["rooms"]
price += np.where((place == "bay") & (inland < 60), 60, 0) - np.where(place == "north", 35, 0)
price += np.where(districts["house age"] > 40, 25, 0) - 28 * (districts["people per household"] - 3)
price = (price + rng.normal(0, 25, n)).clip(15, 800).round(1)
X, X_test, y, y_test = train_test_split(districts, price, random_state=0)
districts.assign(price=price).head(3)

# %% [markdown]
# ## The model

# %%
columns = make_column_transformer((OneHotEncoder(), ["place"]), remainder=StandardScaler())
model = make_pipeline(columns, MLPRegressor(hidden_layer_sizes=(64, 32), max_iter=120, random_state=0))
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    model.fit(X, y)
print(f"R² of the network on test rows: {model.score(X_test, y_test):.3f}")

# %% [markdown]
# ## Twelve rules

# %%
rules = clausewise.extract(model, X, max_rules=12)
rules

# %% [markdown]
# How close they are to the network and to the true prices, on districts that neither has seen:

# %%
rules.evaluate(X_test, y_test, network=model)

# %% [markdown]
# ## One district
# An explanation is the sum itself, and adds up exactly.

# %%
rules.explain(X_test.iloc[[0]])[0]

# %%
clausewise.plots.SumDisplay.from_rules(rules, X_test.iloc[[0]])

# %% [markdown]
# What would bring it above 250?

# %%
rules.counterfactuals(X_test.iloc[[0]], above=250, network=model, fixed=["place"])

# %% [markdown]
# ## Half as many rules, with a linear part
# Where the price rises steadily with a column, a coefficient says it better than a staircase of rules.

# %%
short = clausewise.RuleRegressor(model, max_rules=6, linear=3).fit(X).rules_
short

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for axis, chosen in zip(axes, (rules, short), strict=True):
    clausewise.plots.ParityDisplay.from_rules(chosen, X_test, model, ax=axis)
figure.suptitle("Left: 12 rules. Right: 6 rules and a linear part.")

# %% [markdown]
# ## A page to explore them
# Any district as a sum, what more rooms would change, and where the rules are far from the network.

# %%
rules.report("house-prices.html", X_test, y_test, network=model, title="What houses cost")
