"""A layer is handed over in little more memory than it takes itself."""

import subprocess
import sys
from pathlib import Path

import pytest

N_ROWS, N_UNITS = 400_000, 64
WORK = """
import numpy as np
from benchmarks._measure import growth_during
from clausewise.networks import ArrayNetwork, wrap

draw = np.random.default_rng(0)
X = draw.normal(size=({n_rows}, 10)).astype(np.float32)
{make}
next(network.hidden_layers(X[:2000]))  # what a framework sets up once does not count
print(growth_during(lambda: next(network.hidden_layers(X))))
"""
MAKE = {
    "array": """
weights = [draw.normal(size=shape).astype(np.float32) for shape in ((10, 64), (64, 2))]
network = ArrayNetwork(weights, [np.zeros(64, np.float32), np.zeros(2, np.float32)])
""",
    "torch": """
from torch import nn
network = wrap(nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 2)))
""",
}


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="this system does not report peak memory"
)
@pytest.mark.slow_under_sanitizers
@pytest.mark.parametrize("kind", MAKE)
def test_a_layer_costs_little_more_than_its_own_bytes(kind):
    if kind == "torch":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    code = WORK.format(n_rows=N_ROWS, make=MAKE[kind])
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=root
    )
    assert int(result.stdout) <= 1.3 * N_ROWS * N_UNITS * 4
