"""A validation report with guarantees: what can be promised, and the page to file

Rules that were learnt from rows look too good on them. A guarantee is counted on rows that nothing was learnt
from, and the validation page collects it with everything else that a model-risk team asks for. The claims of
this insurer are generated, so that in the end we can see whether the promises are kept.
"""

# %%
import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

import clausewise

rng = np.random.default_rng(0)
kinds = ["fire", "glass", "theft", "water"]


def draw_claims(n):
    """Return claims, and which of them an expert would examine."""
    claims = pd.DataFrame(
        {
            "date": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 181, n), "D"),
            "amount": rng.lognormal(7, 0.9, n),
            "days until reported": rng.geometric(0.08, n),
            "claims before": rng.poisson(0.7, n),
            "kind": pd.Categorical(rng.choice(kinds, n, p=[0.1, 0.25, 0.25, 0.4])),
        }
    )
    doubt = 1.1 * np.log(claims["amount"] / 1_500) + 0.05 * (claims["days until reported"] - 14)
    doubt += 0.6 * claims["claims before"]
    doubt += claims["kind"].map({"fire": 1, "glass": -2, "theft": 1, "water": 0}).astype(float)
    return claims, np.where(doubt + rng.logistic(0, 0.5, n) > 1, "examine", "pay")


# %% [markdown]
# ## Three samples
# The model is trained on the first sample and the rules are learnt on the second. The third is kept for
# counting: whoever looks at it and then changes the rules needs another.

# %%
columns = ["amount", "days until reported", "claims before", "kind"]
claims, decision = draw_claims(3_000)
learnt, _ = draw_claims(3_000)
fresh, _ = draw_claims(4_000)
model = HistGradientBoostingClassifier(max_iter=50, categorical_features="from_dtype", random_state=0)
model.fit(claims[columns], decision)
rules = clausewise.extract(model, learnt[columns], max_rules=6)
rules

# %% [markdown]
# ## Rows that were learnt from are refused
# Rules remember a hash of each row that they were learnt from.

# %%
try:
    rules.guarantee(learnt[columns], model)
except ValueError as error:
    print(error)

# %% [markdown]
# ## The guarantee
# All intervals hold at once, with 95 % confidence, for claims that come in like these.

# %%
found = rules.guarantee(fresh[columns], model)
found

# %% [markdown]
# ## If that is not enough
# Let the rules decide the clear cases only, and leave the others to people. The promise is then about the
# claims that are decided, and has a confidence of its own.

# %%
careful = rules.abstaining(fresh[columns], model, agreement=0.97, confidence=0.95)
careful.promised

# %% [markdown]
# ## The page to file
# One HTML file without scripts: the rules with their intervals, which rows were counted, where rules and
# model differ, versions, and room for signatures. The same input gives the same file.

# %%
page = rules.validate(
    fresh[columns], model, agreement=0.97, dates=fresh["date"], title="Claims, first half of 2026"
)
page.save("validation.html")
print(page)
for part in page.slices:
    print(f"{part.n_differ} of {part.n_rows} differ where", " AND ".join(map(str, part.terms)))

# %% [markdown]
# ## Are the promises kept?
# Outside of a gallery nobody knows. Here, another 100,000 claims show the true fractions (diamonds), which
# the intervals from 4,000 claims have to contain. The confidences of the rules (crosses) were counted on the
# rows that they were learnt from.

# %%
many, _ = draw_claims(100_000)
intervals = found.to_frame()
truth = rules.guarantee(many[columns], model, overlap="keep").to_frame()["fraction"]
is_kept = truth.between(intervals["low"], intervals["high"])
print(f"{is_kept.sum()} of {len(is_kept)} intervals contain the true fraction.")

# %%
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.hlines(
    intervals["subject"], intervals["low"], intervals["high"], linewidth=6, alpha=0.4, label="interval"
)
axis.scatter(truth, intervals["subject"], marker="D", label="100,000 claims")
axis.scatter(
    [rule.confidence for rule in rules],
    [f"precision of rule {number}" for number in range(len(rules))],
    marker="x",
    color="tab:red",
    label="confidence",
)
axis.invert_yaxis()
axis.set(xlabel="fraction on which rules and model agree")
axis.legend()
