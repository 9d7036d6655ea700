"""Explanations of several rows, and where rules have priority."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.rules.random_rules import random_features, random_ruleset, random_table, raw

from clausewise import Features, Rule, RuleSet, Term
from clausewise.rules.voting import VOTINGS

RULES = RuleSet.from_rules(
    [
        Rule((Term(0, low=1.0),), "yes", confidence=0.9),
        Rule((Term(0, low=5.0),), "no", confidence=0.6, priority=True),
    ],
    ["x"],
    default="no",
    classes=["no", "yes"],
)


def test_a_rule_with_priority_overrides_the_others_only_where_it_fires():
    below, above = RULES.explain([[2.0], [6.0]])
    assert [(fired.number, fired.votes, fired.overridden) for fired in below.fired] == [(0, 900.0, False)]
    assert [(fired.number, fired.votes, fired.overridden) for fired in above.fired] == [
        (0, 0.0, True),
        (1, 600.0, False),
    ]
    assert (below.prediction, above.prediction) == ("yes", "no")
    assert above.scores == {"no": 600.0, "yes": 0.0}
    assert "rule 0 fired, overridden: IF x > 1" in str(above)
    assert "rule 1 fired,  600 votes: IF x > 5" in str(above)


def test_explanations_are_found_by_the_number_of_their_row():
    explained = RULES.explain([[0.0], [2.0], [6.0]])
    assert [one.prediction for one in explained] == ["no", "yes", "no"]
    assert explained[1].prediction == explained[-2].prediction == "yes"
    assert [one.prediction for one in explained[1:]] == ["yes", "no"]
    for row in (3, -4):
        with pytest.raises(IndexError, match=f"There is no row {row}; 3 rows were explained"):
            explained[row]


@pytest.mark.parametrize("seed", range(8))
def test_the_text_of_an_explanation_is_that_of_its_parts(seed):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 5)
    rules = random_ruleset(rng, features, 40, voting=VOTINGS[seed % len(VOTINGS)])
    X = raw(features, random_table(rng, features, 12).encoded())
    for explained in (rules.explain(X), rules.explain(X, voting="majority")):
        for one in explained:
            parts = [str(part) for part in (*one.fired, *one.near_misses)]
            lines = str(one).split("\n  ")
            assert lines[0] == one.headline
            assert lines[len(lines) - len(parts) :] == parts
            assert all(part.rule == rules[part.number] for part in (*one.fired, *one.near_misses))


def test_texts_follow_the_scheme_of_the_call():
    rules = RULES.with_voting("weights")
    assert "confidence 0.90" in str(rules.explain([[2.0]])[0])
    against = RuleSet.from_rules(
        [Rule((Term(0, low=1.0),), "yes", weight=-2.0)], ["x"], default="no", classes=["no", "yes"]
    )
    assert "speaks against yes" in str(against.explain([[2.0]], voting="weights")[0])
    assert "THEN yes" in str(against.explain([[2.0]])[0])


def test_explanations_keep_nothing_that_grows_with_rows_and_rules():
    rng = np.random.default_rng(0)
    features = Features(tuple("abcdef"))
    rules, X = random_ruleset(rng, features, 500), rng.normal(size=(200, 6))
    explained = rules.explain(X)
    texts = [str(one) for one in explained]
    assert [str(one) for one in pickle.loads(pickle.dumps(explained))] == texts
    arrays = [value for value in vars(explained).values() if isinstance(value, np.ndarray)]
    assert max(array.size for array in arrays) <= max(X.size, 200 * len(rules.labels))


def test_threads_may_explain_rows_of_one_rule_set_at_once():
    rng = np.random.default_rng(1)
    features = random_features(rng, 5)
    rules = random_ruleset(rng, features, 60)
    X = raw(features, random_table(rng, features, 50).encoded())
    expected = [str(one) for one in rules[:].explain(X)]
    explained = rules.explain(X)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda row: str(explained[row]), range(50))) == expected
