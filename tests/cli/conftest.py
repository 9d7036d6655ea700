"""A small network with columns of every kind, as files, and a way to run commands."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

from clausewise import RuleSet
from clausewise.cli.app import app


@dataclass(frozen=True)
class Work:
    """A folder with model.skops, rows.csv, rows.parquet, rows.arrow, rows.npz and rules.json."""

    folder: Path
    frame: pd.DataFrame
    network: object

    def path(self, name):
        return str(self.folder / name)

    @property
    def rules(self):
        return RuleSet.load(self.folder / "rules.json")


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(0)
    n_rows = 600
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows),
            "job": rng.choice(["cook", "nurse", "teacher"], n_rows),
            "smokes": rng.random(n_rows) < 0.3,
            "income": rng.normal(40, 15, n_rows).round(1),
        }
    )
    y = np.where((X.age < 45) & (X.job != "cook") | X.smokes & (X.income > 50), "yes", "no")
    encoder = make_column_transformer(
        (StandardScaler(), ["age", "income"]), (OneHotEncoder(), ["job"]), ("passthrough", ["smokes"])
    )
    network = make_pipeline(encoder, MLPClassifier((12,), solver="lbfgs", max_iter=300, random_state=0))
    network.fit(X, y)
    skops.io.dump(network, folder / "model.skops")
    frame = X.assign(truth=y)
    frame.to_csv(folder / "rows.csv", index=False)
    frame.to_parquet(folder / "rows.parquet")
    frame.to_feather(folder / "rows.arrow")
    numbers = X[["age", "income"]].to_numpy(float)
    np.savez(folder / "rows.npz", X=numbers, feature_names=np.array(["age", "income"]), truth=y)
    work = Work(folder, frame, network)
    files = (work.path("model.skops"), work.path("rows.csv"), "-o", work.path("rules.json"))
    options = ("--target", "truth", "--max-rules", "8", "-q")
    result = CliRunner().invoke(app, ["extract", *files, *options])
    assert result.exit_code == 0, result.output
    return work


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, input=None):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input)

    return run


RULES = """
FEATURE age NUMERIC
FEATURE job CATEGORICAL {cook, nurse}
FEATURE smokes BINARY
CLASSES {no, yes}
DEFAULT no
IF age > 40 AND job = cook THEN yes
IF smokes = TRUE THEN yes
"""


@pytest.fixture
def by_hand(tmp_path):
    """The name of a file with these rules, in the empty folder of `run`."""
    (tmp_path / "rules.txt").write_text(RULES)
    return "rules.txt"
