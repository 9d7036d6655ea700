"""Rules over columns that `features=` computes, for networks that read something else than a table."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

import clausewise
from clausewise.features import IntervalFeatures
from clausewise.networks import CallableNetwork
from clausewise.report.page_api import PageApi
from clausewise.report.payload import ReportData
from clausewise.report.served_rows import ServedClasses

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch import nn  # noqa: E402

DRAW = np.random.default_rng(0)
SERIES = DRAW.normal(size=(240, 12, 2)).cumsum(axis=1).astype(np.float32)
TRAIN, TEST = SERIES[:180], SERIES[180:]
INTERVALS = IntervalFeatures((1, 2), channel_names=["x", "y"]).fit(SERIES)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(2, 5, batch_first=True), nn.Linear(5, 2)

    def forward(self, x):
        return self.out(self.lstm(x)[0][:, -1])


@pytest.fixture(scope="module")
def one_thread():
    """Train with one thread: for networks this small, several only wait for each other."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(n_threads)


@pytest.fixture(scope="module")
def network(one_thread):
    torch.manual_seed(0)
    module = Recurrent()
    optimizer = torch.optim.Adam(module.parameters(), 0.05)
    rows = torch.tensor(TRAIN)
    labels = torch.tensor((TRAIN[:, :, 0].mean(axis=1) > 0).astype(np.int64))
    for _ in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(module(rows), labels).backward()
        optimizer.step()
    return clausewise.wrap(module, features=INTERVALS, classes=["down", "up"])


@pytest.fixture(scope="module")
def eclaire(network):
    return clausewise.ECLAIRE(network, max_rules=4, n_jobs=1).fit(TRAIN)


def test_rules_test_the_columns_and_the_network_reads_the_series(network, eclaire):
    table = pd.DataFrame(INTERVALS.transform(TEST), columns=INTERVALS.get_feature_names_out())
    assert eclaire.rules_.features.names == tuple(table.columns)
    assert eclaire.feature_names_in_.tolist() == list(table.columns)
    np.testing.assert_array_equal(eclaire.predict(TEST), eclaire.predict(table))
    agreement = (eclaire.predict(TEST) == network.labels(TEST)).mean()
    assert eclaire.fidelity(TEST) == agreement > 0.8


@pytest.mark.parametrize("method", ["pedagogical", "rem-d", "deepred"])
def test_every_method_reads_the_columns(network, method):
    rules = clausewise.extract(network, TRAIN, method=method, max_rules=3, min_cases=20, n_jobs=1)
    assert rules.features.names == tuple(INTERVALS.get_feature_names_out())
    assert rules.evaluate(TEST, network=network).fidelity > 0.7


def test_forests_read_the_columns_too(network):
    rules = clausewise.extract(network, TRAIN, method="rem-t", y=network.labels(TRAIN), max_rules=3, n_jobs=1)
    assert rules.evaluate(TEST, network=network).fidelity > 0.7


def test_the_summary_names_what_computes_the_columns(network):
    assert str(network).splitlines()[0].endswith("; rules test columns of IntervalFeatures")


def test_questions_about_rules_take_series(network, eclaire, tmp_path):
    rules = eclaire.rules_
    assert rules.evaluate(TEST, network=network).fidelity == eclaire.fidelity(TEST)
    assert len(rules.explain(TEST[:3])) == len(eclaire.explain(TEST[:3])) == 3
    compacted = rules.compact(TRAIN, network, max_rules=2, n_jobs=1)
    assert len(compacted) <= 2
    assert compacted.evaluate(TEST, network=network).fidelity > 0.7
    assert rules.explain_global(TEST, network).n_rows == len(TEST)
    eclaire.report(tmp_path / "report.html", TEST)
    assert "x mean 0–11" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_served_page_does_not_ask_the_network_about_columns(network, eclaire):
    api = PageApi(ServedClasses(ReportData(eclaire.rules_, TEST, network=network)))
    assert not api.served["has_network"]
    edited = {"rules": json.loads(clausewise.io.dumps(eclaire.rules_))}
    assert api.measures(edited)["fidelity"] == eclaire.fidelity(TEST)


def test_changes_are_found_for_the_rules_and_cannot_be_confirmed(network, eclaire):
    rules = eclaire.rules_
    found = rules.counterfactuals(TEST[:5], reference=TRAIN)
    assert all(one.is_found for one in found)
    assert [one.prediction for one in found] == rules.predict(TEST[:5]).tolist()
    with pytest.raises(ValueError, match="rules test columns that IntervalFeatures computes"):
        rules.counterfactuals(TEST[:5], network=network)


def test_the_columns_alone_do_not_suffice_for_the_network(network, eclaire):
    table = pd.DataFrame(INTERVALS.transform(TEST), columns=INTERVALS.get_feature_names_out())
    with pytest.raises(ValueError, match="the network reads the rows from which they are computed"):
        eclaire.rules_.evaluate(table, network=network)


