import pickle
from pathlib import Path

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="ONNX is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import clausewise  # noqa: E402
from tests.networks.forward import assert_layers, relu, softmax  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4)).astype(np.float32)
W1, W2 = RNG.normal(size=(4, 5)).astype(np.float32), RNG.normal(size=(5, 3)).astype(np.float32)


def node(operator, inputs, outputs, **attributes):
    return helper.make_node(operator, inputs, outputs, name=attributes.pop("title", ""), **attributes)


def model(nodes, outputs, n_rows="rows", inputs=(("x", TensorProto.FLOAT),), **constants):
    """A model that reads `x`, rows × 4; outputs: name → element type."""
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info(name, kind, [n_rows, 4]) for name, kind in inputs],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs.items()],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


DENSE = [
    node("MatMul", ["x", "w1"], ["a"]),
    node("Relu", ["a"], ["b"], title="/body/act/Relu"),
    node("Gemm", ["b", "w2"], ["c"]),
]
SCORES = {"c": TensorProto.FLOAT}


def test_layers_and_decisions_are_those_of_a_forward_pass(tmp_path):
    onnx.save(model(DENSE, SCORES, w1=W1, w2=W2), tmp_path / "net.onnx")
    network = clausewise.wrap(tmp_path / "net.onnx", classes=["a", "b", "c"])
    hidden = relu(X @ W1)
    assert_layers(network, X, {"body.act.Relu": hidden})
    np.testing.assert_allclose(network.probabilities(X), softmax(hidden @ W2), atol=1e-5)
    assert network.n_inputs == 4
    assert str(network).startswith("ONNX model net: 4 inputs")


def test_a_model_in_memory_is_the_same_and_left_alone():
    made = model(DENSE, SCORES, w1=W1, w2=W2)
    before = made.SerializeToString()
    assert_layers(clausewise.wrap(made), X, {"body.act.Relu": relu(X @ W1)})
    assert made.SerializeToString() == before


def test_a_model_for_one_row_at_a_time_is_run_row_by_row():
    network = clausewise.wrap(model(DENSE, SCORES, n_rows=1, w1=W1, w2=W2))
    assert_layers(network, X, {"body.act.Relu": relu(X @ W1)})


def test_a_model_for_batches_of_a_fixed_size_takes_any_number_of_rows():
    network = clausewise.wrap(model(DENSE, SCORES, n_rows=7, w1=W1, w2=W2))
    np.testing.assert_allclose(network.outputs(X), relu(X @ W1) @ W2, atol=1e-5)


def test_a_pickled_network_answers_the_same():
    network = clausewise.wrap(model(DENSE, SCORES, w1=W1, w2=W2)).inspect(X)
    again = pickle.loads(pickle.dumps(network))
    np.testing.assert_array_equal(again.outputs(X), network.outputs(X))
    assert_layers(again, X, {"body.act.Relu": relu(X @ W1)})


def test_weights_computed_from_constants_are_weights():
    nodes = [node("Transpose", ["t1"], ["w1"], perm=[1, 0]), *DENSE]
    network = clausewise.wrap(model(nodes, SCORES, t1=W1.T.copy(), w2=W2))
    assert_layers(network, X, {"body.act.Relu": relu(X @ W1)})


def test_choosing_columns_is_no_layer_with_weights():
    nodes = [
        node("Gather", ["x", "first"], ["picked"], axis=1),
        node("MatMul", ["picked", "w1"], ["a"]),
        node("Relu", ["a"], ["b"]),
        node("MatMul", ["b", "w2"], ["c"]),
    ]
    network = clausewise.wrap(model(nodes, SCORES, first=np.array([0, 1]), w1=W1[:2], w2=W2))
    assert_layers(network, X, {"Relu": relu(X[:, :2] @ W1[:2])})


def classifier(*, zipmap=False):
    """A classifier as converters of scikit-learn write it: a label and probabilities."""
    nodes = [
        *DENSE,
        node("Softmax", ["c"], ["probabilities"]),
        node("ArgMax", ["c"], ["best"], axis=1, keepdims=0),
        helper.make_node("ArrayFeatureExtractor", ["names", "best"], ["label"], domain="ai.onnx.ml"),
    ]
    outputs = {"label": TensorProto.INT64, "probabilities": TensorProto.FLOAT}
    made = model(nodes, outputs, w1=W1, w2=W2, names=np.array([7, 8, 9]))
    made.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    if zipmap:
        made.graph.node.append(
            helper.make_node(
                "ZipMap", ["probabilities"], ["map"], domain="ai.onnx.ml", classlabels_int64s=[7, 8, 9]
            )
        )
        made.graph.output[1].CopyFrom(onnx.ValueInfoProto(name="map"))
        element = made.graph.output[1].type.sequence_type.elem_type.map_type
        element.key_type = TensorProto.INT64
        element.value_type.tensor_type.elem_type = TensorProto.FLOAT
    return made


