"""Example ONNX models, and changes to their structure."""

from functools import cache

import numpy as np
from hypothesis import strategies as st

_OPERATORS = [
    "Add",
    "ArgMax",
    "AveragePool",
    "BatchNormalization",
    "Cast",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Conv",
    "Dropout",
    "Einsum",
    "Expand",
    "Flatten",
    "Gather",
    "Gemm",
    "GRU",
    "Identity",
    "If",
    "LSTM",
    "LayerNormalization",
    "Loop",
    "MatMul",
    "MaxPool",
    "Mul",
    "Pad",
    "Range",
    "Relu",
    "Reshape",
    "Resize",
    "RNN",
    "Scan",
    "Shape",
    "Sigmoid",
    "Slice",
    "Softmax",
    "Split",
    "Squeeze",
    "Tanh",
    "Tile",
    "TopK",
    "Transpose",
    "Unsqueeze",
    "Where",
    "ZipMap",
]
WORDS = [
    *(operator.encode() for operator in _OPERATORS),
    *b"x y w1 w2 rows classlabels_strings logits probabilities".split(),
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x80\x80\x80\x80\x08",
    b"\x0a\xff\xff\xff\x7f",
]


@cache
def examples():
    """Return a perceptron (with any number of rows, and with one), a convolution, a recurrence and a loop."""
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)

    def weights(*shape):
        return rng.normal(size=shape).astype(np.float32)

    def model(nodes, row_shape, output, n_rows="rows", **constants):
        graph = helper.make_graph(
            nodes,
            "small",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [n_rows, *row_shape])],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
            [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        return made.SerializeToString()

    node = helper.make_node
    perceptron = [
        node("Gemm", ["x", "w1", "b1"], ["a"], transB=1),
        node("Relu", ["a"], ["h"], name="/body/Relu"),
        node("Gemm", ["h", "w2"], ["c"]),
        node("Softmax", ["c"], ["y"], axis=1),
    ]
    convolution = [
        node("Reshape", ["x", "shape"], ["image"]),
        node("Conv", ["image", "k"], ["a"], kernel_shape=[2, 2], pads=[0, 0, 1, 1]),
        node("Relu", ["a"], ["b"]),
        node("GlobalAveragePool", ["b"], ["p"]),
        node("Flatten", ["p"], ["f"]),
        node("MatMul", ["f", "w"], ["y"]),
    ]
    recurrence = [
        node("Unsqueeze", ["x", "axes"], ["s"]),
        node("Transpose", ["s"], ["t"], perm=[1, 0, 2]),
        node("LSTM", ["t", "w", "r"], ["", "h"], hidden_size=3),
        node("Squeeze", ["h", "first"], ["v"]),
        node("MatMul", ["v", "out"], ["y"]),
    ]
    first = np.array([0], dtype=np.int64)
    looping = [
        node("MatMul", ["x", "w1"], ["h"]),
        node("Loop", ["trips", "", "h"], ["l"], name="repeat", body=_body()),
        node("MatMul", ["l", "w2"], ["y"]),
    ]
    return [
        model(perceptron, [4], "y", w1=weights(5, 4), b1=weights(5), w2=weights(5, 3)),
        model(perceptron, [4], "y", n_rows=1, w1=weights(5, 4), b1=weights(5), w2=weights(5, 3)),
        model(
            convolution,
            [9],
            "y",
            shape=np.array([-1, 1, 3, 3], dtype=np.int64),
            k=weights(2, 1, 2, 2),
            w=weights(2, 3),
        ),
        model(
            recurrence,
            [4],
            "y",
            axes=first + 1,
            first=first,
            w=weights(1, 12, 4),
            r=weights(1, 12, 3),
            out=weights(3, 2),
        ),
        model(looping, [4], "y", trips=np.int64(3), w1=weights(4, 4), w2=weights(4, 2)),
    ]


def _body():
    """Return the body of a loop, which halves its state and goes on as long as it is told to."""
    from onnx import TensorProto, helper, numpy_helper

    def value(name, kind, shape=()):
        return helper.make_tensor_value_info(name, kind, shape)

    return helper.make_graph(
        [
            helper.make_node("Mul", ["state", "half"], ["next"]),
            helper.make_node("Identity", ["on"], ["still"]),
        ],
        "body",
        [
            value("i", TensorProto.INT64),
            value("on", TensorProto.BOOL),
            value("state", TensorProto.FLOAT, None),
        ],
        [value("still", TensorProto.BOOL), value("next", 1, None)],
        [numpy_helper.from_array(np.float32(0.5), "half")],
    )


def changed(data, rng):
    """Return a model with another operator, edge, attribute, shape or weight; None if not a model."""
    import onnx

    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception:
        return None
    graph = model.graph
    changes = [_other_opset]
    if graph.node:
        changes += [_other_operator, _other_edge, _other_attribute, _without_node, _repeated_node, _looped]
    if graph.initializer:
        changes += [_other_shape, _other_type, _other_weights, _external_weights]
    if graph.input and graph.output:
        changes += [_other_input]
    try:
        rng.choice(changes)(model, rng)
        return model.SerializeToString()
    except ValueError:  # text that protobuf does not accept
        return None


_SIZES = (-1, 0, 1, 2, 3, 5, 1000, 2**20, 2**31 - 1, 2**31, 2**40, 2**63 - 1)


def _other_opset(model, rng):
    if model.opset_import:
        rng.choice(model.opset_import).version = rng.choice((0, 1, 7, 13, 21, 30, 2**31))
    model.ir_version = rng.choice((0, 3, 9, 10, 99))


def _other_operator(model, rng):
    rng.choice(model.graph.node).op_type = rng.choice(_OPERATORS)


def _other_edge(model, rng):
    node = rng.choice(model.graph.node)
    names = ["", "nothing", "x", "y", *(name for other in model.graph.node for name in other.output)]
    ends = rng.choice((node.input, node.output))
    if ends and rng.random() < 0.8:
        ends[rng.randrange(len(ends))] = rng.choice(names)
    else:
        ends.append(rng.choice(names))


def _other_attribute(model, rng):
    attributes = [attribute for node in model.graph.node for attribute in node.attribute]
    if not attributes:
        return
    attribute = rng.choice(attributes)
    how = rng.randrange(4)
    if how == 0:
        attribute.i = rng.choice(_SIZES)
    elif how == 1:
        attribute.ints.extend([rng.choice(_SIZES)])
    elif how == 2:
        attribute.name = rng.choice(("axis", "perm", "transA", "hidden_size", "classlabels_strings", ""))
    else:
        attribute.strings.append(rng.choice((b"", b"\xff", b"label")))


def _without_node(model, rng):
    del model.graph.node[rng.randrange(len(model.graph.node))]


def _repeated_node(model, rng):
    model.graph.node.add().CopyFrom(rng.choice(model.graph.node))


def _looped(model, rng):
    """Put a loop around a result: with a few steps or endless ones, by a trip count or by a condition."""
    from onnx import helper, numpy_helper

    graph = model.graph
    where = rng.choice([node for node in graph.node if node.output] or [None])
    if where is None:
        return
    result = where.output[0]
    where.output[0] = f"{result} before"
    number = len(graph.node)
    trips, on = f"trips {number}", f"on {number}"
    graph.initializer.append(numpy_helper.from_array(np.int64(rng.choice(_SIZES)), trips))
    graph.initializer.append(numpy_helper.from_array(np.bool_(rng.random() < 0.8), on))
    body = _body()
    if rng.random() < 0.3:  # a loop in the loop
        inner = ["trips", "", "state"] if rng.random() < 0.5 else [trips, "on", "state"]
        body.node[0].CopyFrom(helper.make_node("Loop", inner, ["next"], body=_body()))
    count = rng.choice((trips, trips, "", "size"))
    if count == "size":  # from the rows
        graph.node.append(helper.make_node("Size", ["x"], ["size"]))
    if rng.random() < 0.2:  # a Scan over a long axis without numbers
        long = numpy_helper.from_array(np.zeros((0, 0), np.float32), "long")
        long.dims[0] = rng.choice(_SIZES)
        graph.initializer.append(long)
        made = helper.make_node("Scan", ["long"], [result], body=body, num_scan_inputs=1)
    else:
        made = helper.make_node("Loop", [count, rng.choice(("", on)), where.output[0]], [result], body=body)
    place = list(graph.node).index(where) + 1
    graph.node.insert(place, made)


def _other_shape(model, rng):
    tensor = rng.choice(model.graph.initializer)
    if tensor.dims and rng.random() < 0.8:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(_SIZES)
    else:
        tensor.dims.append(rng.choice(_SIZES))


def _other_type(model, rng):
    rng.choice(model.graph.initializer).data_type = rng.choice((0, 1, 2, 6, 7, 8, 9, 10, 11, 16, 99))


def _other_weights(model, rng):
    tensor = rng.choice(model.graph.initializer)
    raw = bytearray(tensor.raw_data)
    for _ in range(min(len(raw), 4)):
        raw[rng.randrange(len(raw))] = rng.choice((0, 127, 128, 255))
    tensor.raw_data = bytes(raw[: rng.choice((len(raw), len(raw), len(raw) // 2))])


def _external_weights(model, rng):
    """Move weights to another file, by which a model could access files outside its folder."""
    tensor = rng.choice(model.graph.initializer)
    tensor.data_location = 1
    tensor.external_data.add(
        key=rng.choice(("location", "offset", "length")),
        value=rng.choice(("../../../../etc/passwd", "/etc/passwd", "network.onnx", "", "-1", "9" * 30)),
    )


def _other_input(model, rng):
    ends = rng.choice((model.graph.input, model.graph.output))
    end = rng.choice(ends)
    how = rng.randrange(3)
    if how == 0:
        end.type.tensor_type.elem_type = rng.choice((0, 1, 7, 8, 9, 10, 11, 99))
    elif how == 1:
        end.type.tensor_type.shape.dim.add().dim_value = rng.choice(_SIZES)
    elif end.type.tensor_type.shape.dim:
        rng.choice(end.type.tensor_type.shape.dim).dim_value = rng.choice(_SIZES)


def strategy():
    """Return a strategy for models with up to three changes, and for arbitrary bytes."""

    def several(drawn):
        data, source, n_changes = drawn
        for _ in range(n_changes):
            data = changed(data, source) or data
        return data

    models = st.tuples(st.sampled_from(examples()), st.randoms(use_true_random=False), st.integers(1, 3)).map(
        several
    )
    return models | st.binary(max_size=200)
