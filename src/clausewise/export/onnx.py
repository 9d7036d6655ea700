"""A rule set as an ONNX model.

All tests are evaluated at once; rules are then combined test by test (first, second, …), so that no tensor is
larger than rows × rules. Votes are added by one matrix product if every order of addition gives the same sum,
otherwise rule by rule, for all classes at a time.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from clausewise.data.table import Category
from clausewise.export.plan import ClassPlan, ExportPlan, Plan, PlannedJury, PlannedRule, export_plan
from clausewise.export.row_tests import Above, AtMost, Known, Missing, OneOf
from clausewise.export.text import free_name, header_line, quoted_short, require_unicode
from clausewise.rules.ruleset import RuleSet

_OPSET: Final = 17
_ML_OPSET: Final = 3
_IR_VERSION: Final = 8  # the version of opset 17, so that older runtimes read it
_MAX_BYTES: Final = 2**31 - 2**20
"""A model is one protocol buffer, which must stay below 2 GiB."""

MISSING_TEXT: Final = ""
"""Stands for a missing category where a rule tests for one: a tensor of texts has no missing values."""


def to_onnx(rules: RuleSet) -> Any:
    """Return an `onnx.ModelProto`; see `RuleSet.to_onnx`.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from clausewise import RuleSet
    >>> from clausewise.export import to_onnx
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> model = to_onnx(rules)  # as rules.to_onnx()
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> session.run(["label"], {"X": np.array([[60.0], [30.0]])})[0].tolist()
    ['high', 'low']
    """
    onnx = import_onnx()
    rules.require_deciding("ONNX")
    model = JuryGraph(onnx, export_plan(rules), rules.classes).model(header_line(rules))
    onnx.checker.check_model(model)
    return model


def import_onnx() -> Any:
    """Return the package onnx, or raise an error that says how to install it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the package onnx; install it with: pip install 'clausewise[onnx]'"
        ) from error
    return onnx


_Plan = TypeVar("_Plan", bound=Plan)