def test_exports_say_what_computes_their_columns(eclaire):
    rules = eclaire.rules_
    note = "columns computed by IntervalFeatures"
    exports = (rules.to_sql("t"), rules.to_python(), rules.to_pmml(), rules.to_markdown(), rules.to_latex())
    for text in (*exports, rules.to_graphviz(), str(rules)):
        assert note in text


def test_rule_files_keep_the_columns_and_not_the_function(eclaire, tmp_path):
    eclaire.rules_.save(tmp_path / "rules.json")
    loaded = clausewise.RuleSet.load(tmp_path / "rules.json")
    assert loaded == eclaire.rules_
    np.testing.assert_array_equal(loaded.predict(INTERVALS.transform(TEST)), eclaire.predict(TEST))


def test_estimators_are_cloned_and_pickled_with_their_columns(eclaire):
    again = clone(eclaire).fit(TRAIN)
    assert again.rules_ == eclaire.rules_
    rules = pickle.loads(pickle.dumps(eclaire.rules_))
    np.testing.assert_array_equal(rules.predict(TEST), eclaire.predict(TEST))


def test_sampled_rows_give_the_same_rules_for_any_number_of_threads(network):
    one, two = (clausewise.extract(network, TRAIN, max_rules=3, max_rows=100, n_jobs=n) for n in (1, 2))
    assert one == two


# --- Other forms of rows ---

TEXTS = ["good film", "bad film", "good", "bad plot", "dull", "a good plot"] * 10


def is_positive(texts):
    return np.array(["yes" if "good" in text else "no" for text in texts])


@pytest.mark.parametrize("rows", [TEXTS, np.array(TEXTS), pd.Series(TEXTS)], ids=["list", "array", "Series"])
def test_rows_may_be_texts(rows):
    words = CountVectorizer().fit(TEXTS)
    network = CallableNetwork(is_positive, classes=["no", "yes"], features=words)
    model = clausewise.Pedagogical(network, max_rules=2, n_jobs=1).fit(rows)
    assert model.fidelity(rows) == 1.0
    assert "good" in str(model.rules_)


def test_rows_may_differ_in_length():
    rows = [DRAW.normal(size=2 + number % 5).tolist() for number in range(60)]

    def measures(lists):
        return pd.DataFrame({"first": [one[0] for one in lists], "size": [len(one) for one in lists]})

    network = CallableNetwork(
        lambda lists: np.array([one[0] > 0 for one in lists]), classes=[False, True], features=measures
    )
    assert (
        clausewise.extract(network, rows, method="pedagogical", n_jobs=1)
        .evaluate(rows, network=network)
        .fidelity
        == 1.0
    )


def test_columns_may_have_categories_and_missing_values():
    def described(rows):
        sign = np.where(rows[:, 0] > 0, "above", "below")
        return pd.DataFrame({"sign": sign, "log": np.where(rows[:, 1] > 0, 1.0, np.nan)})

    rows = DRAW.normal(size=(100, 2))
    network = CallableNetwork(lambda X: X[:, 0] > 0, classes=[False, True], features=described)
    features = network.features(rows)
    assert dict(zip(features.names, features.kinds, strict=True)) == {"sign": "categorical", "log": "numeric"}
    assert (
        clausewise.extract(network, rows, method="pedagogical", n_jobs=1)
        .evaluate(rows, network=network)
        .fidelity
        == 1.0
    )


def test_names_of_an_array_are_given_as_feature_names():
    network = CallableNetwork(
        lambda X: X[:, 0] > 0, classes=[False, True], features=lambda X: X[:, :1], feature_names=["level"]
    )
    assert network.features(DRAW.normal(size=(5, 3))).names == ("level",)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (lambda X: X[:2], r"features= \(a function\) returned 2 rows for 4 rows of X"),
        (lambda X: X[:, 0], r"returned a ndarray of shape \(4,\); return a DataFrame or an array"),
        (lambda X: X / 0.0, r"X holds infinity in row 0, column 'x0'"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_columns_that_cannot_be_used_are_refused(features, message):
    network = CallableNetwork(lambda X: X[:, 0] > 0, classes=[False, True], features=features)
    with pytest.raises(ValueError, match=message):
        clausewise.extract(network, np.arange(1.0, 9.0).reshape(4, 2), method="pedagogical")


def test_features_must_be_a_function_or_a_transformer():
    with pytest.raises(TypeError, match="features is 'mean'; expected a fitted transformer"):
        CallableNetwork(lambda X: X[:, 0] > 0, classes=[False, True], features="mean")


def test_extract_takes_rows_of_different_lengths():
    series = [np.arange(length) * float(sign) for length in (3, 4, 5) for sign in (1, -1)] * 10

    def last(rows):
        return pd.DataFrame({"last": [row[-1] for row in rows], "steps": [len(row) for row in rows]})

    def model(rows):
        return np.array(["rises" if row[-1] > 0 else "falls" for row in rows])

    rules = clausewise.extract(clausewise.wrap(model, features=last), series)
    assert rules.predict(series).tolist() == model(series).tolist()
