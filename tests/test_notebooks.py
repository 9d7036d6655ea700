"""What notebooks show: every result says in HTML what it says in print, and in short in its repr."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from clausewise import ECLAIRE, Frontier, RuleSet, wrap
from clausewise.networks import ArrayNetwork, CallableNetwork
from tests.fuzz.targets import assert_only_own_tags

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
NETWORK = ArrayNetwork([np.array([[1.0], [0.1]]), np.array([[2.0]])], [np.zeros(1), np.array([-0.5])])
RULES = RuleSet.from_text(
    "IF a > 0 THEN 1\nIF a <= 0 AND b > -1 THEN 0", ["a", "b"], classes=[0, 1], default=0
).with_weights([1.5, 1.25], base=[0.5, 0])
SHORT, COMPLETE = (ECLAIRE(NETWORK, max_rules=n).fit(X).report_ for n in ("auto", None))

# Every result, the beginning of its repr, and texts that notebooks show.
SHOWN = {
    "rule set": (RULES, "<RuleSet: 2 rules", ["a ≤ 0 AND b > -1", "IF", "THEN"]),
    "rule": (RULES[1], "<Rule: IF a ≤ 0 AND b > -1 THEN 0", ["a ≤ 0 AND b > -1", "0"]),
    "evaluation": (
        RULES.evaluate(X, network=np.zeros(60)),
        "<Evaluation: 2 rules on 60 rows, voting weights; fidelity ",
        ["fidelity to the network", "reading cost", "Warning: The network gives all rows the class 0"],
    ),
    "explanation": (
        RULES.explain([-1.0, 2.0])[0],
        "<Explanation: row 0 → 0   (voting weights: 0 1.75, 1 0), 1 rule fired, 1 near miss>",
        ["start with 0 +0.5", "1.25", "a > 0 fails (a is -1)"],
    ),
    "explanations": (
        RULES.explain(X),
        "<Explanations of 60 rows",
        ["row 4 → ", "… and 55 more; index or slice them"],
    ),
    "global explanation": (
        RULES.explain_global(X, NETWORK),
        "<GlobalExplanation of 2 rules on 60 rows>",
        ["decided as the network decides", "feature", "b"],
    ),
    "scorecard": (RULES.scorecard(), "<Scorecard of 2 lines", ["+1.5 class 1", "ties go to 0"]),
    "comparison": (
        RULES.compare(RULES[:1], X),
        "<Comparison: rules: 0 added, 1 removed",
        ["removed", "rows flip"],
    ),
    "counterfactuals": (
        RULES.counterfactuals(X),
        "<Counterfactuals for 60 of 60 rows",
        ["becomes", "… and 40 more; see to_frame()"],
    ),
    "counterfactual": (
        RULES.counterfactuals([1.0, 0.0])[0],
        "<Counterfactual: row 0: 1 becomes 0",
        ["a", "1"],
    ),
    "frontier": (
        Frontier(np.arange(1, 101), np.array([np.linspace(0.5, 0.99, 100)])),
        "<Frontier: max_rules up to 100; ",
        ["recommended", "50.00 %", "99.00 %"],
    ),
    "report": (SHORT, "<ExtractionReport: ECLAIRE: ", ["on held-out rows", "layer", "clauses over units"]),
    "report of all rules": (COMPLETE, "<ExtractionReport: ECLAIRE: ", ["held-out fidelity", "layer"]),
    "network": (wrap(NETWORK), "<Network: ", ["layer", "shape", "hidden 1"]),
    "network not seen yet": (CallableNetwork(predict=len), "<Network: ", ["call network.inspect(X)"]),
}


def texts_in(html):
    return list(ElementTree.fromstring(html).itertext())


@pytest.mark.parametrize(("result", "start", "expected"), SHOWN.values(), ids=SHOWN)
def test_notebooks_show_what_is_printed(result, start, expected):
    html = result._repr_html_()
    assert_only_own_tags(html)
    shown = texts_in(html)
    for text in expected:
        assert any(text in part for part in shown), text
    assert repr(result).startswith(start)
    assert len(repr(result)) < 200


def test_the_figures_in_html_are_those_in_print():
    evaluation = RULES.evaluate(X, RULES.predict(X), network=NETWORK)
    numbers = re.findall(r"[\d.]+", str(evaluation))
    assert re.findall(r"[\d.]+", " ".join(texts_in(evaluation._repr_html_()))) == numbers
