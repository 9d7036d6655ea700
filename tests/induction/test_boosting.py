"""Boosting, fuzzy thresholds, ordered factors and class weights as users of C50Classifier meet them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import NotFittedError

from clausewise import C50Classifier, _core
from clausewise.induction import C50Trial


@pytest.fixture(scope="module")
def noisy():
    """Two classes that one tree does not get right."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 - 1 + 0.6 * rng.normal(size=400) > 0, "yes", "no")
    return X, y


@pytest.mark.parametrize("rules", [True, False])
def test_the_first_trial_is_the_model_without_boosting(noisy, rules):
    X, y = noisy
    single = C50Classifier(rules=rules).fit(X, y)
    boosted = C50Classifier(rules=rules, trials=8).fit(X, y)
    assert boosted.n_trials_ == len(boosted.trials_) == 8
    if rules:
        assert boosted.rules_ == boosted.trials_[0].rules == single.rules_
    else:
        assert boosted.tree_ is boosted.trials_[0].tree
        assert boosted.tree_.to_dict() == single.tree_.to_dict()
    np.testing.assert_array_equal(boosted.predict(X, trials=1), single.predict(X))
    np.testing.assert_array_equal(boosted.predict_proba(X, trials=1), single.predict_proba(X))


@pytest.mark.parametrize("rules", [True, False])
def test_boosting_lowers_the_training_errors(noisy, rules):
    X, y = noisy
    model = C50Classifier(rules=rules, trials=15).fit(X, y)
    assert (model.predict(X) != y).sum() < model.trials_[0].n_errors


@pytest.mark.parametrize("rules", [True, False])
def test_stages_are_the_predictions_of_the_first_trials(noisy, rules):
    X, y = noisy
    model = C50Classifier(rules=rules, trials=6).fit(X, y)
    classes, probabilities = list(model.staged_predict(X)), list(model.staged_predict_proba(X))
    assert len(classes) == len(probabilities) == model.n_trials_
    for k in range(1, model.n_trials_ + 1):
        np.testing.assert_array_equal(classes[k - 1], model.predict(X, trials=k))
        np.testing.assert_array_equal(probabilities[k - 1], model.predict_proba(X, trials=k))
    np.testing.assert_array_equal(classes[-1], model.predict(X))


def test_each_trial_votes_with_its_confidence(noisy):
    X, y = noisy
    model = C50Classifier(rules=False, trials=3).fit(X, y)
    votes = np.zeros((len(X), 2), dtype=np.float32)
    for trial in model.trials_:
        scores, sizes = trial.tree.class_scores(X)
        raw = (sizes[:, None] * scores + trial.tree.class_fractions) / (sizes[:, None] + 1)
        winner = scores.argmax(axis=1)
        votes[np.arange(len(X)), winner] += raw[np.arange(len(X)), winner]
    shares = votes / votes.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), shares, atol=1e-6)


def test_trials_say_their_size_errors_and_weight(noisy):
    X, y = noisy
    model = C50Classifier(trials=5).fit(X, y)
    for trial in model.trials_:
        assert isinstance(trial, C50Trial)
        assert trial.tree is None
        assert trial.size == len(trial.rules)
        assert trial.n_errors == (trial.rules.predict(X) != y).sum()
        assert 0.5 <= trial.weight <= 1
    first = model.trials_[0]
    assert repr(first) == (
        f"<C50Trial: {first.size} rules, {first.n_errors} training errors, weight {first.weight:.3f}>"
    )


def test_a_perfect_classifier_ends_boosting():
    X = np.arange(40.0)[:, None]
    model = C50Classifier(trials=10).fit(X, X[:, 0] > 19)
    assert model.n_trials_ == 1
    assert model.stop_reason_ == "accurate"
    assert "hardly any errors" in model.summary()


def test_noise_ends_boosting_unless_told_to_go_on():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    stopped = C50Classifier(trials=10, min_cases=10).fit(X, y)
    assert stopped.stop_reason_ == "inaccurate"
    assert stopped.n_trials_ < 10
    assert "too many errors" in stopped.summary()
    went_on = C50Classifier(trials=10, min_cases=10, early_stopping=False).fit(X, y)
    assert went_on.n_trials_ == 10
    assert went_on.stop_reason_ is None


def test_two_trials_become_one_as_in_c50(noisy):
    X, y = noisy
    model = C50Classifier(trials=2).fit(X, y)
    assert model.n_trials_ == 1
    assert model.stop_reason_ == "too few"
    assert "fewer than three" in model.summary()
    assert C50Classifier(trials=2, early_stopping=False).fit(X, y).n_trials_ == 2


