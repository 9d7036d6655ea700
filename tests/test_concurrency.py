"""One rule set, many threads and processes: the same answers, and no deadlock.

Whatever could hang runs in a process of its own that is given a time limit.
"""

import importlib.util
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.rules.many_rules import many_rules, rows_for

TIMEOUT = 240
"""Seconds; a busy machine is slow, a deadlock lasts for ever."""


def said_by(code):
    """Return what a process that runs this code prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_eight_threads_that_begin_at_once_get_the_same_answers():
    rows = rows_for(3_000)
    expected = many_rules(500).predict(rows, n_jobs=1)
    proba = many_rules(500).predict_proba(rows, n_jobs=1)
    rules = many_rules(500)  # not used yet, so all threads build its caches at once
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n_jobs: rules.predict(rows, n_jobs=n_jobs), [1, 2, None, 3] * 8))
        probabilities = list(pool.map(lambda _: rules.predict_proba(rows), range(8)))
        explained = list(pool.map(lambda _: rules.explain(rows[:20])[7].fired, range(8)))
    assert all(np.array_equal(answer, expected) for answer in answers)
    assert all(np.array_equal(answer, proba) for answer in probabilities)
    assert all(fired == explained[0] for fired in explained)


def test_eight_threads_edit_and_decide_without_a_trace_in_the_first_rule_set():
    rules, rows = many_rules(200), rows_for(200)
    before, expected = rules.to_text(), rules.predict(rows)

    def edited(number):
        changed = rules.remove(number).reweight(number, weight=number).add("IF f0 <= 1 THEN b", priority=True)
        return changed.predict(rows).tolist()

    alone = [edited(number) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(edited, range(8))) == alone
    assert rules.to_text() == before
    assert np.array_equal(rules.predict(rows), expected)


POOL = """
    import multiprocessing
    import numpy as np
    from tests.rules.many_rules import many_rules, rows_for

    rules, rows = many_rules(500), rows_for(2_000)

    def decided(number):
        return rules.predict(rows, n_jobs=2).tolist()

    def sent(given):
        return given.predict(rows, n_jobs=2).tolist()
"""


@pytest.mark.slow_under_sanitizers
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_workers_forked_after_threads_were_used_give_the_same_answers():
    said = said_by(
        POOL
        + """
    expected = rules.predict(rows, n_jobs=4).tolist()  # threads have been used before the fork
    with multiprocessing.get_context("fork").Pool(3) as pool:
        answers = pool.map(decided, range(6)) + pool.map(sent, [rules] * 3)
    print(all(answer == expected for answer in answers), len(answers))
    """
    )
    assert said == "True 9\n"


@pytest.mark.slow_under_sanitizers
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_workers_forked_while_threads_decide_give_the_same_answers():
    said = said_by(
        POOL
        + """
    import os, threading
    expected = rules.predict(rows, n_jobs=2).tolist()
    ends = threading.Event()

    def decide():
        while not ends.is_set():
            rules.predict(rows, n_jobs=2)

    threads = [threading.Thread(target=decide) for _ in range(2)]
    for thread in threads:
        thread.start()
    good = 0
    for _ in range(10):
        child = os.fork()
        if child == 0:
            os._exit(0 if rules.predict(rows, n_jobs=2).tolist() == expected else 1)
        good += os.waitpid(child, 0)[1] == 0
    ends.set()
    for thread in threads:
        thread.join()
    print(good)
    """
    )
    assert said == "10\n"


@pytest.mark.slow_under_sanitizers
def test_spawned_workers_give_the_same_answers(tmp_path):
    # A spawned process imports the main module again, so it has to be a file.
    main = tmp_path / "main.py"
    main.write_text(
        textwrap.dedent(
            POOL
            + """
    if __name__ == "__main__":
        expected = rules.predict(rows, n_jobs=4).tolist()
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            answers = pool.map(sent, [rules] * 3)
        print(all(answer == expected for answer in answers), len(answers))
    """
        )
    )
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    done = subprocess.run(
        [sys.executable, str(main)], capture_output=True, text=True, timeout=TIMEOUT, env=environment
    )
    assert done.stdout == "True 3\n", done.stderr[-3000:]


@pytest.mark.slow_under_sanitizers
def test_torch_and_rules_work_in_one_process_at_the_same_time():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    said = said_by(
        POOL
        + """
    from concurrent.futures import ThreadPoolExecutor
    import torch

    torch.set_num_threads(2)
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 3))
    inputs = torch.randn(2_000, 64)

    def asked(_):
        with torch.no_grad():
            return network(inputs).argmax(1).tolist()

    labels, expected = asked(0), rules.predict(rows, n_jobs=1).tolist()
    with ThreadPoolExecutor(8) as pool:
        networks = [pool.submit(asked, 0) for _ in range(12)]
        answers = [pool.submit(decided, 0) for _ in range(12)]
    same = all(done.result() == expected for done in answers)
    print(same, all(done.result() == labels for done in networks), decided(0) == expected)
    """
    )
    assert said == "True True True\n"


EXTRACTIONS = """
    import os
    os.environ["KERAS_BACKEND"] = "torch"
    import sys, warnings
    import threading
    from concurrent.futures import ThreadPoolExecutor
    import numpy as np
    import torch
    from torch import nn
    import clausewise

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)).astype(np.float32)

    def torch_models():
        torch.manual_seed(0)
        layers = lambda: nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.3), nn.ReLU(), nn.Linear(6, 3))
        return [layers().train(), layers().train()]

    def keras_models():
        import keras
        keras.utils.set_random_seed(0)
        layers = keras.layers
        shape = lambda: [keras.Input((4,)), layers.Dense(6, "relu"), layers.Dropout(0.3), layers.Dense(3)]
        return [keras.Sequential(shape()), keras.Sequential(shape())]

    def onnx_models():
        from tests.networks.test_onnx import DENSE, SCORES, model
        def draw(*shape):
            return rng.normal(size=shape).astype(np.float32)
        return [model(DENSE, SCORES, w1=draw(4, 5), w2=draw(5, 3)) for _ in range(2)]

    def text(model, n_jobs):
        return clausewise.extract(model, X, max_rules=4, n_jobs=n_jobs).to_text()

    models = {made}()
    expected = [text(model, 1) for model in models]
    jobs = [(number % 2, (1, 3)[number // 2 % 2]) for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda job: text(models[job[0]], job[1]), jobs))
    same = [one == expected[job[0]] for one, job in zip(found, jobs)]
    print(all(same), len(set(expected)), all(getattr(model, "training", True) for model in models))
"""


@pytest.mark.slow_under_sanitizers
@pytest.mark.parametrize(
    ("made", "needed"),
    [("torch_models", "torch"), ("keras_models", "keras"), ("onnx_models", "onnxruntime")],
)
def test_many_threads_extract_from_two_models_as_one_thread_does(made, needed):
    if not all(importlib.util.find_spec(name) for name in ("torch", needed)):
        pytest.skip(f"{needed} or PyTorch is not installed")
    assert said_by(EXTRACTIONS.replace("{made}", made)) == "True 2 True\n"
