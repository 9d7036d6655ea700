"""Keras with categories: codes go in, words come out

A Keras model reads numbers through one input and categories through embeddings, each through an input of its
own. It sees codes only, and still the rules name cities and carriers. The table of parcels is generated.
"""

# %%
import os

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import numpy as np
import pandas as pd
import torch
from matplotlib import pyplot as plt
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import clausewise

rng = np.random.default_rng(0)
n = 4_000
cities = ["Bergen", "Bolzano", "Ghent", "Hamburg", "Innsbruck", "Leeds", "Lyon", "Munich", "Porto", "Sion"]
parcels = pd.DataFrame(
    {
        "weight": rng.gamma(2, 3, n).round(1),
        "temperature": rng.normal(4, 7, n).round(),
        "carrier": rng.choice(["bicycle", "rail", "van"], n, p=[0.25, 0.25, 0.5]),
        "destination": rng.choice(cities, n),
    }
)
in_the_mountains = parcels["destination"].isin(["Bergen", "Bolzano", "Innsbruck", "Sion"])
is_late = in_the_mountains & (parcels["temperature"] < 0) & (parcels["carrier"] != "rail")
is_late |= (parcels["carrier"] == "bicycle") & (parcels["weight"] > 8)
is_late ^= rng.random(n) < 0.03
label = np.where(is_late, "late", "on time")
X, X_test, y, y_test = train_test_split(parcels, label, random_state=0, stratify=label)
parcels.head(3)

# %% [markdown]
# ## From words to codes
# A scikit-learn transformer scales the numbers and gives each category a code. `INPUTS` says which of its
# columns go to which input of the model.

# %%
encoder = make_column_transformer(
    (StandardScaler(), ["weight", "temperature"]), (OrdinalEncoder(), ["carrier", "destination"])
).fit(X)
INPUTS = {"numbers": [0, 1], "carrier": 2, "destination": 3}


def tensors(rows):
    """Return what the model takes, for rows of the table."""
    encoded = encoder.transform(rows)
    return {name: encoded[:, columns] for name, columns in INPUTS.items()}


# %% [markdown]
# ## A functional model
# An embedding makes every city a point in the plane, and every carrier too. Training moves those together
# that behave alike.

# %%
keras.utils.set_random_seed(0)
torch.set_num_threads(1)  # the network is small; more threads would only wait for each other
inputs = {
    "numbers": keras.Input((2,), name="numbers"),
    "carrier": keras.Input((), name="carrier", dtype="int32"),
    "destination": keras.Input((), name="destination", dtype="int32"),
}
parts = [
    inputs["numbers"],
    keras.layers.Embedding(3, 2, name="carriers")(inputs["carrier"]),
    keras.layers.Embedding(len(cities), 2, name="cities")(inputs["destination"]),
]
hidden = keras.layers.Dense(32, "relu", name="first")(keras.layers.Concatenate(name="parts")(parts))
hidden = keras.layers.Dense(16, "relu", name="second")(hidden)
model = keras.Model(inputs, keras.layers.Dense(1, "sigmoid")(hidden), name="parcels")
model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
model.fit(tensors(X), y == "late", batch_size=128, epochs=15, verbose=0)
_, accuracy = model.evaluate(tensors(X_test), y_test == "late", verbose=0)
print(f"The network is right on {accuracy:.1%} of the test rows.")

# %% [markdown]
# ## Wrap it once
# `preprocess` turns rows of the table into codes, and `inputs` distributes them. What an embedding reads is a
# category to the rules, so none of them will say "destination ≤ 4.5".

# %%
network = clausewise.wrap(model, preprocess=encoder, inputs=INPUTS, classes=["on time", "late"])
network.inspect(X)

# %% [markdown]
# ## The rules
# They test the columns of the table, in kilograms, degrees and words.

# %%
rules = clausewise.extract(network, X, max_rules=3)
rules

# %%
figures = rules.evaluate(X_test, y_test, network=network)
print(f"The rules decide as the network does on {figures.fidelity:.1%} of the test rows.")

# %% [markdown]
# ## What would bring this parcel on time?
# Neither its weight, its destination nor the weather can be changed. Only changes that also convince the
# network are listed.

# %%
parcel = X_test[rules.predict(X_test) == "late"].iloc[[0]]
print(parcel.to_string(index=False))
print(rules.counterfactuals(parcel, network=network, fixed=["weight", "temperature", "destination"]))

# %% [markdown]
# ## What the embedding has learnt
# The cities that the rules list together have nearly the same coordinates in the embedding. The picture shows
# that the network knows two kinds of cities; the rules say what it does with them.

# %%
listed = {city for rule in rules for term in rule.terms if term.name == "destination" for city in term.values}
cities.sort(key=lambda city: (city in listed, city), reverse=True)
codes = encoder.transform(X.iloc[: len(cities)].assign(destination=cities))[:, 3].astype(int)
points = model.get_layer("cities").embeddings.value.detach().numpy()[codes]
figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.scatter(points[:, 0], cities, marker="o", label="first coordinate")
axis.scatter(points[:, 1], cities, marker="s", label="second coordinate")
axis.axhspan(-0.5, len(listed) - 0.5, color="tab:red", alpha=0.1, label="listed in a rule")
axis.set(title="Destinations in the embedding", ylim=(-0.5, len(cities) - 0.5))
axis.legend(loc="upper left", bbox_to_anchor=(1, 1))
