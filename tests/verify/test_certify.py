"""Certificates: proofs that hold, counterexamples that are real, domains that mean something."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import clausewise
from clausewise import RuleSet
from clausewise.networks import ArrayNetwork
from clausewise.networks.plain import UnsupportedLayerError
from clausewise.verify.bounds import BoundedNetwork
from clausewise.verify.questions import NetworkQuestions
from clausewise.verify.search import Claim

NAMES = ["x0", "x1", "x2"]
# Proofs are about any network; these need not have converged.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def smooth_rows(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    rows = random.uniform(-1, 1, size=(n_rows, 3))
    return rows, (np.sin(2 * rows[:, 0]) + rows[:, 1] ** 2 > 0.4 * rows[:, 2] + 0.3).astype(int)


@pytest.fixture(scope="module")
def model():
    rows, classes = smooth_rows(1_500, 0)
    network = MLPClassifier((16, 8), max_iter=150, random_state=0, learning_rate_init=0.01)
    return make_pipeline(StandardScaler(), network).fit(rows, classes)


@pytest.fixture(scope="module")
def rules():
    text = """
    IF x0 > 0.5 AND x2 <= 0.5 THEN 1
    IF x0 <= -0.3 AND x1 > -0.4 AND x1 <= 0.4 THEN 0
    IF x0 > 0 THEN 1
    IF x0 > 3 THEN 1
    """
    return RuleSet.from_text(text, NAMES, classes=[0, 1], default=0)


@pytest.fixture(scope="module")
def certificate(model, rules):
    return rules.certify(model, smooth_rows(1_500, 0)[0], max_boxes=4_000, seconds=600)


def tries_in(certificate, rule: RuleSet, n_rows: int, seed: int) -> np.ndarray:
    """Return rows of the domain inside a rule: random ones, corners, and rows next to its bounds."""
    domain, random = certificate.domain, np.random.RandomState(seed)
    region = domain.region_of(rule.columns, 0)
    low, high = region.low[0], region.high[0]
    draws = random.random_sample((n_rows, len(low)))
    third = n_rows // 3
    draws[:third] = np.round(draws[:third])
    some = random.random_sample((third, len(low))) < 0.5
    draws[third : 2 * third][some] = np.round(draws[third : 2 * third])[some]
    rows = low + draws * (high - low)
    rows = np.clip(np.where(domain.is_whole, np.round(rows), rows), low, high)
    return domain.rows(rows, [random.choice(np.flatnonzero(part[0]), n_rows) for part in region.options])


def attacked(certificate, rule: RuleSet, starts: np.ndarray, n_steps: int = 5) -> np.ndarray:
    """Return rows inside a rule on which a search along the gradient finds another class."""
    prover, domain = certificate.row_prover.prover, certificate.domain
    claim = Claim(certificate.row_prover.decisions[rule.columns.class_index[0]])
    region, rows, found = domain.region_of(rule.columns, 0), starts.copy(), []
    for step in range(n_steps + 1):
        values, slopes = prover.slopes(rows, claim)
        found.append(rows[values < 0])
        reach = 0.25 * 0.75**step * (region.high - region.low)
        moved = rows[:, domain.numbers] - np.sign(slopes) * reach
        moved = np.where(domain.is_whole, np.round(moved), moved)
        rows[:, domain.numbers] = np.clip(moved, region.low, region.high)
    return np.concatenate(found)


def check_no_counterexample(certificate, ask, n_tries: int) -> int:
    """Assert that no row inside a certified rule gets another class; return how many rules there were."""
    certified = certificate.shrunk()
    for number in range(len(certified)):
        rows = tries_in(certificate, certified[number : number + 1], n_tries, number)
        assert certified.evaluator.fires(rows).dense()[number].all()
        answers = ask(certificate.row_prover.questions.rows(rows))
        assert len(attacked(certificate, certified[number : number + 1], rows)) == 0
        assert (answers == certified[number].conclusion).all(), f"rule {number}"
    return len(certified)


def test_no_certified_rule_contains_a_counterexample(certificate, model):
    assert check_no_counterexample(certificate, model.predict, 5_000) >= 3


@pytest.mark.fuzz
def test_no_certified_rule_contains_a_counterexample_among_a_million(certificate, model):
    n_rules = len(certificate.shrunk())
    assert check_no_counterexample(certificate, model.predict, 1_000_000 // n_rules + 1) == n_rules


def test_a_rule_that_always_holds_is_proven_and_a_wrong_one_refuted(certificate):
    assert [proof.status for proof in certificate] == ["proven", "proven", "refuted", "empty"]
    assert certificate[0].proven_volume == 1.0
    assert certificate[0].proven_rows == 1.0
    assert 0.5 < certificate[2].proven_volume < 1.0


def test_counterexamples_satisfy_the_rule_and_get_another_class(certificate, model, rules):
    refuted = [proof for proof in certificate if proof.status == "refuted"]
    assert len(certificate.counterexamples) == len(refuted) == 1
    for row, proof in zip(certificate.counterexamples, refuted, strict=True):
        assert rules[proof.rule].holds(row)
        assert model.predict(row[None])[0] == proof.network_label != proof.predicts


def test_proven_rows_are_those_that_the_network_decides_as_the_rule_says(certificate, model, rules):
    rows = smooth_rows(1_500, 0)[0]
    agrees = model.predict(rows[rows[:, 0] > 0]).mean()
    assert certificate[2].n_rows == (rows[:, 0] > 0).sum()
    assert agrees - 0.1 < certificate[2].proven_rows <= agrees


def test_rows_outside_of_the_domain_are_not_certified(certificate):
    inside, outside = [0.9, 0.0, 0.0], [0.9, 0.0, -1.5]
    assert certificate.certified([inside, outside]).tolist() == [True, False]


def test_certified_rows_are_those_that_the_shrunk_rules_cover(certificate):
    rows = smooth_rows(1_500, 0)[0]
    covered = certificate.shrunk().evaluator.fires(rows).dense().any(axis=0)
    assert (certificate.certified(rows) == covered).all()
    assert covered.sum() == certificate.n_certified_rows


def test_the_same_seed_gives_the_same_certificate(certificate, model, rules):
    again = rules.certify(model, smooth_rows(1_500, 0)[0], max_boxes=4_000, seconds=600, random_state=0)
    assert again.shrunk() == certificate.shrunk()
    assert str(again) == str(certificate)


def test_boxes_around_rows_have_no_other_class_in_them(certificate, model):
    rows = smooth_rows(60, 1)[0]
    rows = rows[certificate.domain.contains(certificate.domain.whole(), rows)[0]]
    proofs = certificate.around(rows)
    assert (proofs.radius > 0).mean() > 0.9
    random = np.random.RandomState(0)
    for row in np.flatnonzero(proofs.radius > 0):
        draws = random.random_sample((300, 3))
        draws[:150] = np.round(draws[:150])
        tries = proofs.low[row] + draws * (proofs.high[row] - proofs.low[row])
        assert (model.predict(tries) == proofs.labels[row]).all()


def test_a_row_outside_of_the_domain_has_no_proven_box(certificate):
    assert np.isnan(certificate.around([[5.0, 0.0, 0.0]]).radius[0])


def test_results_print_and_become_tables(certificate):
    assert str(certificate).startswith("4 rules on the domain of 1,500 rows: 2 proven, 1 refuted, 0 open")
    assert certificate.to_frame()["status"].tolist() == ["proven", "proven", "refuted", "empty"]
    assert "<table" in certificate._repr_html_()
    around = certificate.around(smooth_rows(5, 0)[0])
    assert len(around.to_frame()) == 5
    assert "<table" in around._repr_html_()


def test_a_reached_limit_is_said(model, rules):
    certificate = rules.certify(model, smooth_rows(200, 0)[0], seconds=1e-6)
    assert certificate.is_stopped
    assert "The time was over" in str(certificate)
    assert certificate[0].status == "open"


@pytest.mark.parametrize("seconds", [1.0, 20.0])
def test_the_limit_of_seconds_is_kept_and_used(model, rules, monkeypatch, seconds):
    now = 0.0
    bound = BoundedNetwork.bound

    def slow_bound(self, boxes, functions, offsets):
        nonlocal now
        now += 0.002 * len(boxes)  # all that takes time on this clock: 500 boxes a second
        return bound(self, boxes, functions, offsets)

    monkeypatch.setattr(BoundedNetwork, "bound", slow_bound)
    monkeypatch.setattr("clausewise.verify.search.time", SimpleNamespace(monotonic=lambda: now))
    certificate = rules[2:3].certify(model, smooth_rows(500, 0)[0], max_boxes=10**6, seconds=seconds)
    assert certificate.is_stopped
    assert 0.5 * seconds < now <= seconds


def test_of_many_rows_a_sample_is_followed_within_the_time(model, rules, monkeypatch):
    now, asked = 0.0, 0
    codes = NetworkQuestions.codes

    def slow_codes(self, matrix):
        nonlocal now, asked
        now, asked = now + 0.01 * len(matrix), asked + len(matrix)  # 100 rows a second
        return codes(self, matrix)

    monkeypatch.setattr(NetworkQuestions, "codes", slow_codes)
    monkeypatch.setattr("clausewise.verify.search.time", SimpleNamespace(monotonic=lambda: now))
    rows = smooth_rows(1_500, 0)[0]
    certificate = rules.certify(model, rows, max_boxes=200, seconds=10)
    assert now <= 10
    assert certificate.is_stopped
    assert certificate.n_rows == 1_500
    assert certificate[0].n_rows < certificate.n_followed_rows < asked < 1_000
    assert f"asked about {certificate.n_followed_rows} of the 1,500 rows" in str(certificate)
    assert (certificate.matrix != rows[: certificate.n_followed_rows]).any()  # not the first ones
    now = 0.0
    around = certificate.around(rows, seconds=3)
    assert now <= 3
    assert around.is_stopped
    assert "the time was over" in str(around)
    assert around.labels[0] in (0, 1)
    assert around.labels[-1] is None
    assert np.isnan(around.radius[-1])


def test_at_most_so_many_rows_are_followed_and_the_domain_is_that_of_all(model, rules, monkeypatch):
    monkeypatch.setattr("clausewise.verify.certification._MAX_ROWS", 100)
    rows = smooth_rows(1_500, 0)[0]
    certificate = rules.certify(model, rows, max_boxes=200, seconds=600)
    assert (certificate.n_rows, certificate.n_followed_rows) == (1_500, 100)
    assert not certificate.is_stopped
    assert certificate.domain.low.tolist() == rows.min(axis=0).tolist()
    assert len(certificate.shrunk()) > 0


def test_many_columns_are_said_before_the_time_is_spent():
    network = ArrayNetwork([np.ones((11, 1))], [np.array([-5.0])], output="sigmoid")
    names = [f"x{column}" for column in range(11)]
    rules = RuleSet.from_text("IF x0 > 0.5 THEN 1", names, classes=[0, 1], default=0)
    with pytest.warns(UserWarning, match="11 independent columns.* take 60 seconds"):
        rules.certify(network, np.random.RandomState(0).uniform(size=(50, 11)), max_boxes=10)


def test_rows_that_the_rules_cannot_read_are_not_in_the_domain(mixed):
    model, table = mixed
    features = clausewise.wrap(model).features(table)
    rules = RuleSet.from_text("IF income > 2.5 THEN 1", features, classes=[0, 1], default=0)
    # The network itself would refuse both.
    strange = table[:2].assign(job=["pilot", "sailor"], income=[np.nan, 3.0])
    found = rules.certify(model, pd.concat([strange, table]), max_boxes=500)
    assert (found.n_rows, found.n_left_out) == (len(table), 2)
    assert "2 rows were left out" in str(found)


def test_rules_against_a_class_are_about_all_others(model):
    text = "IF x0 > 0.5 AND x2 <= 0.5 THEN 0 WITH weight -1"
    rules = RuleSet.from_text(text, NAMES, classes=[0, 1], default=0, voting="weights")
    certificate = rules.certify(model, smooth_rows(1_500, 0)[0], max_boxes=4_000)
    assert certificate[0].status == "proven"
    assert certificate[0].conclusion == "not 0"
    assert certificate.shrunk()[0].conclusion == 1


def test_certified_rows_get_the_class_of_the_network_from_rules_against_classes():
    weights = [4 * np.array([[1.0, 0.0, -1.0], [0.0, 1.0, 0.0]])]
    network = ArrayNetwork(weights, [np.zeros(3)], output="softmax")
    rows = np.random.RandomState(0).uniform(-1, 1, size=(500, 2))
    text = "IF x0 > 0.3 AND x1 > 0.5 THEN 2 WITH weight -1\nIF x0 > 0.8 THEN 0"
    for classes in ([0, 1, 2], [0, 2]):  # of the network's, the rules may not know some
        rules = RuleSet.from_text(text, ["x0", "x1"], classes=classes, default=0, voting="weights")
        certificate = rules.certify(network, rows, max_boxes=2_000)
        assert certificate[0].status == "proven"
        inside = certificate.certified(rows)
        assert inside.sum() == certificate.n_certified_rows > 10
        assert (certificate.shrunk().predict(rows[inside]) == network.labels(rows[inside])).all()


def test_whole_numbers_are_the_only_values_between_bounds():
    # Predicts 1 for 0.1 < x < 0.9 only, which no whole number is.
    weights = [np.array([[40.0, 40.0]]), np.array([[8.0], [-8.0]])]
    biases = [np.array([-8.0, -32.0]), np.array([-4.0])]
    network = ArrayNetwork(weights, biases, activation="sigmoid", output="logits")
    rules = RuleSet.from_text("IF x0 <= 5 THEN 0", ["x0"], classes=[0, 1], default=0)
    whole = rules.certify(network, np.arange(-3.0, 4.0)[:, None], max_boxes=500)
    real = rules.certify(network, np.linspace(-3.0, 3.0, 8)[:, None], max_boxes=500)
    assert whole[0].status == "proven"
    assert real[0].status == "refuted"
    assert whole.certified([[0.5], [0.0]]).tolist() == [False, True]
    assert np.isnan(whole.around([[0.5], [0.0]]).radius).tolist() == [True, False]


@pytest.fixture(scope="module")
def mixed():
    random = np.random.RandomState(0)
    n_rows = 600
    table = pd.DataFrame(
        {
            "age": random.randint(18, 80, n_rows),
            "job": random.choice(["cook", "nurse", "pilot"], n_rows),
            "income": random.uniform(0, 5, n_rows),
            "smokes": random.random(n_rows) < 0.3,
        }
    )
    classes = ((table["income"] > 2) | (table["job"] == "pilot")).astype(int)
    columns = make_column_transformer(
        (StandardScaler(), ["age", "income"]), (OneHotEncoder(), ["job"]), ("passthrough", ["smokes"])
    )
    return make_pipeline(columns, MLPClassifier((12,), max_iter=300, random_state=0)).fit(
        table, classes
    ), table


def test_categories_and_whole_numbers_stay_valid(mixed):
    model, table = mixed
    text = "IF income > 2.5 THEN 1\nIF job IN {cook, nurse} THEN 0\nIF job = pilot AND income > 1 THEN 1"
    features = clausewise.wrap(model).features(table)
    rules = RuleSet.from_text(text, features, classes=[0, 1], default=0)
    certificate = rules.certify(model, table, max_boxes=4_000)
    assert [proof.status for proof in certificate] == ["proven", "refuted", "proven"]
    counterexample = certificate.counterexamples
    assert set(counterexample["job"]) <= {"cook", "nurse"}
    assert (counterexample["age"] == counterexample["age"].round()).all()
    assert check_no_counterexample(certificate, model.predict, 2_000) >= 3


def test_columns_of_a_table_are_found_by_name(mixed):
    model, table = mixed
    features = clausewise.wrap(model).features(table)
    text = "IF income > 2.5 THEN 1\nIF job IN {cook, nurse} THEN 0"
    rules = RuleSet.from_text(text, features, classes=[0, 1], default=0)
    turned = table[["job", "smokes", "income", "age"]]
    expected, found = (rules.certify(model, one, max_boxes=2_000) for one in (table, turned))
    assert str(found) == str(expected)
    assert check_no_counterexample(found, model.predict, 500) == len(expected.shrunk())


def test_one_hot_blocks_of_the_table_have_a_single_one():
    # 1 where both columns of the block are 1, which never happens.
    network = ArrayNetwork([np.array([[1.0], [1.0], [0.0]])], [np.array([-1.5])], output="sigmoid")
    block = np.eye(2)[np.random.RandomState(0).randint(0, 2, 50)]
    rows = np.hstack([block, np.random.RandomState(1).uniform(size=(50, 1))])
    rules = RuleSet.from_text("IF x2 > 0 THEN 0", NAMES, classes=[0, 1], default=0)
    assert rules.certify(network, rows, max_boxes=100)[0].status == "proven"


def test_unsupported_models_and_layers_are_named(model, rules):
    rows, classes = smooth_rows(100, 0)
    with pytest.raises(UnsupportedLayerError, match="DecisionTreeClassifier is not a feed-forward network"):
        rules.certify(DecisionTreeClassifier().fit(rows, classes), rows)
    squares = make_pipeline(PolynomialFeatures(2), MLPClassifier((3,), max_iter=5)).fit(rows, classes)
    with pytest.raises(UnsupportedLayerError, match="PolynomialFeatures"):
        rules.certify(squares, rows)
    with pytest.raises(TypeError, match="pass the model itself"):
        rules.certify(classes, rows)
    strange = ArrayNetwork([np.ones((3, 2)), np.ones((2, 2))], [np.zeros(2), np.zeros(2)], activation=np.sin)
    with pytest.raises(UnsupportedLayerError, match="sin"):
        rules.certify(strange, rows)
