"""ONNX in production: a service that needs no Python package of ours

Rules export to an ONNX graph. onnxruntime runs it in Python, C#, Java, JavaScript or C++, and it decides
exactly as the rules do. The network may come from an ONNX file as well.
"""

# %%
import numpy as np
import onnx
import onnxruntime
import torch
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

import clausewise

images, digit = load_digits(return_X_y=True, as_frame=True)
is_zero = (digit == 0).astype(int)
X, X_test, y, y_test = train_test_split(images, is_zero, random_state=0, stratify=is_zero)

# %% [markdown]
# ## The network, as it arrives: an ONNX file
# Somebody trained it elsewhere. Here PyTorch stands in for them.

# %%
torch.manual_seed(0)
network = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
inputs = torch.tensor(X.to_numpy(), dtype=torch.float32) / 16
for _ in range(100):
    optimizer.zero_grad()
    nn.functional.cross_entropy(network(inputs), torch.tensor(y.to_numpy())).backward()
    optimizer.step()
network[0].weight.data /= 16  # the file takes pixels from 0 to 16
program = torch.onnx.export(
    network.eval(), (torch.zeros(2, 64),), dynamic_shapes=({0: "rows"},), verbose=False
)
program.save("network.onnx")

# %% [markdown]
# ## Rules for the file
# Which pixels make the network say "zero"? The middle of the image must be empty, its ring must not.

# %%
wrapped = clausewise.wrap(onnx.load("network.onnx"), classes=["other", "zero"])
model = clausewise.ECLAIRE(wrapped, max_rules=5).fit(X)
rules = model.rules_
print(rules)
print(f"fidelity on the test rows: {model.fidelity(X_test):.1%}")

# %% [markdown]
# ## The rules as a graph

# %%
graph = rules.to_onnx()
onnx.save(graph, "rules.onnx")
session = onnxruntime.InferenceSession("rules.onnx", providers=["CPUExecutionProvider"])
for tensor in (*session.get_inputs(), *session.get_outputs()):
    print(tensor.name, tensor.type, tensor.shape)

# %% [markdown]
# ## Ask it
# With numbers only, there is one input for all columns; with categories, there is one for each. Every
# decision equals that of `predict`.

# %%
decided = session.run(["label"], {"X": X_test.to_numpy(dtype=np.float64)})[0]
print((decided == rules.predict(X_test)).all(), decided[:12])

# %% [markdown]
# ## The pixels that the rules look at

# %%
used = sorted({term.feature for rule in rules for term in rule.terms})
figure, axes = plt.subplots(1, 2, figsize=(6, 3), layout="constrained")
for axis, is_wanted, name in zip(axes, (1, 0), ("mean zero", "mean of the others"), strict=True):
    axis.imshow(X[y == is_wanted].mean().to_numpy().reshape(8, 8), cmap="Greys")
    axis.scatter([pixel % 8 for pixel in used], [pixel // 8 for pixel in used], marker="s", color="tab:red")
    axis.set(title=name, xticks=[], yticks=[])
