"""Models are read as they run: what cannot be read exactly is refused."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from clausewise import RuleSet
from clausewise.networks import ArrayNetwork
from clausewise.networks.arrays import DenseBackend
from clausewise.networks.plain import UnsupportedLayerError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ROWS = np.random.RandomState(0).randint(0, 10, size=(300, 2)).astype(float)
RULES = RuleSet.from_text("IF x0 > 5 THEN 1\nIF x0 <= 3 THEN 0", ["x0", "x1"], classes=[0, 1], default=0)


class Clipped(StandardScaler):
    """A scaler of one's own."""

    def transform(self, X, copy=None):
        return np.clip(super().transform(X), -1, 1)


def fitted(*steps):
    network = MLPClassifier((6,), max_iter=150, learning_rate_init=0.02, random_state=0)
    return make_pipeline(*steps, network).fit(ROWS, ROWS[:, 0] > 4)


@pytest.mark.parametrize(
    ("step", "named"),
    [
        (SimpleImputer(missing_values=0, strategy="most_frequent"), "SimpleImputer that replaces known"),
        (Clipped(), "Clipped, a class derived from StandardScaler"),
        (MinMaxScaler(clip=True), r"MinMaxScaler\(clip=True\)"),
    ],
)
def test_preprocessing_that_is_not_affine_is_refused(step, named):
    with pytest.raises(UnsupportedLayerError, match=named):
        RULES.certify(fitted(step), ROWS, max_boxes=200)


@pytest.mark.parametrize(
    "step",
    [
        FeatureUnion(
            [("a", StandardScaler()), ("b", "passthrough")], transformer_weights={"a": -2.0, "b": 0.5}
        ),
        ColumnTransformer(
            [("a", StandardScaler(), [1]), ("b", RobustScaler(), [0])], transformer_weights={"b": -1.0}
        ),
        make_pipeline(SimpleImputer(), MinMaxScaler()),
    ],
)
def test_weights_of_preprocessing_are_applied(step):
    model = fitted(step)
    certificate = RULES.certify(model, ROWS, max_boxes=200)
    read = certificate.row_prover.prover.inputs.inputs(ROWS)
    assert np.allclose(read, model[:-1].transform(ROWS), atol=1e-12)
    inside = certificate.certified(ROWS)
    assert inside.any()
    assert (certificate.shrunk().predict(ROWS[inside]) == model.predict(ROWS[inside])).all()


def clipped_from(column_value: float, change: float):
    """Return an evaluation of dense layers that changes the outputs of rows beyond a value."""
    evaluate = DenseBackend.evaluate

    def changed(self, rows, names):
        found = evaluate(self, rows, names)
        found[0][rows[:, 0] > column_value] += change
        return found

    return changed


# 1 where x0 > 4.5.
STEP = ArrayNetwork([np.array([[0.0, 1.0], [0.0, 0.0]])], [np.array([0.0, -4.5])], output="logits")
WIDE = np.concatenate([np.random.RandomState(0).uniform(0, 4, size=(300, 2)), [[10.0, 0.0]]])


@pytest.mark.parametrize(
    ("beyond", "change"),
    [(9.0, [100.0, 0.0]), (6.0, [100.0, 0.0]), (7.0, [1e-6, 0.0])],
    ids=["on a row", "between rows", "without another decision"],
)
def test_a_network_that_runs_differently_from_its_layers_is_refused(monkeypatch, beyond, change):
    rules = RULES[:1]
    assert rules.certify(STEP, WIDE, max_boxes=100)[0].status == "proven"
    monkeypatch.setattr(DenseBackend, "evaluate", clipped_from(beyond, np.array(change)))
    with pytest.raises(UnsupportedLayerError, match="read differently from how it runs"):
        rules.certify(STEP, WIDE, max_boxes=100)


def test_a_rule_that_the_network_contradicts_is_never_proven(monkeypatch):
    monkeypatch.setattr(DenseBackend, "evaluate", clipped_from(9.0, np.array([100.0, 0.0])))
    monkeypatch.setattr("clausewise.verify.certification.check_reading", lambda *_: None)
    with pytest.raises(UnsupportedLayerError, match="read differently from how it runs"):
        RULES[:1].certify(STEP, WIDE, max_boxes=100)
