"""Load recorded networks, with the rows and decisions that were recorded with them.

They are not part of the repository: they are in ../shared, or in the folder that $CLAUSEWISE_SHARED names.
Benchmarks and tests that need them are skipped where there are none.
"""

import os
from pathlib import Path

import numpy as np

from clausewise.networks import ArrayNetwork

SHARED = Path(os.environ.get("CLAUSEWISE_SHARED", Path(__file__).parents[2] / "shared"))
BENCH = SHARED / "bench"
MISSING = f"the recorded networks are not in {BENCH}; set CLAUSEWISE_SHARED to the folder above it"


def recorded(name: str, dtype: type = np.float32) -> tuple[ArrayNetwork, dict[str, np.ndarray]]:
    """Return a recorded network, and the arrays recorded with it.

    In double precision its activations are those of any processor: in single precision, how a library adds
    products shows in their last digits, which decide ties between clauses.
    """
    with np.load(BENCH / f"{name}.npz", allow_pickle=False) as file:
        arrays = dict(file)
    if "X_train" not in arrays:  # only the positions of its rows were recorded
        with np.load(SHARED / "data" / f"{name.split('_')[0]}.npz", allow_pickle=False) as data:
            X = ((data["X"] - arrays["input_min"]) / arrays["input_scale"]).astype(np.float32)
        arrays["X_train"], arrays["X_test"] = X[arrays["train_index"]], X[arrays["test_index"]]
    layers = range(int(arrays["n_layers"]))
    network = ArrayNetwork(
        [arrays[f"W_{i}"].astype(dtype) for i in layers],
        [arrays[f"b_{i}"].astype(dtype) for i in layers],
        activation=str(arrays["activation"]),
        output=str(arrays["output_activation"]),
        feature_names=arrays.get("feature_names"),
    )
    return network, arrays
