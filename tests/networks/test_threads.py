"""Networks in many threads: nobody else notices, and everybody gets the same results."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import clausewise
from clausewise.networks import ArrayNetwork

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from torch import nn  # noqa: E402

from clausewise.networks.torch import TorchBackend  # noqa: E402
from tests.networks.modules import Recurrent, Residual, Undecided, seeded  # noqa: E402
from tests.networks.test_torch import state_of  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4)).astype(np.float32)
N_THREADS = 6


@pytest.fixture(autouse=True)
def hurried():
    """Threads take turns 50 times as often as usual, so that what can go wrong does."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(usual)


def dense(*sizes):
    layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def answers(model):
    """All that an extractor asks of a model that it wraps."""
    run = clausewise.wrap(model).run(X)
    return [run.codes, run.probabilities, *(layer.matrix for layer in run.layers)]


def assert_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def in_threads(work, n_times=N_THREADS * 4):
    """The results of many calls that begin at once."""
    barrier = threading.Barrier(N_THREADS)

    def begun(number):
        if number < N_THREADS:
            barrier.wait(60)
        return work(number)

    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(begun, range(n_times)))


@contextmanager
def serving(answer, expected):
    """Another thread that calls a model all the time; afterwards its number of calls, and what went wrong."""
    seen = {"calls": 0, "faults": []}
    ends, begins = threading.Event(), threading.Event()

    def serve():
        while not ends.is_set():
            begins.set()
            try:
                if not torch.equal(answer(), expected):
                    seen["faults"].append("another answer")
            except BaseException as error:  # an exception of the watch, too
                seen["faults"].append(repr(error))
            seen["calls"] += 1

    thread = threading.Thread(target=serve)
    thread.start()
    begins.wait(60)
    try:
        yield seen
    finally:
        ends.set()
        thread.join()


MODULES = {"layers": lambda: dense(4, 8, 8, 3), "own": Residual, "recorded": lambda: Undecided(Residual())}


@pytest.mark.parametrize("make", MODULES.values(), ids=MODULES)
def test_a_thread_that_serves_another_module_notices_nothing(make):
    served, rows = seeded(dense, 4, 16, 16, 3), torch.tensor(X)
    with torch.no_grad():
        expected = served(rows)

    def answer():
        with torch.no_grad():
            return served(rows)

    module = seeded(make)
    with serving(answer, expected) as seen:
        while seen["calls"] < 500:
            answers(module)
    assert seen["faults"] == []


@pytest.mark.parametrize("around", [lambda module: module, Undecided], ids=["traced", "recorded"])
def test_a_thread_that_serves_the_same_module_notices_nothing(around):
    module, rows = around(seeded(Residual)).eval(), torch.tensor(X)
    with torch.no_grad():
        expected = module(rows)

    def answer():
        with torch.no_grad():
            return module(rows)

    first = answers(module)
    with serving(answer, expected) as seen:
        while seen["calls"] < 300:
            assert_same(answers(module), first)
    assert seen["faults"] == []


@pytest.mark.parametrize("around", [lambda module: module, Undecided], ids=["traced", "recorded"])
def test_threads_that_wrap_one_module_leave_its_flags_and_hooks(around):
    module = around(seeded(Residual).train())
    module.get_submodule("inner.drop" if isinstance(module, Undecided) else "drop").eval()
    before = state_of(module)
    expected = answers(module)
    for found in in_threads(lambda _: answers(module)):
        assert_same(found, expected)
    after = state_of(module)
    assert (after.training, after.hooks) == (before.training, before.hooks)


def test_threads_whose_modules_share_parts_leave_their_flags():
    body = nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.5), nn.ReLU())
    modules = [nn.Sequential(body, nn.Linear(6, 3)).train() for _ in range(3)]
    modules += [Undecided(module).train() for module in modules]
    expected = [answers(module) for module in modules]
    for number, found in enumerate(in_threads(lambda number: answers(modules[number % 6]))):
        assert_same(found, expected[number % 6])
    assert all(inner.training for module in modules for inner in module.modules())


