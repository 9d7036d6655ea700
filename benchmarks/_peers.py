"""Other packages that learn small rule sets, each run in a new process with a limit on its CPU time.

`python -m benchmarks._peers CART magic_fold0 120 4 8 16` fits CART to the network's labels with at most 4, 8
and 16 rules, for at most 120 CPU seconds in total, and prints one line of JSON per fit. All but CART and C5.0
need the extra `peers`.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks._recorded import recorded
from benchmarks.eclaire import N_JOBS
from clausewise import C50Classifier

# Rounds of column generation (few, which keeps the rules few, and the default), penalties and depths.
RUG_ROUNDS, RUG_PENALTIES, RUG_DEPTHS = (2, 10), (1.0, 10.0, 100.0), (1, 2, 3, 4, 5)
C50_MIN_CASES = (2, 4, 8, 15, 30, 60, 120, 250, 500, 1000, 2000)


@dataclass(frozen=True)
class Fit:
    """Number of rules, test fidelity in % and CPU seconds of one rule set."""

    size: float
    fidelity: float
    cpu: float


@dataclass(frozen=True)
class Peer:
    """A method to compare with: its package, its estimators per budget, and the size of a fitted one."""

    package: str
    estimators: Callable[[Sequence[int]], Iterator[Any]]
    size: Callable[[Any], int]
    only_binary: bool = False


@dataclass(frozen=True)
class PeerRun:
    """All fits of a peer to one network, and a note on what failed."""

    fits: list[Fit]
    note: str = ""

    def best(self, budget: int) -> Fit | None:
        """Return the fit with the highest test fidelity among those with at most `budget` rules."""
        within = [fit for fit in self.fits if fit.size <= budget]
        return max(within, key=lambda fit: fit.fidelity, default=None)


def _cart(budgets: Sequence[int]) -> Iterator[Any]:
    for budget in budgets:
        yield DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=5, max_leaf_nodes=budget, random_state=0
        )


def _c50(budgets: Sequence[int]) -> Iterator[Any]:
    for min_cases in C50_MIN_CASES:
        yield C50Classifier(min_cases=min_cases, n_jobs=N_JOBS)


def _rug(budgets: Sequence[int]) -> Iterator[Any]:
    from ruleopt import RUGClassifier
    from ruleopt.solver import HiGHSSolver

    for n_rounds, penalty, depth in product(RUG_ROUNDS, RUG_PENALTIES, RUG_DEPTHS):
        solver = HiGHSSolver(penalty=penalty)
        yield RUGClassifier(solver=solver, max_rmp_calls=n_rounds, max_depth=depth, random_state=0)


def _figs(budgets: Sequence[int]) -> Iterator[Any]:
    from imodels import FIGSClassifier

    for budget in budgets:
        yield FIGSClassifier(max_rules=budget, random_state=0)


def _rulefit(budgets: Sequence[int]) -> Iterator[Any]:
    from imodels import RuleFitClassifier

    for budget in reversed(budgets):  # largest first, so that the small ones are lost if the time is up
        yield RuleFitClassifier(max_rules=budget, random_state=0)


PEERS = {
    "CART": Peer("sklearn", _cart, lambda model: int(model.get_n_leaves())),
    "C5.0 rules": Peer("clausewise", _c50, lambda model: len(model.rules_)),
    "RUG": Peer("ruleopt", _rug, lambda model: len(model.decision_rules_)),
    "FIGS": Peer("imodels", _figs, lambda model: int(model.complexity_)),
    "RuleFit": Peer("imodels", _rulefit, lambda model: int(np.count_nonzero(model.coef)), only_binary=True),
}


def run_peer(name: str, network: str, budgets: Sequence[int], n_classes: int, limit: int) -> PeerRun:
    """Fit a peer to a network's labels in a new process; return what it found until it was stopped."""
    peer = PEERS[name]
    if find_spec(peer.package) is None:
        return PeerRun([], f"{peer.package} is not installed")
    if peer.only_binary and n_classes > 2:
        return PeerRun([], "supports two classes only")
    command = [sys.executable, "-m", "benchmarks._peers", name, network, str(limit), *map(str, budgets)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    fits = [Fit(**line) for line in found if "error" not in line]
    errors = [line["error"] for line in found if "error" in line]
    if done.returncode == -signal.SIGXCPU:
        return PeerRun(fits, f"stopped after {limit} CPU seconds, {len(found)} settings tried")
    if done.returncode:
        errors.append(done.stderr.strip().splitlines()[-1])
    return PeerRun(fits, f"{len(errors)} settings failed: {errors[-1]}" if errors else "")


def fit_all(name: str, network: str, budgets: Sequence[int]) -> None:
    """In the new process: fit every setting and print the results."""
    peer = PEERS[name]
    _, arrays = recorded(network)
    labels, decided = arrays["dnn_train_labels"].astype(int), arrays["dnn_test_labels"].astype(int)
    for estimator in peer.estimators(budgets):
        try:
            start = time.process_time()
            estimator.fit(arrays["X_train"], labels)
            cpu = time.process_time() - start
            agreed = np.asarray(estimator.predict(arrays["X_test"])).astype(int) == decided
            found = {"size": peer.size(estimator), "fidelity": 100 * float(np.mean(agreed)), "cpu": cpu}
        except Exception as error:  # a peer's failure is a result: the next setting may work
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    name, network, limit, *budgets = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    warnings.simplefilter("ignore")  # standard output is for the results
    fit_all(name, network, [int(budget) for budget in budgets])
