from clausewise.networks.graph import InnerTensor, Operation, inner_tensors, last_operation, last_weights


def dense(name, source):
    return Operation(name, (source,), "weights")


def act(name, *sources):
    return Operation(name, sources, "other")


def same(name, source):
    return Operation(name, (source,), "same")


def hidden(operations, output):
    return [one.name for one in inner_tensors(operations, output) if one.reader is not None]


def test_the_activation_between_two_dense_layers_is_hidden():
    chain = [dense("a", "x"), act("relu", "a"), dense("b", "relu")]
    assert inner_tensors(chain, "b") == (InnerTensor("a", None), InnerTensor("relu", "b"))


def test_a_scaled_input_is_not_hidden():
    assert hidden([act("scaled", "x"), dense("a", "scaled")], "a") == []


def test_reshaped_and_dropped_out_tensors_count_once():
    chain = [
        dense("a", "x"),
        act("relu", "a"),
        same("drop", "relu"),
        same("flat", "drop"),
        dense("b", "flat"),
    ]
    assert inner_tensors(chain, "b") == (InnerTensor("a", None), InnerTensor("relu", "b"))


def test_sums_and_concatenations_are_hidden_where_weights_read_them():
    graph = [
        dense("a", "x"),
        act("left", "a"),
        dense("b", "left"),
        act("sum", "left", "b"),
        act("joined", "sum", "left"),
        dense("c", "joined"),
    ]
    assert hidden(graph, "c") == ["left", "joined"]


def test_what_the_output_does_not_depend_on_is_left_out():
    graph = [dense("a", "x"), act("relu", "a"), dense("output", "relu"), dense("auxiliary", "relu")]
    assert [one.name for one in inner_tensors(graph, "output")] == ["a", "relu"]


def test_a_tensor_that_two_layers_read_is_listed_once_with_its_first_reader():
    graph = [dense("a", "x"), dense("b", "a"), dense("c", "a"), act("sum", "b", "c")]
    assert inner_tensors(graph, "sum") == (
        InnerTensor("a", "b"),
        InnerTensor("b", None),
        InnerTensor("c", None),
    )


def test_the_last_operation_is_found_before_reshaping():
    assert (
        last_operation([dense("a", "x"), act("softmax", "a"), same("flat", "softmax")], "flat") == "softmax"
    )


def test_the_output_is_hidden_only_if_weights_read_it_again():
    graph = [dense("a", "x"), dense("b", "a")]
    assert [one.name for one in inner_tensors(graph, "b")] == ["a"]


def test_the_last_weights_before_a_tensor_are_found_through_sums_with_the_input():
    graph = [dense("a", "x"), act("relu", "a"), act("sum", "x", "relu"), dense("b", "sum")]
    assert last_weights(graph, "sum") == "a"
    assert last_weights(graph, "b") == "b"
    assert last_weights([act("scaled", "x")], "scaled") is None
