"""A network in PyTorch: rules through its hidden layers

`extract` reads the hidden layers of a PyTorch module. Each rule says which layer, and which clause over its
units, it grew out of.
"""

# %%
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn

import clausewise

data = load_breast_cancer(as_frame=True)
X, X_test, y, y_test = train_test_split(data.data, data.target, random_state=0, stratify=data.target)
scaler = StandardScaler().set_output(transform="pandas").fit(X)

# %% [markdown]
# ## Train as always
# Nothing in the module or its training has to know about rules.

# %%
torch.manual_seed(0)
network = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(network.parameters(), lr=0.005, weight_decay=1e-3)
inputs = torch.tensor(scaler.transform(X).to_numpy(), dtype=torch.float32)
targets = torch.tensor(y.to_numpy())
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
wrapped = clausewise.wrap(network, preprocess=scaler, classes=["malignant", "benign"])
wrapped

# %%
model = clausewise.ECLAIRE(wrapped).fit(X)
model.rules_

# %% [markdown]
# ## Where rules come from
# The clause is the part of the network that a rule started from; "residual" marks rules that the search
# found on its own.

# %%
for number, rule in enumerate(model.rules_):
    print(number, rule.origin)

# %% [markdown]
# ## How faithful, at which size
# `frontier` measures what each reading cost buys, on held-out rows.

# %%
print(f"Fidelity on {len(X_test)} test rows: {model.fidelity(X_test):.1%}")
model.rules_.frontier(X, wrapped, max_rules=8, by="rules").plot()
