"""Time series: rules over named features

A network reads loads of a machine, hour by hour. "Hour 37 is above 0.4" tells nobody anything. Named columns,
such as the mean or the slope of a quarter of the day, do. The network still sees the series themselves.
"""

# %%
import numpy as np
import torch
from matplotlib import pyplot as plt
from torch import nn

import clausewise
from clausewise.features import IntervalFeatures

rng = np.random.default_rng(0)
n, hours = 600, np.arange(24)
is_faulty = rng.random(n) < 0.4
load = 5 + 3 * np.sin((hours - 9) / 24 * 2 * np.pi) + rng.normal(0, 0.8, (n, 24))
heat = 40 + load + rng.normal(0, 1, (n, 24))
# A faulty bearing heats up in the evening, although the load falls.
heat[:, 18:] += np.where(is_faulty, rng.normal(1.2, 0.3, n), 0)[:, None] * np.arange(6)
series = np.stack([load, heat], axis=2).astype("float32")
train, test = slice(0, 400), slice(400, None)


# %% [markdown]
# ## A recurrent network


# %%
class Recurrent(nn.Module):
    """A GRU whose last state decides."""

    def __init__(self):
        super().__init__()
        self.gru, self.out = nn.GRU(2, 16, batch_first=True), nn.Linear(16, 2)

    def forward(self, x):
        return self.out(self.gru((x - self.mean) / self.spread)[0][:, -1])


torch.manual_seed(0)
torch.set_num_threads(1)  # the network is small; more threads would only wait for each other
network = Recurrent()
network.register_buffer("mean", torch.tensor(series[train].mean(axis=(0, 1))))
network.register_buffer("spread", torch.tensor(series[train].std(axis=(0, 1))))
optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
for _ in range(30):
    optimizer.zero_grad()
    targets = torch.tensor(is_faulty[train].astype(int))
    nn.functional.cross_entropy(network(torch.tensor(series[train])), targets).backward()
    optimizer.step()

# %% [markdown]
# ## Columns that people can read
# Mean, slope and spread of each quarter of the day.

# %%
quarters = IntervalFeatures(4, channel_names=["load", "heat"], time_labels=[f"{h} h" for h in hours]).fit(
    series
)
wrapped = clausewise.wrap(network, features=quarters, classes=["sound", "faulty"])
rules = clausewise.extract(wrapped, series[train], max_rules=4)
rules

# %%
figures = rules.evaluate(series[test], network=wrapped)
print(f"fidelity on {len(series[test])} held-out series: {figures.fidelity:.1%}")

# %% [markdown]
# ## Look at what the rules found

# %%
decided = rules.predict(series[test])
figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for axis, name, channel in zip(axes, ["load", "heat"], [0, 1], strict=True):
    for label, colour in {"sound": "tab:blue", "faulty": "tab:orange"}.items():
        axis.plot(hours, series[test][decided == label, :, channel].T, color=colour, alpha=0.08)
        axis.plot(hours, series[test][decided == label, :, channel].mean(axis=0), color=colour, label=label)
    axis.set(xlabel="hour", title=name)
axes[0].legend()
