"""A boosted C5.0 classifier as an ONNX model."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from clausewise.export.onnx import ClassGraph, import_onnx
from clausewise.export.plan import EnsemblePlan, PlannedTrial


def ensemble_to_onnx(plan: EnsemblePlan, classes: NDArray[Any]) -> Any:
    """Return an `onnx.ModelProto`; see `C50Classifier.to_onnx`."""
    onnx = import_onnx()
    model = EnsembleGraph(onnx, plan, classes).model(plan.headline)
    onnx.checker.check_model(model)
    return model


class EnsembleGraph(ClassGraph[EnsemblePlan]):
    """Builds the graph of the trials of an ensemble; the scores are sums of confidences."""

    def _scores(self, holds: str) -> str:
        types = self._onnx.TensorProto
        total = None
        for trial in self._plan.trials:
            confidence = self._confidences(trial, holds)
            summed = confidence if total is None else self._node("Add", [total, confidence])
            # C5.0 adds confidences in single precision.
            single = self._node("Cast", [summed], to=types.FLOAT)
            total = self._node("Cast", [single], to=types.DOUBLE)
        assert total is not None
        return total

    def _confidences(self, trial: PlannedTrial, holds: str) -> str:
        """Return the confidence in the class of each row, 0 for other classes: shape (rows, classes)."""
        types, n_classes = self._onnx.TensorProto, len(self._plan.labels)
        fires = self._fires(trial.rules, holds)
        fired = self._node("Cast", [fires], to=types.DOUBLE)
        votes = np.zeros((len(trial.rules) + 1, n_classes))
        for number, rule in enumerate(trial.rules):
            votes[number, rule.class_index] = rule.votes
        totals = self._node("MatMul", [fired, self._constant(votes)])
        last_axis = self._constant(np.array([1], dtype=np.int64))
        n_firing = self._node("ReduceSum", [fired, last_axis], keepdims=1)

        by_rank = self._constant(np.array(trial.by_rank, dtype=np.int64))
        ranked = self._node("Gather", [totals, by_rank], axis=1)
        place = self._node("ArgMax", [ranked], axis=1, keepdims=1)
        winner = self._node("Gather", [by_rank, place])
        is_winner = self._node("Equal", [winner, self._constant(np.arange(n_classes, dtype=np.int64))])

        thousand, one = self._constant(np.array(1000.0)), self._constant(np.array(1.0))
        at_least_one = self._node("Max", [n_firing, one])
        mean = self._node("Div", [totals, self._node("Mul", [thousand, at_least_one])])
        specific = self._node("Div", [self._specific_votes(trial, fires), thousand])
        confidence = self._node("Max", [specific, mean])
        is_silent = self._node("Equal", [n_firing, self._constant(np.array(0.0))])
        silent = self._constant(np.array(trial.confidence_of_default))
        confidence = self._node("Where", [is_silent, silent, confidence])
        return self._node("Where", [is_winner, confidence, self._constant(np.array(0.0))])

    def _specific_votes(self, trial: PlannedTrial, fires: str) -> str:
        """Return the vote of the most specific rule that fires, per class: shape (rows, classes).

        A key has the vote in its last four digits, and is the greater the more specific the rule is: the
        greatest key is that of the first rule that fires.
        """
        base, zero = 10_000.0, self._constant(np.array(0.0))
        keys = np.array([base * (len(trial.rules) - i) + rule.votes for i, rule in enumerate(trial.rules)])
        given = self._node("Where", [fires, self._constant(np.append(keys, 0.0)), zero])
        columns = []
        for class_index in range(len(self._plan.labels)):
            places = [i for i, rule in enumerate(trial.rules) if rule.class_index == class_index]
            # The last column is 0 on every row.
            chosen = self._constant(np.array([*places, len(trial.rules)], dtype=np.int64))
            of_class = self._node("Gather", [given, chosen], axis=1)
            columns.append(self._node("ReduceMax", [of_class], axes=[1], keepdims=1))
        joined = self._node("Concat", columns, axis=1)
        return self._node("Mod", [joined, self._constant(np.array(base))], fmod=1)
