"""Rules for numbers as an ONNX model."""

from typing import Any

import numpy as np

from clausewise.export.onnx import GraphBuilder, import_onnx
from clausewise.export.plan import SumPlan, sum_plan
from clausewise.export.text import header_line
from clausewise.rules.regression import RegressionRules


def sum_to_onnx(rules: RegressionRules) -> Any:
    """Return an `onnx.ModelProto`; see `RegressionRules.to_onnx`.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from clausewise import RegressionRules
    >>> from clausewise.export import sum_to_onnx
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> model = sum_to_onnx(rules)  # as rules.to_onnx()
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> session.run(["prediction"], {"X": np.array([[3.0], [5.0]])})[0].tolist()
    [1.5, 2.2]
    """
    onnx = import_onnx()
    model = SumGraph(onnx, sum_plan(rules)).model(header_line(rules))
    onnx.checker.check_model(model)
    return model


class SumGraph(GraphBuilder[SumPlan]):
    """Builds the graph of a sum: what the rules add, then the linear terms, one after the other."""

    OUTPUTS = ("prediction",)

    def _outputs(self, holds: str, columns: dict[int, str]) -> list[Any]:
        jury = self._plan.jury
        total = self._totals(jury, self._fires(jury.rules, holds))
        if self._plan.linear:
            products = self._products(columns)
            for place in range(len(self._plan.linear)):
                chosen = self._constant(np.array([place], dtype=np.int64))
                total = self._node("Add", [total, self._node("Gather", [products, chosen], axis=1)])
        if self._plan.link == "log":
            total = self._node("Exp", [total])
        self._node("Reshape", [total, self._constant(np.array([-1], dtype=np.int64))], output="prediction")
        double = self._onnx.TensorProto.DOUBLE
        return [self._onnx.helper.make_tensor_value_info("prediction", double, ["rows"])]

    def _products(self, columns: dict[int, str]) -> str:
        """Return the coefficient times the value of each linear term: shape (rows, terms + 1)."""
        terms = self._plan.linear
        # The last column is not used: onnxruntime drops products with a single number that is 1 in single
        # precision, so there are always two.
        values = self._values([*(term.feature for term in terms), terms[-1].feature], columns)
        fill, low, high = (
            self._constant(np.array([getattr(term, name) for term in (*terms, terms[-1])]))
            for name in ("fill", "low", "high")
        )
        is_known = self._node("Equal", [values, values])  # NaN is not equal to itself
        known = self._node("Where", [is_known, values, fill])
        limited = self._node("Min", [self._node("Max", [known, low]), high])
        coefficients = np.array([*(term.coefficient for term in terms), 0.0])
        return self._node("Mul", [limited, self._constant(coefficients)])