def test_probabilities_are_used_if_there_is_also_a_label():
    network = clausewise.wrap(classifier())
    expected = softmax(relu(X @ W1) @ W2)
    np.testing.assert_allclose(network.probabilities(X), expected, atol=1e-5)
    assert network.classes.tolist() == [7, 8, 9]
    assert network.labels(X).tolist() == (expected.argmax(axis=1) + 7).tolist()


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (classifier(zipmap=True), r"list of dictionaries \(ZipMap\).*'zipmap': False"),
        (model(DENSE, {"b": TensorProto.FLOAT, **SCORES}, w1=W1, w2=W2), r"outputs b \(tensor\(float\)\), c"),
        (
            model(
                [node("Add", ["x", "y"], ["c"])],
                SCORES,
                inputs=(("x", TensorProto.FLOAT), ("y", TensorProto.FLOAT)),
            ),
            r"has 2 inputs \(x, y\); a model with one input is needed",
        ),
        (
            model(
                [node("Identity", ["x"], ["c"])],
                {"c": TensorProto.STRING},
                inputs=(("x", TensorProto.STRING),),
            ),
            r"reads tensor\(string\)",
        ),
    ],
)
def test_models_that_do_not_give_class_scores_say_why(made, message):
    with pytest.raises(ValueError, match=message):
        clausewise.wrap(made)


def test_damaged_files_are_refused(tmp_path):
    whole = model(DENSE, SCORES, w1=W1, w2=W2).SerializeToString()
    for name, content in {"cut": whole[: len(whole) // 2], "text": b"no model at all", "empty": b""}.items():
        (tmp_path / f"{name}.onnx").write_bytes(content)
        with pytest.raises(ValueError, match=f"{name}.onnx is not an ONNX model, or is damaged"):
            clausewise.wrap(tmp_path / f"{name}.onnx")


def test_a_model_whose_parts_do_not_fit_is_refused():
    with pytest.raises(ValueError, match="cannot be run by onnxruntime"):
        clausewise.wrap(model(DENSE, SCORES, w1=W1, w2=W1))


def test_a_session_is_refused_with_what_to_pass():
    session = onnxruntime.InferenceSession(
        model(DENSE, SCORES, w1=W1, w2=W2).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    with pytest.raises(TypeError, match=r"pass the .onnx file or the onnx.ModelProto"):
        clausewise.wrap(session)


def test_wrong_columns_are_refused():
    with pytest.raises(ValueError, match="X has 3 columns, but the network reads 4"):
        clausewise.wrap(model(DENSE, SCORES, w1=W1, w2=W2)).labels(X[:, :3])


# --- Loops ---


def looping(trips=5, *, condition=(), nested=False, counted="n", **constants):
    """A model that adds 1 to its scores in a loop; `trips` is the constant of its trip count."""
    info = helper.make_tensor_value_info
    one = numpy_helper.from_array(np.float32(1), "one")
    body = helper.make_graph(
        [node("Add", ["before", "one"], ["after"]), node("Identity", ["goes on"], ["still"])],
        "body",
        [info("i", TensorProto.INT64, []), info("goes on", TensorProto.BOOL, []), info("before", 1, None)],
        [info("still", TensorProto.BOOL, []), info("after", 1, None)],
        [one],
    )
    if nested:
        body.node[0].CopyFrom(node("Loop", ["n", "", "before"], ["after"], body=looping_body()))
    nodes = [*DENSE, node("Loop", [counted, *condition, "c"], ["looped"], body=body, title="repeat")]
    n = {} if trips is None else {"n": np.int64(trips)}
    return model(nodes, {"looped": TensorProto.FLOAT}, w1=W1, w2=W2, **n, **constants)


def looping_body():
    return looping().graph.node[-1].attribute[0].g


def scanning(length=None):
    """A model that scans over an axis of this length, or over its rows."""
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [node("Add", ["sum", "element"], ["next"]), node("Identity", ["next"], ["copy"])],
        "body",
        [info("sum", 1, None), info("element", 1, None)],
        [info("next", 1, None), info("copy", 1, None)],
    )
    nodes = [
        *DENSE,
        node("Expand", ["zero", "length"], ["axis"]) if length else node("Abs", ["x"], ["axis"]),
        node("Scan", ["c", "axis"], ["scanned", "all"], body=body, num_scan_inputs=1),
    ]
    constants = {"zero": np.zeros((1, 1), np.float32), "length": np.array([length or 1, 1])}
    made = model(nodes, {"scanned": TensorProto.FLOAT}, w1=W1, w2=W2, **constants)
    made.graph.value_info.append(info("axis", 1, [3, 4]))  # what a file declares need not be true
    return made


def without_results(made):
    """The model with a loop of which no result is read."""
    made.graph.node[-1].output[0] = ""
    made.graph.output[0].name = "c"
    return made


def in_function(made):
    """The model with its last node in a function that calls itself."""
    function = helper.make_function(
        "own", "Twice", ["a"], ["b"], [helper.make_node("Twice", ["a"], ["b"], domain="own")], []
    )
    made.functions.append(function)
    made.graph.node.append(helper.make_node("Twice", ["c"], ["twice"], domain="own"))
    return made


def test_a_loop_with_a_constant_number_of_steps_is_run(tmp_path):
    onnx.save(looping(5, condition=[""]), tmp_path / "net.onnx")
    network = clausewise.wrap(tmp_path / "net.onnx", output="logits")
    np.testing.assert_allclose(network.outputs(X), relu(X @ W1) @ W2 + 5, atol=1e-5)


def test_a_scan_over_a_constant_number_of_steps_is_run(tmp_path):
    onnx.save(scanning(3), tmp_path / "net.onnx")
    network = clausewise.wrap(tmp_path / "net.onnx", output="logits")
    np.testing.assert_allclose(network.outputs(X), relu(X @ W1) @ W2, atol=1e-5)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (
            looping(None, counted="", condition=["yes"], yes=np.bool_(True)),
            "'repeat' might never end",
        ),
        (looping(2**62, condition=[""]), "more than 100,000 steps"),
        (looping(5_000, condition=[""], nested=True), "more than 100,000 steps"),
        (scanning(), "Scan might never end, because its axis has no constant length"),
        (without_results(looping(3, condition=[""])), "has a result without a name"),
        (scanning(2**40), "more than 100,000 steps"),
        (
            in_function(model(DENSE, SCORES, w1=W1, w2=W2)),
            "'Twice' might never end, because it calls itself",
        ),
    ],
)
def test_loops_that_may_never_end_are_refused_in_files(tmp_path, made, message):
    onnx.save(made, tmp_path / "net.onnx")
    expected = rf"net.onnx is not run: its .*{message}.*with onnx.load"
    with pytest.raises(ValueError, match=expected):
        clausewise.wrap(tmp_path / "net.onnx")


