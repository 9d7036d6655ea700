"""Every parameter of an extractor is declared, and checked before any work."""

import pytest

from clausewise.compact.settings import BUDGET, CALL, SEARCH
from clausewise.extractors import METHODS
from clausewise.rules import RuleSet
from tests.parameters import check_constraints, check_estimator_constraints


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_extractors_declare_their_parameters(method):
    check_estimator_constraints(method, ("network", "layers"))


def test_compact_and_frontier_declare_their_parameters():
    data = ("self", "X", "target", "sample_weight")
    options = {**BUDGET, **SEARCH, **CALL}
    for method, others in ((RuleSet.compact, {"by", "n_splits"}), (RuleSet.frontier, {"min_fidelity"})):
        check_constraints({name: options[name] for name in options.keys() - others}, method, data)
