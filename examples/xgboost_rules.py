"""XGBoost to rules: hundreds of leaves, a few rules

A gradient-boosted model decides by the sum of hundreds of leaves. `extract` reads its trees, takes the paths
that say most about its decisions, and searches the short rule set that imitates it best.
"""

# %%
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

import clausewise

rng = np.random.default_rng(0)
n = 4_000
calls = pd.DataFrame(
    {
        "months as customer": rng.gamma(2, 14, n).round(),
        "monthly price": rng.choice([15, 25, 40, 60], n),
        "support calls": rng.poisson(1.1, n),
        "contract": pd.Categorical(rng.choice(["monthly", "one year", "two years"], n, p=[0.5, 0.3, 0.2])),
        "data used": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(2, 0.8, n).round(1)),
    }
)
leaves = (
    (calls["contract"] == "monthly") & (calls["months as customer"] < 18) & (calls["monthly price"] >= 40)
)
leaves |= (calls["support calls"] >= 3) & (calls["contract"] != "two years")
leaves ^= rng.random(n) < 0.04
X, X_test, y, y_test = train_test_split(calls, leaves.astype(int), random_state=0)

# %%
model = XGBClassifier(n_estimators=100, max_depth=4, enable_categorical=True, n_jobs=1, random_state=0)
model.fit(X, y)
trees = model.get_booster().trees_to_dataframe()
n_leaves = (trees["Feature"] == "Leaf").sum()
print(f"{n_leaves:,} leaves, right on {model.score(X_test, y_test):.1%} of the test rows")

# %% [markdown]
# ## The same decisions, to read

# %%
rules = clausewise.extract(model, X)
rules

# %%
figures = rules.evaluate(X_test, y_test, network=model)
print(f"{len(rules)} rules decide as the model does on {figures.fidelity:.1%} of the test rows")

# %% [markdown]
# ## Which tree did a rule come from?

# %%
for number, rule in enumerate(rules):
    print(number, rule.origin)

# %% [markdown]
# ## What a longer rule set would buy

# %%
frontier = rules.frontier(X, model, by="rules", max_rules=10)
frontier

# %%
frontier.plot()
