"""ECLAIRE on recorded networks, compared with the clauses and fidelities of the reference implementation."""

import json

import numpy as np
import pytest
from benchmarks._recorded import BENCH, recorded

from clausewise import ECLAIRE
from clausewise.induction import C50Inducer
from tests.shared import needs_bench

pytestmark = needs_bench

# Per network: min_cases, the smallest fraction of the reference's clauses to find, the reference's fidelity
# under the `share` vote (None where that vote is too unstable to compare).
CASES = {
    "xor_fold0": (2, 0.90, None),
    "xor_fold1": (2, 0.90, None),
    "xor_fold2": (2, 0.90, None),
    "magic_fold0": (50, 0.95, 0.8988),
    "mb_er_fold0": (5, 0.95, 0.902),
    "mb_hist_fold0": (9, 0.90, 0.947),
    "letters_fold0": (8, 0.85, 0.557),
}


@pytest.fixture(scope="module")
def extracted():
    """Rules of each network, extracted once, with the test rows and the network's decisions on them."""
    found = {}

    def extract(name):
        if name not in found:
            network, arrays = recorded(name, np.float64)
            # The reference writes thresholds as C5.0 does.
            inducer = C50Inducer(min_cases=CASES[name][0], winnow=True, thresholds="exact")
            found[name] = ECLAIRE(network, inducer=inducer, max_rules=None).fit(arrays["X_train"]), arrays
        return found[name]

    return extract


def clauses_of(rules):
    """Rules as sets of conditions, thresholds to six digits."""
    return {
        (
            str(rule.conclusion),
            frozenset(condition for term in rule.terms for condition in conditions_of(term)),
        )
        for rule in rules
    }


def conditions_of(term):
    for operator, bound in ((">", term.low), ("<=", term.high)):
        if np.isfinite(bound):
            yield f"h_0_{term.feature}", operator, f"{np.float32(bound):.6g}"


def reference_clauses(name):
    listed = json.loads((BENCH / "reference_rules" / f"{name}_eclaire.json").read_text())["rules"]
    return {
        (rule["conclusion"], frozenset((f, op, f"{np.float32(bound):.6g}") for f, op, bound in rule["terms"]))
        for rule in listed
    }


@pytest.mark.parametrize("name", CASES)
def test_most_clauses_are_those_of_the_reference(extracted, name):
    expected = reference_clauses(name)
    own = clauses_of(extracted(name)[0].rules_)
    assert len(expected & own) / len(expected) >= CASES[name][1]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case[2] is not None])
def test_fidelity_under_the_share_vote_is_that_of_the_reference(extracted, name):
    model, arrays = extracted(name)
    decided = model.rules_.predict(arrays["X_test"], voting="share")
    assert np.mean(decided == arrays["dnn_test_labels"]) == pytest.approx(CASES[name][2], abs=0.015)


def test_the_default_vote_is_more_faithful_on_average(extracted):
    def fidelity(name, voting):
        model, arrays = extracted(name)
        return np.mean(model.rules_.predict(arrays["X_test"], voting=voting) == arrays["dnn_test_labels"])

    gains = [fidelity(name, "confidence") - fidelity(name, "share") for name in CASES]
    assert np.mean(gains) > 0.03


def test_rules_of_xor_networks_reach_a_fidelity_of_94_percent(extracted):
    folds = [extracted(name) for name in CASES if name.startswith("xor")]
    fidelities = [model.fidelity(arrays["X_test"]) for model, arrays in folds]
    assert np.mean(fidelities) >= 0.94
