"""Payloads satisfy the JSON schema from which the page's types are generated."""

import copy
import json
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from referencing import Registry, Resource

from clausewise import Frontier, RuleSet
from clausewise.io.json import schema as rule_file_schema
from clausewise.report import ReportData, payload_of
from clausewise.report.page_api import PageApi
from clausewise.report.served_rows import ServedClasses
from tests.report import reports

SCHEMA = json.loads(files("clausewise.report").joinpath("payload.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMA, registry=Registry().with_resources([("", Resource.from_contents(rule_file_schema()))])
)


def data(*, with_labels=True):
    truth, network = reports.labels() if with_labels else (None, None)
    return ReportData(reports.rules(), reports.table(), truth, network)


def data_with_unknown_labels():
    truth, network = reports.labels()
    truth = truth.astype(object)
    truth[[3, 5]] = "never"
    return ReportData(reports.rules(), reports.table(), truth, network)


def asked_network():
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] > 0, "b", "a")
    model = MLPClassifier((2,), max_iter=2_000, random_state=0).fit(X, y)
    rules = RuleSet.from_text("IF u > 0 THEN b", ["u", "v"], default="a", classes=["a", "b"])
    return payload_of(rules, ReportData(rules, X, y, model))


def left_out(monkeypatch):
    from clausewise.report import payload

    monkeypatch.setattr(payload, "MAX_UNTESTED_BYTES", 0)
    rules = RuleSet.from_text("IF a <= 1 THEN 1", ["a", "b", "c"], default=0, classes=[0, 1])
    made = payload_of(rules, ReportData(rules, np.random.default_rng(0).random((20, 3))))
    assert made["rows"]["columns"][1:] == [None, None]
    return made


CURVE = Frontier(np.array([1, 2]), np.array([[0.5, 0.75]]))
SIZES = Frontier(np.array([2, 9]), np.array([[0.5, 0.75]]), "conditions", np.ones((1, 2)), np.ones((1, 2)))
PAYLOADS = {
    "rules alone": lambda _: payload_of(reports.rules()),
    "edited rules that vote by weights": lambda _: payload_of(
        reports.rules(voting="weights", base=[0.5, 0, 0]).remove(0, note="why").with_scale(2.0)
    ),
    "with data": lambda _: payload_of(reports.rules(), data()),
    "without labels": lambda _: payload_of(reports.rules(), data(with_labels=False)),
    "with labels that the rules do not know": lambda _: payload_of(
        reports.rules(), data_with_unknown_labels()
    ),
    "with a network that is asked": lambda _: asked_network(),
    "with a frontier": lambda _: payload_of(reports.rules(), frontier=CURVE),
    "with a frontier by conditions": lambda _: payload_of(reports.rules(), frontier=SIZES),
    "compared": lambda _: payload_of(reports.rules(), compare={"shorter": reports.rules().remove(0)}),
    "served": lambda _: payload_of(reports.rules(), data(), served=PageApi(ServedClasses(data())).served),
    "served without data": lambda _: payload_of(reports.rules(), served=PageApi(None).served),
    "with columns left out": left_out,
}


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", PAYLOADS)
def test_payloads_satisfy_the_schema(name, monkeypatch):
    made = json.loads(json.dumps(PAYLOADS[name](monkeypatch), allow_nan=False))
    VALIDATOR.validate(made)


@pytest.fixture(scope="module")
def full():
    served = PageApi(ServedClasses(data())).served
    other = {"shorter": reports.rules().remove(0)}
    chosen = {"labels": {"age": "Age"}, "colors": {"no": "#0072b2"}, "fixed": ["age"]}
    rules = reports.rules().remember_rows(reports.table())
    promised = rules.with_guarantee(rules.guarantee(reports.table(), reports.labels()[1], overlap="keep"))
    made = payload_of(promised, data(), frontier=CURVE, compare=other, served=served, **chosen)
    # The page itself writes edits, when it saves itself.
    return made | {"edits": {"rules": made["compare"][0]["rules"], "ids": [1, 2, 3, 4, 5, 6]}}


def test_the_full_payload_has_every_field_of_the_schema(full):
    assert set(full) == set(SCHEMA["properties"])
    assert set(full["rows"]) | {"network_proba"} == set(SCHEMA["$defs"]["rows"]["properties"])


def test_a_payload_has_no_record_of_learnt_rows(full):
    assert "learnt_rows" not in full["rules"]
    assert len(full["guarantee"]["promises"]) == 1 + len(reports.rules().labels) + len(reports.rules())


def without(*path):
    def change(payload):
        *parents, last = path
        for key in parents:
            payload = payload[key]
        del payload[last]

    return change


def having(value, *path):
    def change(payload):
        *parents, last = path
        for key in parents:
            payload = payload[key]
        payload[last] = value

    return change


@pytest.mark.parametrize(
    "damage",
    [
        having(1, "unknown"),
        having(2, "version"),
        having("clausewise-rules", "format"),
        without("rules"),
        without("created_with"),
        having("loudest", "rules", "voting"),
        having(2, "rules", "rules", 0, "confidence"),
        having({}, "compare", 0, "rules"),
        without("rows", "numbers"),
        having(-1, "rows", "n_shown"),
        having("u8", "rows", "numbers", "type"),
        having("sparse", "rows", "columns", 0, "encoding"),
        without("rows", "columns", 0, "values"),
        having([None], "rows", "truth", "extra"),
        having("categorical", "histograms", 0, "kind"),
        without("histograms", 0, "is_whole"),
        without("measures", "auc"),
        having(1.5, "measures", "coverage"),
        having("rules", "confusion", 0, "rows"),
        having([[0.5]], "confusion", 0, "counts"),
        without("frontier", "knee"),
        having("pages", "frontier", "by"),
        having("Network", "differences", "against"),
        without("differences", "features", 0, "cuts"),
        having([{"if": []}], "differences", "slices"),
        having([1], "names", "classes"),
        having("red", "colors", 0),
        having([-1], "fixed"),
        without("edits", "ids"),
        having("api", "served", "api"),
        without("served", "has_truth"),
    ],
)
def test_payloads_with_a_wrong_field_do_not(damage, full):
    damaged = copy.deepcopy(full)
    damage(damaged)
    VALIDATOR.validate(full)
    assert not VALIDATOR.is_valid(damaged)