def test_a_trip_count_from_the_rows_is_refused_in_files_only(tmp_path):
    made = looping(None, counted="size", condition=[""])
    made.graph.node.insert(0, node("Size", ["x"], ["size"]))
    onnx.save(made, tmp_path / "net.onnx")
    with pytest.raises(ValueError, match="its trip count is not a constant"):
        clausewise.wrap(tmp_path / "net.onnx")
    assert clausewise.wrap(onnx.load(tmp_path / "net.onnx"), output="logits").n_inputs == 4


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that fails when it is read")
def test_a_file_that_cannot_be_read_gives_the_reason(tmp_path):
    (tmp_path / "net.onnx").symlink_to("/proc/self/mem")
    with pytest.raises(ValueError, match=r"net.onnx cannot be read: Input/output error\."):
        clausewise.wrap(tmp_path / "net.onnx")


# --- Exported from PyTorch ---


def exported(module, rows, path, *, dynamo):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    options = {"dynamic_axes": {"x": {0: "rows"}}, "input_names": ["x"]}
    if dynamo:
        pytest.importorskip("onnxscript", reason="onnxscript is not installed")
        options = {"dynamic_shapes": ({0: torch.export.Dim("rows")},), "verbose": False}
    torch.onnx.export(module.eval(), (torch.tensor(rows[:2]),), path, dynamo=dynamo, **options)
    return path


@pytest.mark.filterwarnings("ignore")  # the exporters warn about their own internals
@pytest.mark.parametrize(
    ("name", "rows", "dynamo"),
    [
        ("Residual", X, True),
        ("Residual", X, False),
        ("Branching", X, False),
        ("Convolutional", RNG.normal(size=(15, 2, 9)).astype(np.float32), False),
        ("Recurrent", RNG.normal(size=(15, 7, 3)).astype(np.float32), False),
        ("Stacked", RNG.normal(size=(15, 7, 3)).astype(np.float32), False),
        ("StepByStep", RNG.normal(size=(15, 7, 2)).astype(np.float32), False),
    ],
)
def test_an_exported_module_gives_the_same_layers(tmp_path, capfd, name, rows, dynamo):
    modules = pytest.importorskip("tests.networks.modules", reason="PyTorch is not installed")
    module = modules.seeded(getattr(modules, name))
    path = exported(module, rows, tmp_path / "net.onnx", dynamo=dynamo)
    original, copied = clausewise.wrap(module), clausewise.wrap(path)
    pairs = zip(original.hidden_layers(rows), copied.hidden_layers(rows), strict=True)
    for one, other in pairs:
        np.testing.assert_allclose(other.matrix, one.matrix, atol=1e-5, err_msg=one.name)
    np.testing.assert_allclose(copied.probabilities(rows), original.probabilities(rows), atol=1e-5)
    np.testing.assert_array_equal(copied.labels(rows), original.labels(rows))
