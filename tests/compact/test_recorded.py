"""Small rule sets are found again as they were recorded in `recorded.json`.

A change of the search that is meant to alter them records new ones: `python -m tests.compact.test_recorded`.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from clausewise import Rule, RuleSet, Term
from clausewise.rules.display import describe_premise

RECORDED = Path(__file__).with_name("recorded.json")
NAMES = ["x0", "x1", "x2", "x3"]
CASES = {
    "two classes": (2, {"max_rules": 6}),
    "five classes": (5, {"max_rules": 12, "max_terms": 3}),
    "five classes from three rules": (5, {"max_rules": 9, "balance": "balanced"}),
    "premises of five classes": (5, {"max_rules": 7, "max_terms": 2, "shared_premises": True}),
    "points": (3, {"max_rules": 6, "points": True}),
    "recommended number of rules": (3, {}),
}
SEEDS = (
    Rule((Term(1, high=9.0), Term(0, high=8.0)), "a"),
    Rule((Term(1, low=9.0), Term(2, low=11.0)), "e"),
    Rule((Term(3, low=5.0, high=16.0),), "b"),
)


def found(case):
    n_classes, options = CASES[case]
    X = np.random.default_rng(0).integers(0, 20, size=(600, 4)).astype(float)
    score = X[:, 0] + 2.0 * (X[:, 1] > 9) * X[:, 2] + 6.0 * (X[:, 3] > 14)
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    classes = list("abcde"[:n_classes])
    seeds = SEEDS if "from three rules" in case else ()
    rules = RuleSet.from_rules(seeds, NAMES, default="a", classes=classes)
    small = rules.compact(X, np.array(classes)[np.searchsorted(cuts, score)], n_jobs=2, **options)
    return {
        "rules": [
            f"{number}  IF {describe_premise(small.columns, number, small.features)} THEN {rule.conclusion}"
            for number, rule in enumerate(small)
        ],
        "weights": small.columns.weight.tolist(),
        "base": small.base.tolist(),
    }


@pytest.mark.parametrize("case", CASES)
def test_the_search_finds_the_recorded_rules(case):
    expected, actual = json.loads(RECORDED.read_text(encoding="utf-8"))[case], found(case)
    assert actual["rules"] == expected["rules"]
    # Weights are fitted until little is left to gain; where the fit ends depends on rounding.
    assert actual["weights"] == pytest.approx(expected["weights"], abs=0.01)
    assert actual["base"] == pytest.approx(expected["base"], abs=0.01)


if __name__ == "__main__":
    text = json.dumps({case: found(case) for case in CASES}, indent=1, ensure_ascii=False)
    RECORDED.write_text(text + "\n", encoding="utf-8")
