"""Credit risk: rules for a pipeline with categories

A bank trains a network on applications for loans. Its inputs are scaled and one-hot encoded by a scikit-learn
pipeline, but rules should be about what the bank knows: months, amounts, and what the loan is for. The table
is generated, in the manner of the German credit data.
"""

# %%
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import clausewise

rng = np.random.default_rng(0)
n = 3_000
loans = pd.DataFrame(
    {
        "months": rng.choice([6, 12, 18, 24, 36, 48], n),
        "amount": rng.lognormal(8, 0.7, n).round(-2),
        "age": rng.integers(19, 75, n),
        "checking account": rng.choice(["overdrawn", "below 200", "above 200", "none"], n),
        "savings": rng.choice(["little", "moderate", "rich"], n, p=[0.6, 0.25, 0.15]),
        "purpose": rng.choice(["car", "furniture", "radio/tv", "business", "education"], n),
    }
)
risk = 1.6 * (loans["months"] > 24) + 1.2 * (loans["amount"] > 6_000) - 0.8 * (loans["savings"] == "rich")
risk += loans["checking account"].map({"overdrawn": 1.5, "below 200": 0.7, "above 200": -0.3, "none": -1.2})
risk += 0.7 * ((loans["purpose"] == "education") & (loans["age"] < 30)) + rng.logistic(0, 0.4, n)
label = np.where(risk > 1.3, "bad", "good")
X, X_test, y, y_test = train_test_split(loans, label, random_state=0, stratify=label)
loans.head(3)

# %% [markdown]
# ## The model
# Numbers are scaled and categories become columns of zeros and ones, as usual.

# %%
categories = ["checking account", "savings", "purpose"]
columns = make_column_transformer((OneHotEncoder(), categories), remainder=StandardScaler())
model = make_pipeline(columns, MLPClassifier((32, 16), early_stopping=True, random_state=0)).fit(X, y)
print(f"The network is right on {model.score(X_test, y_test):.1%} of the test rows.")

# %% [markdown]
# ## The rules
# `extract` opens the pipeline, so the rules test the raw columns. Without `max_rules`, their number
# is chosen on held-out rows; nine fit on a screen.

# %%
rules = clausewise.extract(model, X, max_rules=9)
rules

# %%
rules.evaluate(X_test, y_test, network=model)

# %% [markdown]
# ## One applicant
# An explanation adds up the votes of the rules that hold. A counterfactual is the smallest change that
# flips the decision; `network=` keeps only changes that also flip the network, and nobody gets younger.

# %%
rejected = X_test[rules.predict(X_test) == "bad"].iloc[[0]]
rules.explain(rejected)[0]

# %%
rules.counterfactuals(rejected, network=model, fixed=["age"])

# %% [markdown]
# ## Which columns matter

# %%
clausewise.plots.FeatureUseDisplay.from_rules(rules)
