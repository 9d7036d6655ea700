"""Bounds contain what networks compute, for every activation, in exact and in rounded arithmetic."""

import numpy as np
import pytest

from clausewise.networks.plain import FUNCTIONS, Activation, Add, Dense, PlainNetwork, Scale
from clausewise.verify.bounds import BoundedNetwork, Boxes, Choice
from clausewise.verify.relaxation import FUNCTION_ERROR, lines_of
from tests.verify.networks import ACTIVATIONS, random_network

RADII = (0.0, 1e-6, 0.03, 0.5, 4.0)


def single_precision(network: PlainNetwork, rows: np.ndarray) -> np.ndarray:
    """Return the outputs as a forward pass in single precision computes them."""
    found = [rows.astype(np.float32)]
    for step in network.steps:
        if isinstance(step, Dense):
            found.append(found[step.source] @ step.weights.astype(np.float32) + step.bias.astype(np.float32))
        elif isinstance(step, Scale):
            scale, shift = step.scale.astype(np.float32), step.shift.astype(np.float32)
            found.append(found[step.source] * scale + shift)
        elif isinstance(step, Add):
            found.append(sum(found[source] for source in step.sources))
        else:
            assert isinstance(step, Activation)
            found.append(FUNCTIONS[step.name][0](found[step.source], step.slope).astype(np.float32))
    return found[-1]


def points_in(low: np.ndarray, high: np.ndarray, n_points: int, random: np.random.RandomState) -> np.ndarray:
    """Return random points and corners of each box, of shape (n_boxes, 2 * n_points, n_inputs)."""
    draws = random.random_sample((len(low), n_points, low.shape[1]))
    both = np.concatenate([draws, np.round(draws)], axis=1)
    return np.clip(low[:, None] + both * (high - low)[:, None], low[:, None], high[:, None])


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_bounds_contain_the_outputs_at_random_points_and_corners(activation, residual):
    random = np.random.RandomState(1)
    for seed in range(4):
        network = random_network(activation, seed, residual=residual)
        for radius in RADII:
            centres = random.normal(size=(10, 3))
            low, high = centres - radius, centres + radius
            found_low, found_high = BoundedNetwork(network).output_bounds(Boxes(low, high))
            points = points_in(low, high, 40, random)
            outputs = network.outputs(points.reshape(-1, 3)).reshape(10, 80, 2)
            assert (outputs >= found_low[:, None]).all()
            assert (outputs <= found_high[:, None]).all()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_bounds_contain_outputs_in_single_precision_even_of_single_points(activation):
    random = np.random.RandomState(2)
    for seed in range(4):
        network = random_network(activation, seed, dtype=np.float32, residual=seed % 2 == 1)
        points = random.normal(scale=3, size=(200, 3)).astype(np.float32).astype(np.float64)
        low, high = BoundedNetwork(network).output_bounds(Boxes(points, points))
        outputs = single_precision(network, points)
        assert (outputs >= low).all()
        assert (outputs <= high).all()
        # The margin is one of rounding, and not a large one.
        assert (high - low).max() < 1e-2


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_small_boxes_have_tight_bounds(activation):
    network = random_network(activation, 0)
    centres = np.random.RandomState(0).normal(size=(20, 3))
    low, high = BoundedNetwork(network).output_bounds(Boxes(centres - 0.001, centres + 0.001))
    points = points_in(centres - 0.001, centres + 0.001, 200, np.random.RandomState(0))
    outputs = network.outputs(points.reshape(-1, 3)).reshape(20, 400, 2)
    assert (high - low).mean() < 1.3 * (outputs.max(axis=1) - outputs.min(axis=1)).mean()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_lines_are_below_and_above_their_activation(activation):
    random = np.random.RandomState(3)
    ends = np.sort(
        random.normal(scale=random.choice([0.1, 1, 10, 40], size=(3_000, 1)), size=(3_000, 2)), axis=1
    )
    low, high = ends[:, :1], ends[:, 1:]
    step = Activation(0, activation, {"leaky_relu": 0.1, "elu": 0.8}.get(activation, 0.0))
    lines = lines_of(step, low, high, 0.0, 0.0)
    points = low + np.linspace(0, 1, 101) * (high - low)
    values = FUNCTIONS[activation][0](points, step.slope)
    tolerance = 1e-13 * (1 + np.abs(points))
    assert (lines.slope_below * points + lines.below <= values + tolerance).all()
    assert (lines.slope_above * points + lines.above >= values - tolerance).all()