def test_flags_are_restored_if_some_threads_fail():
    class Failing(Residual):
        def forward(self, x):
            if float(x.abs().max()) > 100:
                raise RuntimeError("no such luck")
            return super().forward(x)

    module = seeded(Failing).train()
    network = clausewise.wrap(module).inspect(X)

    def asked(number):
        try:
            return network.labels(X * 1000 if number % 3 == 0 else X).tolist()
        except RuntimeError:
            return None

    expected = network.labels(X).tolist()
    found = in_threads(asked)
    assert found[0::3] == [None] * len(found[0::3])
    assert all(one in (None, expected) for one in found)
    assert all(inner.training for inner in module.modules())


def test_tracing_leaves_nothing_in_the_module():
    class Remembering(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 3), nn.Linear(3, 2)
            self.scale = [torch.tensor(2.0)]
            self.calls_itself = self.hidden

        def hidden(self, x):
            return torch.relu(self.a(x))

        def forward(self, x):
            self.last = self.calls_itself(x) * self.scale[0]
            return self.b(self.last)

    module = seeded(Remembering)
    names = set(vars(module))
    TorchBackend(module)
    assert set(vars(module)) == names
    network = clausewise.wrap(module)
    assert network.layer_names == ("mul",)
    with torch.no_grad():
        expected = 2 * module.a(torch.tensor(X)).relu().numpy()
    np.testing.assert_allclose(next(network.hidden_layers(X)).matrix, expected, atol=1e-6)


def test_threads_share_one_network():
    for model in (seeded(Residual), Undecided(seeded(Residual))):
        expected = clausewise.wrap(model).outputs(X)
        network = clausewise.wrap(model)  # not asked yet: all threads inspect it at once
        for found in in_threads(lambda _, network=network: network.outputs(X)):
            np.testing.assert_array_equal(found, expected)


def test_threads_with_sequences_get_the_same_layers():
    module, rows = seeded(Recurrent), RNG.normal(size=(20, 7, 3)).astype(np.float32)
    (expected,) = clausewise.wrap(module).hidden_layers(rows)
    for (found,) in in_threads(lambda _: list(clausewise.wrap(module).hidden_layers(rows))):
        assert found.name == expected.name
        np.testing.assert_array_equal(found.matrix, expected.matrix)


# --- Other frameworks ---


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_threads_follow_keras_models_that_share_layers():
    keras = pytest.importorskip("keras", reason="Keras is not installed")
    keras.utils.set_random_seed(0)
    shared = keras.layers.Dense(6, "relu", name="shared")

    def model():
        inputs = keras.Input((4,))
        hidden = keras.layers.Dropout(0.5)(shared(inputs))
        return keras.Model(inputs, keras.layers.Dense(3, "softmax")(keras.layers.Dense(5, "tanh")(hidden)))

    models = [model() for _ in range(3)]
    expected = [answers(one) for one in models]
    served, rows = seeded(dense, 4, 16, 3), torch.tensor(X)
    with torch.no_grad():
        answer = served(rows)
    with serving(lambda: served(rows).detach(), answer) as seen:
        found = in_threads(lambda number: answers(models[number % 3]))
    for number, one in enumerate(found):
        assert_same(one, expected[number % 3])
    assert seen["calls"] > 0
    assert seen["faults"] == []


def test_threads_open_one_onnx_model():
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from tests.networks.test_onnx import DENSE, SCORES, W1, W2
    from tests.networks.test_onnx import model as made

    model = made(DENSE, SCORES, w1=W1, w2=W2)
    expected = answers(model)
    network = clausewise.wrap(model)
    for found in in_threads(lambda number: answers(model if number % 2 else network)):
        assert_same(found, expected)


def test_threads_leave_the_number_of_blas_threads():
    wide = [RNG.normal(size=shape) for shape in ((4, 300), (300, 300), (300, 3))]
    network = ArrayNetwork(wide, [np.zeros(matrix.shape[1]) for matrix in wide])
    rows = RNG.normal(size=(2_000, 4))
    expected, before = network.outputs(rows), threadpool_info()
    for found in in_threads(lambda _: network.outputs(rows), 60):
        np.testing.assert_array_equal(found, expected)
    assert threadpool_info() == before
