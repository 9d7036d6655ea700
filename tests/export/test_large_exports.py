"""The memory that exports take grows linearly with the number of rules."""

import tracemalloc

import numpy as np
import pytest

from clausewise import RuleSet

N_RULES = 1500
METHODS = ("to_sql", "to_python", "to_pmml", "to_onnx", "to_markdown", "to_latex", "to_graphviz")


def rules_of_three_terms(voting):
    rng = np.random.default_rng(0)
    n_terms = 3 * N_RULES
    return RuleSet.from_arrays(
        [f"feature {i}" for i in range(20)],
        [f"class {i}" for i in range(5)],
        "class 0",
        starts=np.arange(N_RULES + 1) * 3,
        feature=np.argsort(rng.random((N_RULES, 20)), axis=1)[:, :3].ravel(),
        low=rng.normal(size=n_terms),
        high=np.full(n_terms, np.inf),
        class_index=rng.integers(0, 5, N_RULES),
        confidence=rng.random(N_RULES),
        weight=rng.normal(size=N_RULES),
        voting=voting,
    )


@pytest.mark.parametrize("voting", ["confidence", "weights"])
@pytest.mark.parametrize("method", METHODS)
def test_an_export_takes_few_kilobytes_per_rule(method, voting):
    rules = rules_of_three_terms(voting)
    arguments = ["t"] if method == "to_sql" else []
    getattr(rules[:2], method)(*arguments)  # imports do not count
    tracemalloc.start()
    try:
        getattr(rules, method)(*arguments)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4096 * N_RULES
