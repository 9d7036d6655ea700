"""Editing with an expert: correct rules, keep the log, see what changes

Rules from a model repeat what its data said, also where that is wrong. An expert can add, replace and remove
rules in a small language, and see which decisions flip before anything is deployed.
"""

# %%
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

import clausewise

rng = np.random.default_rng(0)
n = 2_500
patients = pd.DataFrame(
    {
        "age": rng.integers(18, 95, n),
        "pressure": rng.normal(132, 18, n).round(),
        "glucose": rng.lognormal(4.65, 0.25, n).round(),
        "smokes": rng.choice(["never", "before", "now"], n, p=[0.5, 0.25, 0.25]),
    }
)
risk = (patients["age"] > 65) & (patients["pressure"] > 140) | (patients["glucose"] > 140)
# Smokers were treated elsewhere, so their risk is missing from this hospital's labels.
risk &= patients["smokes"] != "now"
y = np.where(risk, "follow up", "discharge")
X, X_test, y, y_test = train_test_split(patients.astype({"smokes": "category"}), y, random_state=0)
model = HistGradientBoostingClassifier(max_iter=60, random_state=0).fit(X, y)
rules = clausewise.extract(model, X)
rules

# %% [markdown]
# ## What the expert sees
# The rules send smokers home, because the labels did. That is an artefact, so the expert says what must hold
# whatever the data says. Where a rule with priority fires, only such rules vote; elsewhere nothing changes.

# %%
edited = rules.add(
    'IF smokes = now AND pressure > 150 THEN "follow up"', priority=True, note="smokers are under-reported"
)
edited = edited.add('IF glucose > 180 THEN "follow up"', priority=True, note="guideline")
for change in edited.changes:
    print(change)

# %% [markdown]
# A slip of the pen is found at once:

# %%
try:
    edited.add('IF smoker = now THEN "follow up"')
except clausewise.RuleTextError as error:
    print(error)

# %% [markdown]
# ## Before and after
# Which rules changed, and whom that concerns.

# %%
comparison = rules.compare(edited, X_test)
comparison

# %%
flipped = X_test[rules.predict(X_test) != edited.predict(X_test)]
flipped.head(3)

# %%
figure, axis = plt.subplots(figsize=(6, 3.4), layout="constrained")
same = X_test.drop(flipped.index)
axis.scatter(same["pressure"], same["glucose"], s=6, color="lightgrey", label="same decision")
axis.scatter(flipped["pressure"], flipped["glucose"], s=14, color="tab:red", label="another decision")
axis.set(xlabel="pressure", ylabel="glucose")
axis.legend(frameon=False)

# %% [markdown]
# ## Why, for one of them

# %%
edited.explain(flipped.iloc[[0]])[0]

# %% [markdown]
# The log is saved with the rules, so that a reviewer can see who decided what, and why.

# %%
edited.save("rules.json")
loaded = clausewise.RuleSet.load("rules.json")
print(loaded == edited, [change.note for change in loaded.changes])
