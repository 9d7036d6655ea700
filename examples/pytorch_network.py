"""A clinical network in PyTorch: rules through its hidden layers

A network predicts relapse from clinical columns and the expression of genes, with columns like those of the
METABRIC study of breast cancer; the patients are generated. `ECLAIRE` reads the hidden layers of the PyTorch
module, and each rule says which layer, and which clause over its units, it came from.
"""

# %%
from collections import OrderedDict

import numpy as np
import pandas as pd
import torch
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from torch import nn

import clausewise

# %% [markdown]
# ## Patients
# Six clinical columns, two of them categories, and the expression of 15 genes as logarithms. What leads to a
# relapse differs between tumours with and without oestrogen receptors (`er_status`).

# %%
rng = np.random.default_rng(0)
n_patients = 3_000
X = pd.DataFrame(
    {
        "age": rng.normal(61, 13, n_patients).clip(25, 95).round(),
        "tumour_size": rng.gamma(4, 6.5, n_patients).clip(2, 150).round(),
        "positive_nodes": rng.poisson(rng.gamma(0.5, 4, n_patients)),
        "grade": rng.choice([1, 2, 3], n_patients, p=[0.1, 0.4, 0.5]),
        "er_status": rng.choice(["positive", "negative"], n_patients, p=[0.75, 0.25]),
        "her2_status": rng.choice(["gain", "neutral", "loss"], n_patients, p=[0.2, 0.75, 0.05]),
    }
)
genes = ["MKI67", "ESR1", "TP53", "AURKA", *(f"gene_{i}" for i in range(11))]
X[genes] = rng.normal(7, 1, (n_patients, len(genes))).round(2)
risk_with_er = 1.5 * (X.positive_nodes > 3) + 1.2 * (X.MKI67 > 7.5) - 0.8 * (X.ESR1 > 7)
risk_without = 1.5 * (X.tumour_size > 28) + 1.5 * (X.her2_status == "gain") + 0.5 * (X.age < 45)
risk = np.where(X.er_status == "positive", risk_with_er, risk_without) + 0.4 * (X.grade - 2)
y = (risk + rng.logistic(0, 0.4, n_patients) > 1).astype(int)  # 1: a relapse within five years
X, X_test, y, y_test = train_test_split(X, y, random_state=0, stratify=y)

# %% [markdown]
# ## Train as always
# Nothing in the module or its training has to know about rules.

# %%
categories = ["er_status", "her2_status"]
encoder = make_column_transformer((OneHotEncoder(), categories), remainder=StandardScaler()).fit(X)
inputs = torch.tensor(encoder.transform(X), dtype=torch.float32)
targets = torch.tensor(y.to_numpy())
torch.manual_seed(0)
network = nn.Sequential(
    OrderedDict(
        inputs=nn.Linear(inputs.shape[1], 32),
        first=nn.ReLU(),
        middle=nn.Linear(32, 16),
        second=nn.ReLU(),
        outputs=nn.Linear(16, 2),
    )
)
optimizer = torch.optim.Adam(network.parameters(), lr=0.005, weight_decay=0.03)
for _ in range(150):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(network(inputs), targets)
    loss.backward()
    optimizer.step()
print(f"loss after 150 steps: {loss.item():.3f}")

# %% [markdown]
# ## Wrap it once
# `preprocess` names what turns raw rows into the network's inputs. Rules then test raw columns, in the units
# of the clinic.

# %%
wrapped = clausewise.wrap(network, preprocess=encoder, classes=["no relapse", "relapse"])
wrapped

# %%
model = clausewise.ECLAIRE(wrapped, max_rules=8).fit(X)
model.rules_

# %% [markdown]
# ## Where rules come from
# The clause is the part of the network that a rule started from; "residual" marks rules that the search
# found on its own.

# %%
for number, rule in enumerate(model.rules_):
    print(number, rule.origin)

# %% [markdown]
# ## How faithful, and how accurate
# Rules are measured against the network (fidelity) and against what happened (accuracy), on patients that
# neither has seen.

# %%
labels = np.where(y_test == 1, "relapse", "no relapse")
model.rules_.evaluate(X_test, labels, network=wrapped)

# %% [markdown]
# `frontier` measures what each further rule buys, on held-out rows.

# %%
model.rules_.frontier(X, wrapped, max_rules=8, by="rules").plot()
