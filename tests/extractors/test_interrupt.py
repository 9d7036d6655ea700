"""Ctrl-C during an extraction."""

import subprocess
import sys
import textwrap

SCRIPT = """
    import os, signal, threading, time
    import numpy as np
    from clausewise import ECLAIRE
    from clausewise.networks import ArrayNetwork

    rng = np.random.default_rng(0)
    weights = [rng.normal(size=shape) for shape in ((30, 24), (24, 24), (24, 2))]
    network = ArrayNetwork(weights, [rng.normal(size=w.shape[1]) for w in weights], activation="tanh")
    X = rng.normal(size=(40_000, 30))
    model = ECLAIRE(network, min_cases=200).fit(X[:2_000])
    rules = model.rules_

    def interrupt():
        time.sleep(1.0)
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    sent = []
    threading.Thread(target=interrupt).start()
    started = time.monotonic()
    try:
        while time.monotonic() < started + 60:
            model.set_params(min_cases=2).fit(X)
    except KeyboardInterrupt:
        print("took", time.process_time() - sent[0])
    print("unchanged", int(model.rules_ is rules))
"""


def test_an_interrupt_stops_promptly_and_leaves_the_estimator_as_it_was():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "took" in done.stdout, done.stderr
    lines = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    # CPU seconds, of all threads: a busy machine does not add to them.
    assert float(lines["took"]) < 5
    assert lines["unchanged"] == "1"
