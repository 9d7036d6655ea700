"""Explanations as tables, and global explanations, compared with plain counting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.random_rules import random_features, random_ruleset, random_table
from tests.rules.three_rules import RULES, X


@given(st.integers(0, 10**6), st.sampled_from([0, 1, 60, 64, 65, 200]))
def test_counts_are_those_of_plain_booleans(seed, n_rows):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 3)
    rules = random_ruleset(rng, features, int(rng.integers(0, 9)))
    table = random_table(rng, features, n_rows)
    raw = np.empty((n_rows, 3), dtype=object)
    for position, column in enumerate(table.columns):
        raw[:, position] = [None if value != value else value for value in column]
    target = rng.choice([*rules.labels, "other"], n_rows)
    target[:1] = rules.labels[0]  # at least one label must be a class
    explained = rules.explain_global(raw, target)
    fires = rules.fires(raw).dense()
    conclusions = [rule.conclusion for rule in rules]
    np.testing.assert_array_equal(explained.n_rows_covered, fires.sum(axis=1))
    np.testing.assert_array_equal(explained.overlap, fires.astype(int) @ fires.T.astype(int))
    np.testing.assert_array_equal(explained.n_rows_alone, (fires & (fires.sum(axis=0) == 1)).sum(axis=1))
    expected = [(fired & (target == label)).sum() for fired, label in zip(fires, conclusions, strict=True)]
    np.testing.assert_array_equal(explained.n_rows_agreeing, expected)
    for feature in range(3):
        for code, label in enumerate(rules.labels):
            tests = [rule for rule in rules.concluding(label) if feature in [t.feature for t in rule.terms]]
            assert explained.feature_use[feature, code] == len(tests)
    assert explained.rule_lengths.sum() == len(rules)
    if n_rows:
        assert explained.fidelity == np.mean(rules.predict(raw) == target)


def test_frames_name_what_they_count():
    explained = RULES.explain_global(X, ["a", "a", "b", "a"])
    use = explained.feature_use_frame()
    assert use.values.tolist() == [
        ["size", "a", 1, 1 / 3],
        ["size", "b", 1, 1 / 3],
        ["age", "a", 0, 0],
        ["age", "b", 2, 2 / 3],
    ]
    assert explained.rule_length_frame()["n_rules"].tolist() == [0, 0, 1, 1, 0, 1]
    assert explained.coverage_frame().drop(columns="premise").values.tolist() == [
        [0, "a", 2, 0.5, 1],
        [1, "b", 1, 0.25, 0],
        [2, "b", 2, 0.5, 2],
    ]
    assert explained.overlap_frame().values.tolist() == [[0, 1, 1, 0.5, False]]
    assert explained.agreement_frame()["agreement"].tolist() == [1, 0, 0.5]
    assert explained.agreement_frame("polars")["premise"].to_list()[1] == "size ≤ 2 AND age ≤ 0"


def test_a_global_explanation_reads_well():
    explained = RULES.explain_global(X, ["a", "a", "b", "a"])
    assert str(explained) == (
        "3 rules for the classes a, b; voting confidence, otherwise a\n"
        "  features tested most (rules): size (2), age (2)\n"
        "  terms per rule: 1.3 on average, 2 at most\n"
        "  on 4 rows: 100.0 % covered by a rule, 1.2 rules fire on average\n"
        "  decided as the network decides: 75.0 %"
    )
    assert repr(explained) == "<GlobalExplanation of 3 rules on 4 rows>"
    assert len(str(RULES.explain_global()).splitlines()) == 3
    assert len(str(RULES[:0].explain_global(X)).splitlines()) == 4


def test_what_needs_rows_or_labels_says_so():
    alone = RULES.explain_global()
    with pytest.raises(ValueError, match="pass X"):
        alone.coverage_frame()
    with pytest.raises(ValueError, match="pass target"):
        RULES.explain_global(X).agreement_frame()
    with pytest.raises(ValueError, match="pass X and target"):
        _ = RULES.explain_global(X).fidelity
    with pytest.raises(ValueError, match="pass its rows as X"):
        RULES.explain_global(target=["a"])
    with pytest.raises(ValueError, match=r"target has shape \(1,\) for 4 rows"):
        RULES.explain_global(X, ["a"])


@given(st.integers(0, 10**6), st.sampled_from(["confidence", "majority", "share", "weights"]))
def test_the_votes_of_a_frame_add_up_to_the_scores(seed, voting):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 1)  # numeric, so that rows need no decoding
    rules = random_ruleset(rng, features, 6, voting=voting)
    rows = random_table(rng, features, 12).encoded()
    frame = rules.explain(rows).to_frame()
    scores = np.zeros((12, 3))
    for line in frame.itertuples():
        scores[line.row, rules.labels.index(line.conclusion)] += line.votes
        assert line.prediction == rules.predict(rows)[line.row]
    np.testing.assert_allclose(scores, rules.scores(rows))
    assert frame["row"].is_monotonic_increasing


def test_start_votes_have_separate_lines():
    weighted = RULES.with_weights([1, 2, 3], base=[0, 0.5])
    frame = weighted.explain(X[1:3]).to_frame()
    assert frame.values.tolist() == [
        [0, "a", -1, "start", "b", 0.5],
        [0, "a", 0, "size ≤ 5", "a", 1],
        [1, "b", -1, "start", "b", 0.5],
        [1, "b", 2, "age > 0", "b", 3],
    ]
