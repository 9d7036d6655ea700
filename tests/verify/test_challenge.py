"""Challenges: inputs near real rows on which a network really contradicts the rules."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import clausewise
from clausewise import Rule, RuleSet, Term
from clausewise.networks import ArrayNetwork
from clausewise.rules.abstention import Abstention

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

NAMES = ["x0", "x1", "x2"]
TEXT = "IF x0 > 0.1 AND x2 <= 0.5 THEN 1\nIF x0 <= -0.3 THEN 0\nIF x1 > 0.2 THEN 1"


@pytest.fixture(scope="module")
def rows():
    return np.random.RandomState(0).uniform(-1, 1, size=(800, 3))


def models(rows: np.ndarray) -> dict[str, object]:
    classes = (np.sin(2 * rows[:, 0]) + rows[:, 1] ** 2 > 0.4 * rows[:, 2] + 0.3).astype(int)
    network = make_pipeline(StandardScaler(), MLPClassifier((16, 8), max_iter=100, random_state=0))
    forest = RandomForestClassifier(20, max_depth=5, random_state=0)
    return {"network": network.fit(rows, classes), "forest": forest.fit(rows, classes)}


@pytest.fixture(scope="module")
def rules():
    return RuleSet.from_text(TEXT, NAMES, classes=[0, 1], default=0)


@pytest.fixture(scope="module", params=["network", "forest"])
def challenged(request, rows, rules):
    model = models(rows)[request.param]
    return rules.challenge(model, rows), model


def test_every_input_satisfies_what_it_contradicts(challenged, rules):
    found, model = challenged
    assert len(found.rows) > 0
    predicted, decided = model.predict(found.rows), rules.predict(found.rows)
    for row, place in enumerate(found.attack_of_row):
        attack = found[place]
        assert predicted[row] == found.labels[row] != attack.label
        if attack.kind == "rule":
            assert rules[attack.rule].holds(found.rows[row])
        else:
            assert decided[row] == attack.label


def test_there_is_an_attack_for_each_rule_and_each_decision(challenged, rows, rules):
    found, model = challenged
    assert [attack.title for attack in found] == [
        "rule 0 (1)",
        "rule 1 (0)",
        "rule 2 (1)",
        "decision 0",
        "decision 1",
    ]
    fires = rules.evaluator.fires(rows).dense()
    assert [attack.n_rows for attack in found[:3]] == fires.sum(axis=1).tolist()
    wrong = [(model.predict(rows[fires[rule]]) != rules[rule].conclusion).sum() for rule in range(3)]
    assert [attack.n_contradicted for attack in found[:3]] == wrong


def test_distances_are_those_to_the_nearest_real_row(challenged, rows):
    found, _ = challenged
    units = rows.std(axis=0)
    apart = np.linalg.norm(found.rows[:, None] / units - rows[None] / units, axis=2)
    assert np.allclose(found.distances, apart.min(axis=1))
    between = np.linalg.norm(rows[:, None] / units - rows[None] / units, axis=2)
    np.fill_diagonal(between, np.inf)
    usual = between.min(axis=1)
    expected = [100 * (usual < distance).mean() for distance in found.distances]
    assert np.allclose(found.percentiles, expected)
    for attack in found:
        if attack.n_found:
            assert attack.radius <= attack.median_radius
            assert (attack.percentile > found.near) <= (attack.n_near == 0)
            assert attack.n_near <= attack.n_found


def test_how_many_rows_have_an_input_nearby_depends_on_what_is_near(rows, rules):
    model = models(rows)["network"]
    counts = [[attack.n_near for attack in rules.challenge(model, rows, near=near)] for near in (0, 50, 100)]
    found = [attack.n_found for attack in rules.challenge(model, rows)]
    assert counts[2] == found
    assert sum(counts[0]) < sum(counts[1]) < sum(counts[2])


def test_the_nearest_input_is_about_as_near_as_the_decision_boundary(rows):
    # The network predicts 1 right of 0.3, the rule right of 0: the nearest input is just left of 0.3.
    network = ArrayNetwork([np.array([[10.0], [0.0], [0.0]])], [np.array([-3.0])], output="sigmoid")
    rules = RuleSet.from_text("IF x0 > 0 THEN 1", NAMES, classes=[0, 1], default=0)
    attack = rules.challenge(network, rows)[0]
    real = rows[rows[:, 0] > 0.3]
    least = (real[:, 0].min() - 0.3) / rows[:, 0].std()
    assert attack.n_found == attack.n_tried
    assert attack.radius >= 0.9 * least
    assert attack.median_radius < 1.5 * (np.median(real[:, 0]) - 0.3) / rows[:, 0].std()
    assert attack.n_contradicted == ((rows[:, 0] > 0) & (rows[:, 0] <= 0.3)).sum()


def test_a_rule_that_the_network_follows_everywhere_is_not_broken(rows):
    network = ArrayNetwork([np.array([[10.0], [0.0], [0.0]])], [np.array([0.0])], output="sigmoid")
    rules = RuleSet.from_text("IF x0 > 0 THEN 1", NAMES, classes=[0, 1], default=0)
    found = rules.challenge(network, rows)
    assert [attack.n_found for attack in found] == [0, 0, 0]
    assert "no input found" in str(found)
    assert len(found.worst()) == 0


def test_a_module_whose_layers_are_not_supported_is_searched_along_its_gradient(rows, rules):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layers = torch.nn.Linear(3, 16), torch.nn.GELU(), torch.nn.LayerNorm(16), torch.nn.Linear(16, 2)
    network = clausewise.wrap(torch.nn.Sequential(*layers).eval(), output="logits")
    model = network.differentiable(rows)
    weights = np.tile([1.0, -1.0], (len(rows), 1))
    slopes = model.network.gradients(rows, weights)
    step = 1e-2 * np.eye(3)
    ends = [(model.network.outputs(rows + sign * step[0]) * weights).sum(axis=1) for sign in (1, -1)]
    assert np.allclose(slopes[:, 0], (ends[0] - ends[1]) / 2e-2, atol=0.02)
    found = rules.challenge(network, rows, max_queries=2_000)
    assert (network.labels(found.rows) == np.array(found.labels)).all()
    assert any(attack.n_found > 0 for attack in found)


def test_fixed_columns_stay_as_on_real_rows(rows, rules):
    model = models(rows)["network"]
    found = rules.challenge(model, rows, fixed=["x0", 2])
    assert len(found.rows) > 0
    assert np.isin(found.rows[:, 0], rows[:, 0]).all()
    assert np.isin(found.rows[:, 2], rows[:, 2]).all()
    assert not np.isin(found.rows[:, 1], rows[:, 1]).all()


def test_the_same_seed_gives_the_same_inputs(rows, rules):
    model = models(rows)["network"]
    one, other = (rules.challenge(model, rows, random_state=3) for _ in range(2))
    assert (one.rows == other.rows).all()
    assert str(one) == str(other)


def test_categories_and_whole_numbers_stay_valid():
    random = np.random.RandomState(0)
    table = pd.DataFrame(
        {
            "age": random.randint(18, 80, 400),
            "job": random.choice(["cook", "nurse", "pilot"], 400),
            "income": random.uniform(0, 5, 400),
        }
    )

    def network(rows):
        return np.where((rows["income"] > 2 + (rows["age"] > 50)) | (rows["job"] == "pilot"), "yes", "no")

    features = clausewise.Features.learn(table)
    text = "IF income > 2 THEN yes\nIF job IN {cook, nurse} AND income <= 3 THEN no"
    rules = RuleSet.from_text(text, features, classes=["no", "yes"], default="no")
    found = rules.challenge(network, table)
    worst = found.worst()
    assert len(found.rows) > 0
    assert set(worst["job"]) <= {"cook", "nurse", "pilot"}
    assert (found.rows["age"] == found.rows["age"].round()).all()
    assert (network(found.rows) == np.array(found.labels)).all()


def test_a_small_budget_is_kept_and_a_reached_time_limit_is_said(rows, rules):
    asked = []

    def network(given):
        asked.append(len(given))
        return (given[:, 0] > 0).astype(int)

    rules.challenge(clausewise.wrap(network, classes=[0, 1]), rows, max_queries=50)
    # The rows themselves, those with which the network is inspected, and 50 inputs for each attack.
    assert sum(asked) < 2 * len(rows) + 5 * (50 + 64) + 1_000
    stopped = rules.challenge(models(rows)["network"], rows, max_seconds=1e-6)
    assert stopped.is_stopped
    assert "The time was over" in str(stopped)


def test_results_print_and_become_tables(challenged):
    found, _ = challenged
    assert str(found).startswith("5 rules and decisions challenged")
    assert len(found.to_frame()) == 5
    assert found.worst(3)["distance"].is_monotonic_increasing
    assert list(found.worst(3).columns)[-3:] == NAMES
    assert "<table" in found._repr_html_()


def test_parameters_are_checked(rows, rules):
    with pytest.raises(ValueError, match="near is 101"):
        rules.challenge(lambda given: given[:, 0] > 0, rows, near=101)
    with pytest.raises(ValueError, match="There is no column 'z'"):
        rules.challenge(lambda given: (given[:, 0] > 0).astype(int), rows, fixed=["z"])


def test_rows_that_the_rules_cannot_read_are_left_out_with_a_note():
    random = np.random.RandomState(0)
    table = pd.DataFrame(
        {"job": random.choice(["cook", "nurse"], 200), "income": random.uniform(0, 5, 200).round(2)}
    )
    rules = RuleSet.from_text(
        "IF income > 2 THEN yes", clausewise.Features.learn(table), classes=["no", "yes"], default="no"
    )
    strange = pd.DataFrame({"job": ["pilot", "cook"], "income": [1.0, np.nan]})

    def network(rows):
        return np.where(rows["income"] > 2 + (rows["job"] == "cook"), "yes", "no")

    found = rules.challenge(network, pd.concat([strange, table]))
    assert found.n_left_out == 2
    assert "2 rows were left out" in str(found)
    assert found[0].n_rows == (table["income"] > 2).sum()
    with pytest.raises(ValueError, match="Each of the 2 rows of X has a missing value"):
        rules.challenge(network, strange)


def test_rows_without_a_decision_are_not_attacked_as_a_class(rows):
    rules = RuleSet.from_text(TEXT, NAMES, classes=[0, 1], default=0).with_voting("majority")
    model = models(rows)["network"]
    careful = replace(rules, abstention=Abstention(1.0, -1))
    assert (careful.predict(rows) == -1).any()
    decisions = [attack for attack in careful.challenge(model, rows) if attack.kind == "decision"]
    n_rows = [(careful.predict(rows) == attack.label).sum() for attack in decisions]
    assert [attack.n_rows for attack in decisions] == n_rows
    assert len({attack.label for attack in decisions}) == len(decisions)


def test_what_was_changed_in_the_nearest_real_row_is_said():
    rows = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    rules = RuleSet.from_text("IF a > 0 THEN 1", ["a", "b"], classes=[0, 1], default=0)
    found = rules.challenge(lambda given: (given[:, 0] > 1).astype(int), rows)
    attack = found[0]
    assert (attack.n_rows, attack.n_contradicted) == (3, 1)
    # Whole numbers only: the nearest input that contradicts is the real row with a = 1.
    assert found.changes[0] == "none"
    broken = rules.challenge(lambda given: (given[:, 0] != 1).astype(int), rows[[0, 2, 3]])
    assert broken.worst()["changed"].tolist()[0] in {"a 0 → 1", "a 2 → 1"}
    assert "a 2 → 1" in broken._repr_html_() or "a 0 → 1" in broken._repr_html_()


def test_a_slow_model_is_asked_about_few_inputs_at_once_so_that_the_time_is_kept(rows, rules, monkeypatch):
    now, asked = 0.0, []
    monkeypatch.setattr("clausewise.verify.search.time", SimpleNamespace(monotonic=lambda: now))

    def network(given):
        nonlocal now
        asked.append(len(given))
        now += 0.02 * len(given)  # two hundredths of a second per row
        return (given[:, 0] > 0.4).astype(int)

    found = rules.challenge(clausewise.wrap(network, classes=[0, 1]), rows, max_seconds=60)
    assert found.is_stopped
    assert max(asked) <= 1_024
    # After the end: one more question at most, and inputs that had been found are confirmed.
    assert now <= 60 + 0.02 * (1_024 + 64 * len(found))


def test_every_category_is_tried():
    random = np.random.RandomState(0)
    jobs = np.array(list("abcdefghijkl"))
    table = pd.DataFrame({"job": random.choice(jobs, 400), "x": random.uniform(size=400)})
    table.loc[table["job"] == "d", "x"] = 0.9
    rules = RuleSet.from_rules(
        [Rule((Term(1, "x", high=0.5),), 0)], clausewise.Features.learn(table), default=0, classes=[0, 1]
    )
    # Another class for a category that is no real row inside the rule.
    network = clausewise.wrap(
        lambda rows: ((rows["job"] == "d") & (rows["x"] <= 0.5)).astype(int).to_numpy(), classes=[0, 1]
    )
    found = rules.challenge(network, table)
    assert found[0].n_contradicted == 0
    assert found[0].n_found == found[0].n_tried > 0
    assert set(found.rows["job"]) == {"d"}


def test_values_just_beyond_thresholds_are_tried():
    rows = np.random.RandomState(0).uniform(size=(400, 2))
    rows = rows[np.abs(rows[:, 0] - 0.5) > 0.01]
    rules = RuleSet.from_text("IF x0 > 0.5 THEN 1", ["x0", "x1"], classes=[0, 1], default=0)
    # As the rules decide, but for a sliver just beyond the threshold.
    network = clausewise.wrap(lambda table: (table[:, 0] > 0.50001).astype(int), classes=[0, 1])
    found = rules.challenge(network, rows)
    broken = next(attack for attack in found if attack.kind == "decision" and attack.label == 1)
    assert broken.n_contradicted == 0
    assert broken.n_found > 0