class GraphBuilder(Generic[_Plan]):
    """Builds the graph node by node; `_outputs` is what kinds of plans differ in.

    Intermediate values are named by `prefix` and a number.
    """

    OUTPUTS: ClassVar[tuple[str, ...]]
    """The names of the outputs, which no input may have."""

    def __init__(self, onnx: Any, plan: _Plan) -> None:
        self._onnx = onnx
        self._plan = plan
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._n_bytes = 0
        self._n_names = 0
        names = plan.features.names
        self._prefix = free_name("clausewise", lambda prefix: any(name.startswith(prefix) for name in names))

    def model(self, description: str) -> Any:
        """Return the whole model, with inputs and outputs."""
        helper = self._onnx.helper
        inputs, columns = self._inputs()
        outputs = self._outputs(self._test_results(columns), columns)
        graph = helper.make_graph(self._nodes, "rules", inputs, outputs, self._constants, description)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
        return helper.make_model(
            graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="clausewise"
        )

    def _outputs(self, holds: str, columns: dict[int, str]) -> list[Any]:
        """Add nodes that compute the outputs from the results of all tests; return their declarations."""
        raise NotImplementedError

    # --- Inputs ---

    def _inputs(self) -> tuple[list[Any], dict[int, str]]:
        """Return the inputs, and the name of each feature's column, of shape (rows, 1), if not in X."""
        helper, types = self._onnx.helper, self._onnx.TensorProto
        features = self._plan.features
        if all(categories is None for categories in features.categories):
            matrix = helper.make_tensor_value_info("X", types.DOUBLE, ["rows", len(features)])
            return [matrix], {}
        inputs = []
        for name, categories in zip(features.names, features.categories, strict=True):
            _require_name(name, self.OUTPUTS)
            kind = types.STRING if _is_text(categories) else types.DOUBLE
            inputs.append(helper.make_tensor_value_info(name, kind, ["rows", 1]))
        return inputs, dict(enumerate(features.names))

    # --- Tests ---

    def _test_results(self, columns: dict[int, str]) -> str:
        """Return booleans of shape (rows, tests + 1) in the plan's order; the last column is always true."""
        numbered: dict[type, list[int]] = {Above: [], AtMost: [], Known: [], Missing: [], OneOf: []}
        for number, test in enumerate(self._plan.tests):
            is_text = _is_text(self._plan.features.categories[test.feature])
            numbered[OneOf if is_text else type(test)].append(number)
        results: list[str] = []
        order: list[int] = []
        for kind, operator in ((Above, "Greater"), (AtMost, "LessOrEqual")):
            if numbered[kind]:
                tests = [self._plan.tests[number] for number in numbered[kind]]
                bounds = self._constant(np.array([test.bound for test in tests]))  # type: ignore[union-attr]
                values = self._values([test.feature for test in tests], columns)
                results.append(self._node(operator, [values, bounds]))
                order += numbered[kind]
        about_nan = numbered[Known] + numbered[Missing]
        if about_nan:
            values = self._values([self._plan.tests[number].feature for number in about_nan], columns)
            is_known = self._node("Equal", [values, values])  # NaN is not equal to itself
            is_negated = np.array([isinstance(self._plan.tests[number], Missing) for number in about_nan])
            results.append(self._node("Xor", [is_known, self._constant(is_negated)]))
            order += about_nan
        by_feature: dict[int, list[int]] = {}
        for number in numbered[OneOf]:
            by_feature.setdefault(self._plan.tests[number].feature, []).append(number)
        for feature, numbers in by_feature.items():
            results.append(self._memberships(feature, numbers, columns[feature]))
            order += numbers
        results.append(self._always(columns))
        joined = self._node("Concat", results, axis=1)
        place_of = np.argsort([*order, len(order)])
        return self._node("Gather", [joined, self._constant(place_of.astype(np.int64))], axis=1)

    def _values(self, features: Sequence[int], columns: dict[int, str]) -> str:
        """Return the values of these features, in this order: doubles of shape (rows, features)."""
        source = "X"
        places = np.array(features, dtype=np.int64)
        if columns:
            distinct = sorted(set(features))
            source = self._node("Concat", [columns[feature] for feature in distinct], axis=1)
            places = np.searchsorted(distinct, features).astype(np.int64)
        return self._node("Gather", [source, self._constant(places)], axis=1)

    def _memberships(self, feature: int, tests: Sequence[int], column: str) -> str:
        """Return whether the category passes each test on the feature: booleans of shape (rows, tests)."""
        categories = self._plan.features.categories[feature]
        assert categories is not None
        code_of = {value: code for code, value in enumerate(categories)}
        # One row per category, one for unknown values, and a last one for missing texts.
        is_member = np.zeros((len(categories) + 2, len(tests)), dtype=bool)
        for place, number in enumerate(tests):
            test = self._plan.tests[number]
            passing = [code_of[value] for value in test.values] if isinstance(test, OneOf) else [-1]
            is_member[passing, place] = True
        codes = self._text_codes(feature, column) if _is_text(categories) else self._codes(column, categories)
        flat = self._node("Reshape", [codes, self._constant(np.array([-1], dtype=np.int64))])
        return self._node("Gather", [self._constant(is_member), flat], axis=0)

    def _text_codes(self, feature: int, column: str) -> str:
        """Return positions of categories, shape (rows, 1); then one for unknown, one for missing texts."""
        texts = [str(value) for value in self._plan.features.categories[feature] or ()]
        codes = list(range(len(texts)))
        n_categories = len(texts)
        for text in texts:
            require_unicode(text, "The category")
        if feature in self._plan.tested_for_missing:
            if MISSING_TEXT in texts:
                raise ValueError(
                    f"Feature {quoted_short(self._plan.features.names[feature])} has the empty text as a "
                    "category, which stands for missing values in ONNX models; rename the category."
                )
            texts.append(MISSING_TEXT)
            codes.append(n_categories + 1)
        return self._node(
            "LabelEncoder",
            [column],
            domain="ai.onnx.ml",
            keys_strings=texts,
            values_int64s=codes,
            default_int64=n_categories,
        )

    def _codes(self, column: str, categories: tuple[Any, ...]) -> str:
        """Return positions of numeric categories, shape (rows, 1); missing and unknown ones come last."""
        values = self._constant(np.array([float(value) for value in categories]))
        is_value = self._node("Equal", [column, values])
        is_value = self._node("Cast", [is_value], to=self._onnx.TensorProto.INT64)
        # At most one is equal. Its position is the number of categories minus its distance from the end.
        distances = np.arange(len(categories), 0, -1, dtype=np.int64)[:, None]
        before_end = self._node("MatMul", [is_value, self._constant(distances)])
        return self._node("Sub", [self._constant(np.array(len(categories))), before_end])

    def _always(self, columns: dict[int, str]) -> str:
        """Return a column of shape (rows, 1) that is true on every row."""
        source = columns[0] if columns else "X"
        shape = self._node("Shape", [source], end=1)
        size = self._node("Concat", [shape, self._constant(np.array([1], dtype=np.int64))], axis=0)
        true = self._onnx.helper.make_tensor("value", self._onnx.TensorProto.BOOL, [1], [True])
        return self._node("ConstantOfShape", [size], value=true)

    # --- Votes ---

    def _fires(self, rules: Sequence[PlannedRule], holds: str) -> str:
        """Return booleans of shape (rows, rules + 1), whose last column is always false."""
        always = len(self._plan.tests)
        length = max((len(rule.tests) for rule in rules), default=0)
        places = np.full((max(length, 1), len(rules) + 1), always, dtype=np.int64)
        for column, rule in enumerate(rules):
            places[: len(rule.tests), column] = rule.tests
        fires = self._node("Gather", [holds, self._constant(places[0])], axis=1)
        for row in places[1:]:
            fires = self._node("And", [fires, self._node("Gather", [holds, self._constant(row)], axis=1)])
        is_rule = np.ones(len(rules) + 1, dtype=bool)
        is_rule[-1] = False
        return self._node("And", [fires, self._constant(is_rule)])

    def _totals(self, jury: PlannedJury, fires: str) -> str:
        add = self._sums_in_any_order if jury.sums_are_exact else self._sums_in_order
        totals = add(jury, fires)
        if jury.is_divided:
            totals = self._node("Div", [totals, self._constant(np.array(jury.divisors))])
        return totals

    def _sums_in_any_order(self, jury: PlannedJury, fires: str) -> str:
        votes = np.zeros((len(jury.rules) + 1, len(jury.start)))
        for number, rule in enumerate(jury.rules):
            votes[number, rule.class_index] = rule.votes
        if len(jury.start) == 1:
            # onnxruntime fuses a matrix product with a division by one number, in single precision, and
            # drops the addition of one number that is 0 in single precision.
            otherwise = np.zeros(len(votes))
            otherwise[-1] = jury.start[0]  # the last column is always false
            given = self._node("Where", [fires, self._constant(votes[:, 0]), self._constant(otherwise)])
            axis = self._constant(np.array([1], dtype=np.int64))
            return self._node("ReduceSum", [given, axis], keepdims=1)
        fired = self._node("Cast", [fires], to=self._onnx.TensorProto.DOUBLE)
        added = self._node("MatMul", [fired, self._constant(votes)])
        return self._node("Add", [added, self._constant(np.array(jury.start))])

    def _sums_in_order(self, jury: PlannedJury, fires: str) -> str:
        """Add the votes of the first rule of every class, then of the second, and so on, in a loop (Scan)."""
        helper, types = self._onnx.helper, self._onnx.TensorProto
        n_classes, place_of = len(jury.start), {rule.number: place for place, rule in enumerate(jury.rules)}
        turns = np.full((max(map(len, jury.by_class)), n_classes), len(jury.rules), dtype=np.int64)
        for class_index, rules in enumerate(jury.by_class):
            turns[: len(rules), class_index] = [place_of[rule.number] for rule in rules]
        votes = self._constant(np.array([*(rule.votes for rule in jury.rules), 0.0]))
        given = self._node("Where", [fires, votes, self._constant(np.array(0.0))])
        # The last column is always false; taken once per class, it has the shape that the totals need.
        # (Of one class, adding the start to zeros might be dropped, as above.)
        never = self._node("Gather", [fires, self._constant(np.full(n_classes, len(jury.rules)))], axis=1)
        start = self._node(
            "Where", [never, self._constant(np.array(0.0)), self._constant(np.array(jury.start))]
        )
        before, turn, added, after = (self._name() for _ in range(4))
        body = helper.make_graph(
            [
                helper.make_node("Gather", [given, turn], [added], axis=1),
                helper.make_node("Add", [before, added], [after]),
            ],
            "turn",
            [
                helper.make_tensor_value_info(before, types.DOUBLE, ["rows", n_classes]),
                helper.make_tensor_value_info(turn, types.INT64, [n_classes]),
            ],
            [helper.make_tensor_value_info(after, types.DOUBLE, ["rows", n_classes])],
        )
        return self._node("Scan", [start, self._constant(turns)], body=body, num_scan_inputs=1)

    # --- Nodes ---

    def _name(self) -> str:
        self._n_names += 1
        return f"{self._prefix}_{self._n_names}"

    def _node(self, operator: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        name = output or self._name()
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def _constant(self, array: NDArray[Any]) -> str:
        self._n_bytes += array.nbytes
        if self._n_bytes > _MAX_BYTES:
            raise ValueError(
                f"{self._plan.n_rules:,} rules exceed the 2 GiB that an ONNX model can have; export to SQL "
                "or Python instead."
            )
        name = self._name()
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name


_ClassPlan = TypeVar("_ClassPlan", bound=ClassPlan)


class ClassGraph(GraphBuilder[_ClassPlan]):
    """Builds the graph of a model that predicts classes; `_scores` is what kinds of them differ in."""

    OUTPUTS = ("label", "scores")

    def __init__(self, onnx: Any, plan: _ClassPlan, classes: NDArray[Any]) -> None:
        super().__init__(onnx, plan)
        self._classes = classes

    def _outputs(self, holds: str, columns: dict[int, str]) -> list[Any]:
        helper, types = self._onnx.helper, self._onnx.TensorProto
        label_type, labels = self._labels()
        scores = self._scores(holds)
        by_rank = self._constant(np.array(self._plan.by_rank, dtype=np.int64))
        ranked = self._node("Gather", [scores, by_rank], axis=1)
        # Of equal scores, ArgMax takes the first.
        winner = self._node("ArgMax", [ranked], axis=1, keepdims=0)
        self._node("Gather", [labels, winner], output="label")
        self._node("Identity", [scores], output="scores")
        return [
            helper.make_tensor_value_info("label", label_type, ["rows"]),
            helper.make_tensor_value_info("scores", types.DOUBLE, ["rows", len(self._plan.labels)]),
        ]

    def _scores(self, holds: str) -> str:
        """Return the scores that decide each row: shape (rows, classes)."""
        raise NotImplementedError

    def _labels(self) -> tuple[int, str]:
        """Return the type of the labels, and the constant that holds them by rank."""
        types = self._onnx.TensorProto
        ranked = [self._plan.labels[index] for index in self._plan.by_rank]
        if isinstance(ranked[0], str):
            texts = [require_unicode(str(label), "The class").encode("utf-8") for label in ranked]
            name = self._name()
            self._constants.append(self._onnx.helper.make_tensor(name, types.STRING, [len(texts)], texts))
            return types.STRING, name
        kind = self._classes.dtype.kind
        dtype = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64}[kind]
        if kind == "u" and max(ranked) < 2**63:  # type: ignore[operator]
            dtype = np.int64  # supported by more runtimes
        type_number = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return type_number, self._constant(np.array(ranked, dtype=dtype))


class JuryGraph(ClassGraph[ExportPlan]):
    """Builds the graph of the juries of one rule set."""

    def _scores(self, holds: str) -> str:
        """Return the scores given by the jury that decides each row: shape (rows, classes)."""
        *priority, ordinary = self._plan.juries
        scores = self._totals(ordinary, self._fires(ordinary.rules, holds))
        for jury in priority:
            if not jury.rules:
                continue
            fires = self._fires(jury.rules, holds)
            numbers = self._node("Cast", [fires], to=self._onnx.TensorProto.INT32)
            any_fires = self._node(
                "Cast",
                [self._node("ReduceMax", [numbers], axes=[1], keepdims=1)],
                to=self._onnx.TensorProto.BOOL,
            )
            scores = self._node("Where", [any_fires, self._totals(jury, fires), scores])
        return scores


def _is_text(categories: Sequence[Category] | None) -> bool:
    return categories is not None and all(isinstance(value, str) for value in categories)


def _require_name(name: str, outputs: Sequence[str]) -> None:
    if not name or name in outputs:
        raise ValueError(
            f"A feature is called {name!r}, which cannot be the name of an ONNX input; rename it."
        )
    require_unicode(name, "The feature")
