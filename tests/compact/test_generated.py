"""Small rule sets that are also learnt from generated rows, labelled by the model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier

import clausewise
from clausewise import CompactionWarning, Features, RuleSet
from clausewise.compact.examples import examples_of
from clausewise.io import dumps


class Recording:
    """A model with a rule of its own, which keeps the rows that it is asked about."""

    classes_ = np.array(["no", "yes"])

    def __init__(self, decide):
        self._decide = decide
        self.asked = []

    def predict(self, X):
        self.asked.append(X.copy())
        return np.where(self._decide(X), "yes", "no")

    @property
    def n_asked(self):
        return sum(map(len, self.asked))


def people(n_rows=200, seed=0):
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": draw.integers(18, 90, n_rows),
            "pay": np.where(draw.random(n_rows) < 0.1, np.nan, draw.lognormal(3, 1, n_rows)),
            "job": pd.Categorical(draw.choice(["baker", "clerk", "cook", "smith"], n_rows)),
            "member": draw.random(n_rows) < 0.5,
        }
    )


def is_granted(rows):
    curve = (
        (rows["age"] - 50.0) ** 2 / 200
        + np.log1p(rows["pay"].fillna(0))
        - 2 * rows["job"].isin(["cook", "clerk"])
    )
    return (curve > 3) ^ (rows["member"].astype(bool) & (rows["age"] > 60))


def no_rules(X):
    return RuleSet.from_rules([], Features.learn(X), default="no", classes=["no", "yes"])


def test_rows_reach_the_model_as_they_are_given():
    X, model = people(), Recording(is_granted)
    no_rules(X).compact(X, model, max_rules=4, synthetic=3)
    generated = model.asked[-1]
    assert len(generated) == 600
    assert generated.dtypes.equals(X.dtypes)
    assert set(generated["job"]) <= set(X["job"])
    assert generated["pay"].isna().any()
    assert generated["age"].between(X["age"].min(), X["age"].max()).all()


def test_rules_hold_beyond_few_rows():
    better = []
    for seed in range(3):
        X, X_new = people(seed=seed), people(4000, seed=100 + seed)
        model, wanted = Recording(is_granted), np.where(is_granted(X_new), "yes", "no")
        fidelity = [
            np.mean(
                no_rules(X).compact(X, model, max_conditions=40, synthetic=synthetic).predict(X_new) == wanted
            )
            for synthetic in (0, "auto")
        ]
        better.append(fidelity[1] - fidelity[0])
    assert np.mean(better) > 0.01


def test_all_figures_are_counted_on_real_rows():
    X, model = people(), Recording(is_granted)
    rules = no_rules(X).compact(X, model, max_rules=8)
    counted = rules.with_statistics(X, model.predict(X))
    for name in ("cover", "correct", "confidence"):
        np.testing.assert_array_equal(getattr(rules.columns, name), getattr(counted.columns, name))
    assert rules.columns.cover.min() >= 5
    frontier = no_rules(X).frontier(X, model, max_rules=4, n_splits=1)
    n_held_out = len(X) // 5
    assert frontier.fidelity * n_held_out == pytest.approx(np.round(frontier.fidelity * n_held_out))


def test_rows_are_only_made_from_the_rows_that_are_learnt_from():
    X = pd.DataFrame({"code": [f"c{i:03d}" for i in range(100)], "x": np.arange(100.0)})
    model = Recording(lambda rows: rows["x"] > 50)
    examples = examples_of(no_rules(X), X, model)
    part = examples.take(np.arange(30)).take(np.arange(10, 30))
    generated = part.generated(200)
    assert set(model.asked[-1]["code"]) <= set(X["code"][10:30])
    assert generated.table[:, 1].max() <= 29
    assert examples.generator is not None


def test_generated_rows_of_a_class_without_real_rows_are_left_out():
    X = pd.DataFrame({"x": np.arange(60.0), "y": np.tile([0.0, 0.25, 0.5, 0.75, 1.0, 0.3], 10)})
    model = Recording(lambda rows: ~rows["x"].isin(X["x"]) | ~rows["y"].isin(X["y"]))
    examples = examples_of(no_rules(X), X, model)
    assert (examples.codes == 0).all()
    assert (examples.generated(300).codes == 0).all()


def test_weights_of_rows_count_for_the_rows_made_from_them():
    X, model = people(60), Recording(is_granted)
    weights = np.where(np.arange(60) < 20, 0.0, np.arange(60))
    examples = examples_of(no_rules(X), X, model, weights)
    generated = examples.generated(120)
    assert len(examples.codes) == 40
    assert set(generated.weights) <= set(weights[20:])


def test_the_same_call_gives_the_same_rules_with_any_number_of_threads():
    X, model = people(), Recording(is_granted)
    one, two = (no_rules(X).compact(X, model, max_rules=6, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert dumps(one) == dumps(two)
    other = no_rules(X).compact(X, model, max_rules=6, random_state=1)
    assert dumps(one) != dumps(other)


def test_labels_cannot_be_asked_about_generated_rows():
    X = people()
    with pytest.raises(
        ValueError, match=r"synthetic is 3, but there are no rows .* pass a model .* synthetic=0"
    ):
        no_rules(X).compact(X, np.where(is_granted(X), "yes", "no"), max_rules=2, synthetic=3)


@pytest.mark.parametrize("synthetic", [-1, "some", np.nan])
def test_numbers_of_rows_are_checked(synthetic):
    X = people()
    with pytest.raises(ValueError, match="synthetic"):
        no_rules(X).compact(X, Recording(is_granted), max_rules=2, synthetic=synthetic)


def test_a_model_that_only_answers_for_known_rows_is_imitated_on_these():
    X = people()
    X["pay"] = X["pay"].fillna(0)
    rows = X[["age", "pay"]].to_numpy().tolist()
    known = {tuple(row): granted for row, granted in zip(rows, is_granted(X), strict=True)}

    def remembered(rows):
        return np.array([known[tuple(row)] for row in rows[["age", "pay"]].to_numpy().tolist()])

    with pytest.warns(CompactionWarning, match=r"cannot label rows generated near yours \(KeyError"):
        rules = no_rules(X).compact(X, Recording(remembered), max_rules=4)
    assert dumps(rules) == dumps(no_rules(X).compact(X, Recording(remembered), max_rules=4, synthetic=0))
    with pytest.raises(KeyError):
        no_rules(X).compact(X, Recording(remembered), max_rules=4, synthetic=2)


def test_a_function_is_only_asked_about_generated_rows_on_request():
    X, model = people(), Recording(is_granted)
    clausewise.extract(model.predict, X, max_rules=4)
    n_asked = model.n_asked
    clausewise.extract(model.predict, X, max_rules=4, synthetic=2)
    assert n_asked < 4 * len(X)  # to learn the classes, to see that answers do not depend on chance, and once
    assert model.n_asked - n_asked >= 2 * len(X) + n_asked


def test_large_and_wide_tables_are_searched_on_real_rows_and_finished_on_all():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(4500, 5))
    model = MLPClassifier((16,), max_iter=200, tol=1e-3, random_state=0).fit(X, X[:, 0] ** 2 + X[:, 1] > 1)
    rules, alone = (
        clausewise.extract(model, X, method="pedagogical", max_rules=6, synthetic=synthetic)
        for synthetic in (2, 0)
    )
    X_new = draw.normal(size=(4000, 5))
    fidelity = [np.mean(some.predict(X_new) == model.predict(X_new)) for some in (rules, alone)]
    assert min(fidelity) > 0.9
    assert fidelity[0] > fidelity[1] - 0.01
    assert dumps(rules) != dumps(alone)


def test_a_large_table_only_asks_the_model_for_the_last_stage():
    X, model = people(6000), Recording(is_granted)
    no_rules(X).frontier(X, model, max_rules=2, n_splits=2)
    assert model.n_asked < 4 * len(X)
    no_rules(X).compact(X, model, max_rules=2)
    assert model.n_asked > 16_000


def test_extractors_take_the_number_of_rows():
    X = people()
    numbers = X[["age"]].assign(member=X["member"], pay=X["pay"].fillna(0))
    forest = RandomForestClassifier(20, max_depth=5, random_state=0).fit(numbers, is_granted(X))
    one, other = (
        clausewise.extract(forest, numbers, max_rules=4, synthetic=synthetic) for synthetic in (0, 10)
    )
    assert dumps(one) != dumps(other)
    # True classes are no model's answers.
    trees = clausewise.TreeEnsembleRules(max_rules=4).fit(numbers, is_granted(X))
    assert len(trees.rules_) > 0


def test_series_are_changed_as_series_and_rules_test_their_columns():
    draw = np.random.default_rng(0)
    series = draw.normal(size=(120, 10, 2)).astype(np.float32)
    seen = []

    def peak(rows):
        seen.append(rows)
        return np.where(rows[:, :, 0].max(axis=1) > 1.5, "high", "low")

    def statistics(rows):
        return pd.DataFrame({"highest": rows[:, :, 0].max(axis=1), "mean": rows.mean(axis=(1, 2))})

    network = clausewise.networks.CallableNetwork(peak, classes=["high", "low"], features=statistics)
    rules = clausewise.extract(network, series, method="pedagogical", max_rules=2, synthetic=4)
    assert rules.features.names == ("highest", "mean")
    assert seen[-1].shape == (480, 10, 2)
    # A threshold of the columns of generated series, which is nearer to the true one.
    thresholds = [bound for rule in rules for term in rule.terms for bound in (term.low, term.high)]
    assert any(bound == pytest.approx(1.5, abs=0.1) for bound in thresholds)


def test_texts_are_not_changed():
    texts = np.array(["good film", "bad film", "good", "bad"] * 20, dtype=object)

    def n_good(rows):
        return pd.DataFrame({"good": [text.count("good") for text in rows]})

    network = clausewise.networks.CallableNetwork(
        lambda rows: np.array(["good" in text for text in rows]), classes=[False, True], features=n_good
    )
    with pytest.raises(ValueError, match="an array of numbers, or synthetic=0"):
        clausewise.extract(network, texts, method="pedagogical", max_rules=2, synthetic=2)
