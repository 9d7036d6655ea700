"""Long work: progress, prompt interruption, and no leftovers."""

import os
import resource
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from clausewise.induction import C50Inducer, PreparedMatrix, induce_many

# Work of many seconds: many targets over a matrix that is quickly prepared.
LONG_WORK = """
    import os, signal, sys, threading, time
    import numpy as np
    from clausewise.induction import C50Inducer, CARTInducer, PreparedMatrix, induce_many

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 30))
    matrix = PreparedMatrix.prepare(X)
    noise = rng.random((40, len(X))) < 0.5
"""


def run_python(body: str) -> "subprocess.CompletedProcess[str]":
    script = textwrap.dedent(LONG_WORK) + textwrap.dedent(body)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow_under_sanitizers
@pytest.mark.parametrize(
    ("inducer", "n_targets"), [("C50Inducer(cf=1.0)", 1), ("C50Inducer(cf=1.0)", 40), ("CARTInducer()", 40)]
)
def test_an_interrupt_stops_the_work_promptly_and_leaves_no_threads(inducer, n_targets):
    done = run_python(f"""
        def interrupt():
            time.sleep(0.7)
            sent.append(time.process_time())
            os.kill(os.getpid(), signal.SIGINT)

        sent = []
        threading.Thread(target=interrupt).start()
        started = time.monotonic()
        try:
            while time.monotonic() < started + 60:  # one target may be done before the interrupt comes
                induce_many({inducer}, matrix, noise[:{n_targets}])
        except KeyboardInterrupt:
            print("took", time.process_time() - sent[0])
        time.sleep(0.2)
        print("threads", len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1)
        print("works after", len(induce_many(C50Inducer(), matrix, X[:, :1].T > 0)[0]))
    """)
    assert "took" in done.stdout, done.stderr
    lines = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    # CPU seconds, of all threads: a busy machine does not add to them.
    assert float(lines["took"]) < 5
    assert int(lines["threads"]) <= 1 + threads_of_numpy()
    assert int(lines["works after"]) == 2


WITHOUT_THREADS = """
    import resource, threading
    from clausewise import C50Classifier

    if os.getuid() == 0:
        os.setuid(65534)  # limits on processes do not hold for root
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    try:
        threading.Thread(target=print).start()
    except RuntimeError:
        print("no thread starts")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits on threads need Linux")
def test_everything_works_where_no_thread_can_be_started():
    done = run_python(
        WITHOUT_THREADS
        + """
    y = X[:, 0] + X[:, 1] > 0
    for n_jobs in (1, 4):
        model = C50Classifier(n_jobs=n_jobs).fit(X[:2000], y[:2000])
        print("accuracy", np.mean(model.predict(X[:2000]) == y[:2000]) > 0.9)
    reports = []
    progress = lambda done, total: reports.append((done, total))
    found = induce_many(C50Inducer(), matrix, X[:, :2].T > 0, n_jobs=1, progress=progress)
    print("rules", [len(rules) for rules in found], "reports", reports[-1])
    alternating = np.arange(3_000) % 2 == 0  # a deep tree
    C50Classifier(n_jobs=1, min_cases=1, cf=1.0).fit(np.arange(3_000.0).reshape(-1, 1), alternating)

    def interrupt(signum, frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, 0.7)
    started = time.process_time()
    try:
        while time.process_time() < started + 60:  # all targets may be done before the interrupt comes
            induce_many(C50Inducer(cf=1.0), matrix, noise)
    except KeyboardInterrupt:
        print("interrupted", time.process_time() - started < 6)
    """
    )
    assert done.stdout.splitlines() == [
        "no thread starts",
        "accuracy True",
        "accuracy True",
        "rules [2, 2] reports (2, 2)",
        "interrupted True",
    ], done.stderr


def test_an_error_in_the_progress_callback_stops_the_work_and_comes_through():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    matrix = PreparedMatrix.prepare(X)

    def complain(done, total):
        raise RuntimeError(f"enough after {done} of {total}")

    with pytest.raises(RuntimeError, match="enough after"):
        induce_many(C50Inducer(cf=1.0), matrix, rng.random((200, len(X))) < 0.5, progress=complain)


def test_progress_is_reported_in_order_and_from_the_calling_thread():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 20))
    reports = []
    induce_many(
        C50Inducer(cf=1.0),
        PreparedMatrix.prepare(X),
        rng.random((60, len(X))) < 0.5,
        progress=lambda done, total: reports.append((done, total, threading.get_ident())),
    )
    assert reports[-1][:2] == (60, 60)
    assert [done for done, _, _ in reports] == sorted({done for done, _, _ in reports})
    assert {(total, thread) for _, total, thread in reports} == {(60, threading.get_ident())}


def test_short_work_reports_its_end_too():
    X = np.random.default_rng(0).normal(size=(50, 2))
    reports = []
    targets = np.array([X[:, 0] > 0, X[:, 1] > 0])
    induce_many(C50Inducer(), PreparedMatrix.prepare(X), targets, progress=lambda *done: reports.append(done))
    assert reports[-1] == (2, 2)


def test_repeated_fits_do_not_gather_memory():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5_000, 20))
    targets = rng.random((4, len(X))) < 0.2

    def work():
        for _ in range(5):
            induce_many(C50Inducer(), PreparedMatrix.prepare(X), targets)

    work()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(6):
        work()
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 20_000


def test_several_python_threads_may_fit_on_one_matrix():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 10))
    matrix = PreparedMatrix.prepare(X)
    target = (X[:, :1] * X[:, 1:2] > 0).T
    expected = induce_many(C50Inducer(), matrix, target)
    found = [None] * 8

    def fit(place):
        found[place] = induce_many(C50Inducer(), matrix, target, n_jobs=2)

    threads = [threading.Thread(target=fit, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(rules == expected for rules in found)


def threads_of_numpy() -> int:
    """Threads that NumPy's and SciPy's linear algebra keep, which are not ours."""
    script = "import os, numpy, scipy.linalg, sklearn; print(len(os.listdir('/proc/self/task')))"
    if not os.path.isdir("/proc/self/task"):
        return 64
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return int(done.stdout)
