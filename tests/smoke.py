"""A smoke test of an installed wheel; run by tools/check_wheel.sh outside the source tree."""

import importlib.resources
import json
import tempfile
from pathlib import Path

import numpy as np

import clausewise
import clausewise_experiments
from clausewise import ECLAIRE, C50Classifier, Features, Rule, RuleSet, Term


def main() -> None:
    """Predict, explain, save and load, learn rules, compact them, and find the package data."""
    features = Features.learn(np.array([["nurse", 30.0], ["cook", 50.0]], dtype=object), names=["job", "age"])
    rules = RuleSet.from_rules(
        [Rule((Term(0, values=["nurse"]), Term(1, high=47)), "yes", confidence=0.9, cover=10, correct=9)],
        features,
        default="no",
    )
    rows = np.array([["nurse", 40.0], ["cook", 40.0], ["nurse", None]], dtype=object)
    assert rules.predict(rows).tolist() == ["yes", "no", "no"]
    assert [len(explanation.near_misses) for explanation in rules.explain(rows)] == [0, 1, 1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.json"
        rules.save(path)
        assert RuleSet.load(path) == rules
        rules.report(Path(folder) / "report.html", rows, ["yes", "no", "no"])
    X = np.arange(100.0).reshape(-1, 1)
    learnt = C50Classifier().fit(X, X[:, 0] > 47)
    assert learnt.score(X, X[:, 0] > 47) == 1.0
    assert learnt.rules_[0].terms == (Term(0, high=47),)
    y = np.where(X[:, 0] > 47, "high", "low")
    assert ECLAIRE(min_cases=5, random_state=0).fit(X, y).score(X, y) > 0.9
    small = learnt.rules_.compact(X, X[:, 0] > 47, max_rules=2, points=True)
    assert len(small) <= 2
    assert (small.predict(X) == (X[:, 0] > 47)).all()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        small.report(page, X, X[:, 0] > 47)
        assert "clausewise-report" in page.read_text(encoding="utf-8")
    package = importlib.resources.files("clausewise")
    for schema in ("io/rules.schema.json", "io/numbers.schema.json", "report/payload.schema.json"):
        assert json.loads(package.joinpath(*schema.split("/")).read_text(encoding="utf-8"))["$id"]
    assert package.joinpath("py.typed").is_file()
    assert package.joinpath("_core.pyi").is_file()
    assert clausewise_experiments.load_settings("xor").network.hidden == (64, 32, 16)
    print(f"clausewise {clausewise.__version__} works:\n{rules}")


if __name__ == "__main__":
    main()