def test_more_trials_than_there_are_is_a_warning(noisy):
    X, y = noisy
    model = C50Classifier(trials=4).fit(X, y)
    with pytest.warns(UserWarning, match="trials is 9, but the model has 4"):
        many = model.predict(X, trials=9)
    np.testing.assert_array_equal(many, model.predict(X))
    with pytest.raises(ValueError, match="trials is 0"):
        model.predict(X, trials=0)


def test_the_summary_is_the_table_that_c50_prints(noisy):
    X, y = noisy
    model = C50Classifier(rules=False, trials=3).fit(pd.DataFrame(X, columns=list("abcd")), y)
    lines = model.summary().splitlines()
    assert lines[0] == "Evaluation on the training data (400 rows):"
    assert lines[2].split() == ["Trial", "Leaves", "Errors"]
    for number, trial in enumerate(model.trials_):
        share = f"({trial.n_errors / 4:.1f}%)"
        assert lines[3 + number].split() == [str(number), str(trial.size), str(trial.n_errors), share]
    n_wrong = int((model.predict(pd.DataFrame(X, columns=list("abcd"))) != y).sum())
    assert lines[6].split() == ["boost", str(n_wrong), f"({n_wrong / 4:.1f}%)"]
    assert lines[8] == "Column usage:"
    assert {line.split()[1] for line in lines[10:]} <= set("abcd")


@pytest.mark.parametrize("rules", [True, False])
def test_importances_count_rows_that_any_trial_uses_a_column_for(noisy, rules):
    X, y = noisy
    model = C50Classifier(rules=rules, trials=4).fit(X, y)
    used = np.zeros(X.shape, dtype=bool)
    for trial in model.trials_:
        if rules:
            for rule, fires in zip(trial.rules, trial.rules.fires(X).dense(), strict=True):
                for term in rule.terms:
                    used[fires, term.feature] = True
        else:
            mark_paths(trial.tree, X, used)
    expected = used.sum(axis=0) / used.sum()
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-12)


def mark_paths(tree, X, used):
    for row in range(len(X)):
        node = tree.nodes[0]
        while node.test is not None:
            column = int(node.feature[1:])
            used[row, column] = True
            node = tree.nodes[node.children[int(X[row, column] > node.threshold)]]


def test_missing_values_and_categories_are_boosted(noisy):
    X, y = noisy
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["d"] = pd.Categorical(np.where(X[:, 3] > 0, "high", "low"))
    frame = frame.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    for rules in (True, False):
        model = C50Classifier(rules=rules, trials=6).fit(frame, y)
        assert model.n_trials_ > 2
        np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1)
        assert model.score(frame, y) > 0.7


@pytest.mark.parametrize("parameters", [{}, {"rules": False, "fuzzy_threshold": True}])
def test_threads_do_not_change_a_boosted_model(parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2**15, 17))
    y = (X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=len(X)) > 1).astype(int)
    one, four = (C50Classifier(trials=3, min_cases=500, n_jobs=n, **parameters).fit(X, y) for n in (1, 4))
    assert one.n_trials_ == 3
    np.testing.assert_array_equal(one.predict_proba(X), four.predict_proba(X))


def test_progress_counts_trials(noisy, capsys):
    X, y = noisy
    C50Classifier(trials=5, verbose=2).fit(X, y)
    assert "5 of 5 trials" in capsys.readouterr().err


def test_an_error_in_the_progress_callback_stops_boosting(noisy):
    X, y = noisy
    matrix = _core.prepare_matrix(np.tile(X, (50, 1)), np.zeros(4, dtype=np.int32))
    classes = np.tile((y == "yes").astype(np.int32), 50)
    reports = []

    def progress(n_done, n_total):
        reports.append((n_done, n_total))
        raise KeyboardInterrupt

    options = _core.C50Options(trials=10_000, early_stopping=False)
    with pytest.raises(KeyboardInterrupt):
        _core.fit_c50(matrix, classes, 2, None, None, options, progress=progress)
    assert len(reports) == 1
    assert reports[0][0] < 10_000
    assert reports[0][1] == 10_000


def test_a_boosted_model_survives_pickling(noisy):
    X, y = noisy
    model = C50Classifier(trials=4, rules=False, fuzzy_threshold=True).fit(X, y)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
    assert twin.summary() == model.summary()


