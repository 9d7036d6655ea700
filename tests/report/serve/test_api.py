"""The API answers as Python does: predictions of the network, and measures on all rows."""

import json

import numpy as np
import pandas as pd
import pytest

from clausewise import Features, Rule, RuleSet, Term, wrap
from clausewise.io.json import dumps
from clausewise.report import Explorer
from tests.report.serve.client import AGE, JOB, MEASURES, PREDICT, a_network, ask, refusal, send
from tests.rules.random_rules import random_features, random_ruleset, random_table, raw


def test_the_network_predicts_as_in_python(explorer, people):
    X, _, network = people
    chosen = X.iloc[:40]
    status, found = ask(explorer, PREDICT, {"rows": chosen.to_numpy(dtype=object).tolist()})
    assert status == 200
    assert found["classes"] == ["no", "yes"]
    assert found["labels"] == network.labels(chosen).tolist()
    assert found["probabilities"] == network.probabilities(chosen).tolist()
    assert {"no", "yes"} == set(found["labels"])


def test_the_network_predicts_values_that_are_not_in_the_data(explorer, people):
    network = people[2]
    found = ask(explorer, PREDICT, {"rows": [[51.25, "cook", 1, 2.5]]})[1]
    row = pd.DataFrame({"age": [51.25], "job": ["cook"], "smokes": [True], "visits": [2.5]})
    assert found["probabilities"] == network.probabilities(row).tolist()


def test_the_network_predicts_a_row_of_the_data_with_changes(explorer, people):
    X, _, network = people
    asked = [{"number": 7, "changes": []}, {"number": 7, "changes": [[AGE, 80.5], [JOB, "pilot"]]}]
    found = ask(explorer, PREDICT, {"rows": asked})[1]
    rows = pd.concat([X.iloc[[7]], X.iloc[[7]].assign(age=80.5, job="pilot")])
    assert found["probabilities"] == network.probabilities(rows).tolist()


def test_a_torch_network_predicts_the_same_in_the_threads_of_the_server():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    network = wrap(model)
    labels = network.labels(X)
    rules = RuleSet.from_rules([], ["x", "y"], default=int(labels[0]), classes=[0, 1, 2])
    with Explorer(rules, X, network=network) as explorer:
        found = ask(explorer, PREDICT, {"rows": X.tolist()})[1]
    assert found["labels"] == labels.tolist()
    assert found["probabilities"] == network.probabilities(X).tolist()
    assert found["classes"] == [0, 1, 2]


def test_equal_requests_have_equal_responses(explorer):
    request = json.dumps({"rows": [[51.25, "cook", True, 2]]})
    assert len({send(explorer, PREDICT, request)[2] for _ in range(5)}) == 1


def test_rules_are_measured_on_all_rows_as_in_python(explorer, rules, people):
    X, y, network = people
    edited = rules[[0, 2]].with_voting("majority").with_default("yes")
    status, found = ask(explorer, MEASURES, {"rules": json.loads(dumps(edited))})
    expected = edited.evaluate(X, y, network=network.labels(X))
    assert status == 200
    assert found == {
        "n_rows": len(X),
        "fidelity": expected.fidelity,
        "accuracy": expected.accuracy,
        "coverage": expected.coverage,
    }
    assert 0 < found["coverage"] < 1


@pytest.mark.parametrize("seed", range(6))
def test_random_rules_are_measured_as_in_python(seed):
    rng = np.random.default_rng(seed)
    features = random_features(rng, 5)
    X = raw(features, random_table(rng, features, 400).encoded())
    rules = random_ruleset(rng, features, 20)
    y = rng.choice(rules.labels, 400)
    with Explorer(rules, X, y, network=rules.predict(X)) as explorer:
        for voting in ("confidence", "majority", "share", "weights"):
            edited = random_ruleset(rng, features, 15, voting=voting)
            found = ask(explorer, MEASURES, {"rules": json.loads(dumps(edited))})[1]
            expected = edited.evaluate(X, y, network=rules.predict(X))
            assert found["fidelity"] == expected.fidelity
            assert found["accuracy"] == expected.accuracy
            assert found["coverage"] == expected.coverage