def test_coefficients_that_boxes_share_give_the_same_bounds_either_way(monkeypatch):
    network = random_network("relu", 4)
    centre = np.random.RandomState(4).normal(size=(20, 3))
    boxes = Boxes(centre - 0.3, centre + 0.3)
    quick = BoundedNetwork(network).output_bounds(boxes)
    n_used = []
    monkeypatch.setattr(BoundedNetwork, "_narrow_before", lambda *arguments: n_used.append(arguments))
    plain = BoundedNetwork(network).output_bounds(boxes)
    assert len(n_used) > 0
    np.testing.assert_allclose(quick, plain, rtol=1e-12)


def test_a_one_hot_block_is_bounded_over_its_options_only():
    network = random_network("relu", 5, sizes=(4, 10, 2))
    choice = Choice(np.array([1, 2, 3]), np.eye(3))
    allowed = np.array([[True, False, True]])
    box = Boxes(np.array([[0.2, 0, 0, 0]]), np.array([[0.3, 1, 1, 1]]), [allowed])
    low, high = BoundedNetwork(network, [choice]).output_bounds(box)
    rows = np.array([[x, *np.eye(3)[option]] for x in np.linspace(0.2, 0.3, 50) for option in (0, 2)])
    outputs = network.outputs(rows)
    assert (outputs >= low).all()
    assert (outputs <= high).all()
    loose_low, loose_high = BoundedNetwork(network).output_bounds(Boxes(box.low, box.high))
    assert (high - low < loose_high - loose_low).all()


def test_gradients_are_those_of_finite_differences():
    for activation in ("elu", "softplus", "tanh", "sigmoid"):
        network = random_network(activation, 6, residual=True)
        rows = np.random.RandomState(0).normal(size=(5, 3))
        weights = np.random.RandomState(1).normal(size=(5, 2))
        steps = 1e-6 * np.eye(3)
        ahead, behind = ((network.outputs((rows[:, None] + s * steps).reshape(-1, 3))) for s in (1, -1))
        slopes = ((ahead - behind) / 2e-6).reshape(5, 3, 2)
        expected = np.einsum("rio,ro->ri", slopes, weights)
        assert np.allclose(network.gradients(rows, weights), expected, atol=1e-6)


def test_functions_of_libraries_are_as_exact_as_proofs_assume():
    torch = pytest.importorskip("torch")
    onnxruntime, onnx = pytest.importorskip("onnxruntime"), pytest.importorskip("onnx")
    points = np.linspace(-40, 40, 400_001).astype(np.float32)
    tensor = torch.from_numpy(points)
    by_torch = {
        "tanh": torch.tanh(tensor),
        "sigmoid": torch.sigmoid(tensor),
        "elu": torch.nn.functional.elu(tensor),
        "softplus": torch.nn.functional.softplus(tensor),
    }
    for name, values in by_torch.items():
        node = onnx.helper.make_node(name.capitalize(), ["x"], ["y"])
        kind = onnx.TensorProto.FLOAT
        ends = [onnx.helper.make_tensor_value_info(end, kind, [None]) for end in "xy"]
        graph = onnx.helper.make_graph([node], "one", ends[:1], ends[1:])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        exact = FUNCTIONS[name][0](points.astype(np.float64), 1.0)
        allowed = FUNCTION_ERROR[np.dtype(np.float32)] * (1 + np.abs(exact))
        for computed in (values.numpy(), session.run(None, {"x": points})[0]):
            assert (np.abs(computed - exact) < allowed).all()