def test_predicting_and_summing_up_need_a_fit():
    for use in (
        lambda model: model.predict([[1.0]], trials=2),
        lambda model: model.predict_proba([[1.0]]),
        lambda model: next(model.staged_predict([[1.0]])),
        lambda model: model.summary(),
    ):
        with pytest.raises(NotFittedError):
            use(C50Classifier(trials=3))


def test_fuzzy_thresholds_make_probabilities_change_gradually():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 1))
    y = (X[:, 0] + 0.15 * rng.normal(size=300) > 0.5).astype(int)
    crisp, fuzzy = (C50Classifier(rules=False, fuzzy_threshold=f).fit(X, y) for f in (False, True))
    root = fuzzy.tree_.nodes[0]
    low, high = root.bounds
    assert low < root.cut < high
    assert crisp.tree_.nodes[0].bounds is None
    assert crisp.tree_.nodes[0].cut == root.cut
    assert fuzzy.tree_.to_dict()["bounds"] == [low, high]
    grid = np.linspace(low, high, 21)[:, None]
    assert len(np.unique(fuzzy.predict_proba(grid)[:, 1])) > len(np.unique(crisp.predict_proba(grid)[:, 1]))
    halfway = fuzzy.tree_.class_scores(np.array([[root.threshold]]))[0]
    sides = fuzzy.tree_.class_scores(np.array([[low], [high]]))[0]
    np.testing.assert_allclose(halfway[0], sides.mean(axis=0), atol=1e-6)


def test_readable_fuzzy_thresholds_decide_the_training_rows_alike():
    X, y = load_wine(return_X_y=True)
    for trials in (1, 5):
        exact, readable = (
            C50Classifier(rules=False, fuzzy_threshold=True, trials=trials, thresholds=style).fit(X, y)
            for style in ("exact", "readable")
        )
        np.testing.assert_array_equal(exact.predict(X), readable.predict(X))


def test_cf_of_zero_prunes_most():
    X, y = load_breast_cancer(return_X_y=True)
    sizes = [C50Classifier(rules=False, cf=cf).fit(X, y).tree_.n_leaves for cf in (0, 1e-300, 0.25, 1)]
    assert sizes[0] == sizes[1] <= sizes[2] <= sizes[3]
    assert sizes[0] < sizes[3]


def test_ordered_categories_are_tested_by_their_order():
    levels = ["none", "little", "some", "much", "all"]
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, 300)
    y = np.isin(codes, [0, 1, 4])
    ordered = pd.DataFrame({"pain": pd.Categorical.from_codes(codes, levels, ordered=True)})
    nominal = pd.DataFrame({"pain": pd.Categorical.from_codes(codes, levels)})
    sets = [
        set(values)
        for node in C50Classifier(rules=False).fit(ordered, y).tree_.nodes
        for values in node.values or ()
    ]
    assert {"all"} in sets
    # "all" goes with "none" and "little" only if the order does not count.
    assert not any("all" in values and "little" in values and "some" not in values for values in sets)
    unordered = C50Classifier(rules=False).fit(nominal, y)
    assert {"none", "little", "all"} in map(set, unordered.tree_.nodes[0].values)
    assert C50Classifier().fit(ordered, y).score(ordered, y) == unordered.score(nominal, y) == 1


def test_two_ordered_levels_are_as_two_categories():
    codes = np.arange(40) % 2
    frames = [
        pd.DataFrame({"x": pd.Categorical.from_codes(codes, ["a", "b"], ordered=o)}) for o in (True, False)
    ]
    first, second = (C50Classifier(rules=False).fit(frame, codes).tree_.to_dict() for frame in frames)
    assert first == second


def test_class_weights_multiply_the_weights_of_the_rows(noisy):
    X, y = noisy
    rng = np.random.default_rng(0)
    weights = rng.choice([0.5, 1.0, 2.0], len(y))
    given = C50Classifier(class_weight={"yes": 3.0, "no": 1.0}).fit(X, y, sample_weight=weights)
    multiplied = C50Classifier().fit(X, y, sample_weight=weights * np.where(y == "yes", 3.0, 1.0))
    assert given.rules_ == multiplied.rules_
    rare = y == "yes"
    rare[np.flatnonzero(rare)[20:]] = False
    balanced = C50Classifier(class_weight="balanced").fit(X, rare)
    share = np.where(rare, len(rare) / (2 * rare.sum()), len(rare) / (2 * (~rare).sum()))
    assert balanced.rules_ == C50Classifier().fit(X, rare, sample_weight=share).rules_
    assert balanced.predict(X).sum() > C50Classifier().fit(X, rare).predict(X).sum()