def test_rules_over_the_same_columns_in_another_order_are_measured_too(explorer, rules, people):
    X, y, network = people
    features = Features.learn(X[["job", "visits", "smokes", "age"]])
    other = RuleSet.from_rules(
        [Rule((Term(3, low=47),), "yes", confidence=0.9)], features, default="no", classes=["yes", "no"]
    )
    found = ask(explorer, MEASURES, {"rules": json.loads(dumps(other))})[1]
    expected = other.evaluate(X, y, network=network.labels(X))
    assert (found["fidelity"], found["accuracy"]) == (expected.fidelity, expected.accuracy)


def test_rules_with_other_classes_agree_where_the_labels_are_equal():
    X, y = np.array([[-1.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 0])
    two = RuleSet.from_rules([Rule((Term(0, low=0),), 1)], ["x"], default=0, classes=[0, 1])
    three = RuleSet.from_rules([Rule((Term(0, low=0),), 1)], ["x"], default=7, classes=[1, 5, 7])
    with Explorer(two, X, y) as explorer:
        found = ask(explorer, MEASURES, {"rules": json.loads(dumps(three))})[1]
    assert found == {"n_rows": 4, "fidelity": None, "accuracy": 0.5, "coverage": 0.75}


def test_without_data_the_api_refuses(numbers):
    with Explorer(numbers) as explorer:
        content = send(explorer, "")[2]
        assert b'"served":{"api":"api/","has_network":false,"has_truth":false,"n_total":0}' in content
        status, reason = refusal(send(explorer, PREDICT, '{"rows": [[1]]}'))
        assert (status, reason) == (409, "This page is served without a network; pass network= to explore.")
        status, reason = refusal(send(explorer, MEASURES, "{}"))
        assert (status, reason) == (409, "This page is served without rows; pass X= to explore.")


def test_labels_of_a_network_give_fidelity_but_no_predictions(numbers):
    with Explorer(numbers, [[-1.0], [1.0]], network=["a", "a"]) as explorer:
        found = ask(explorer, MEASURES, {"rules": json.loads(dumps(numbers))})[1]
        assert found == {"n_rows": 2, "fidelity": 0.5, "accuracy": None, "coverage": 0.5}
        assert refusal(send(explorer, PREDICT, '{"rows": [[1]]}'))[0] == 409


def test_a_network_without_rows_is_refused(numbers):
    with pytest.raises(ValueError, match="pass the rows as X"):
        Explorer(numbers, network=lambda rows: rows)


# --- Networks that fail ---


def test_an_error_of_the_network_is_only_described_in_the_log(numbers, caplog):
    def answer(rows):
        if rows[0, 0] == 13:
            raise RuntimeError("the secret of the network")
        return np.where(rows[:, 0] > 0, "b", "a")

    with Explorer(numbers, [[1.0], [2.0]], network=a_network(answer)) as explorer:
        assert ask(explorer, PREDICT, {"rows": [[5]]})[1]["labels"] == ["b"]
        assert caplog.text == ""
        status, reason = refusal(send(explorer, PREDICT, '{"rows": [[13]]}'))
        assert status == 500
        assert reason == "The request failed with RuntimeError; see the log of the server."
        assert "the secret of the network" in caplog.text
        assert ask(explorer, PREDICT, {"rows": [[-5]]})[1]["labels"] == ["a"]


def test_nan_probabilities_are_refused(numbers):
    def answer(rows):
        chance = np.where(rows[:, 0] == 13, np.nan, 0.25)
        return np.column_stack([chance, 1 - chance])

    with Explorer(numbers, [[1.0], [2.0]], network=a_network(answer)) as explorer:
        status, reason = refusal(send(explorer, PREDICT, '{"rows": [[13]]}'))
        assert status == 400
        assert "The network's output is NaN" in reason
        assert ask(explorer, PREDICT, {"rows": [[5]]})[1]["probabilities"] == [[0.25, 0.75]]
