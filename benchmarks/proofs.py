"""Proofs and challenges: how much of 16 rules is proven, how many rows are certified, and what it costs.

Two networks of three hidden layers (64, 32, 16): one for a smooth function of five columns, one for MAGIC
(ten columns, recorded), each with the 16 rules that `extract` finds for it. As these rules add up their
votes, none of them is meant to hold alone: the network contradicts each on some rows, which bounds what can
be proven. Volumes are means over the rules; "settled" is what is proven either way, "agreed" the part on
which the network agrees with the rule at random points, which is the most that can be proven. CPU seconds are
means per rule.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._recorded import BENCH, MISSING, recorded
from clausewise import RuleSet, extract, wrap
from clausewise.networks import Network
from clausewise.verify.certificate import RuleProof
from clausewise.verify.domain import Domain

N_RULES, N_ROWS = 16, 5_000
MAX_BOXES = {"smooth": 20_000, "magic": 20_000}
MAX_PARTS = {"smooth": 6, "magic": 6}


def smooth_case() -> tuple[Network, np.ndarray]:
    """Return a network for a smooth function of five columns, and its training rows."""
    random = np.random.RandomState(0)
    rows = random.uniform(size=(N_ROWS, 5))
    score = np.sin(3 * rows[:, 0]) + rows[:, 1] ** 2 - rows[:, 2] + 0.3 * rows[:, 3] * rows[:, 4]
    classes = (score + 0.1 * random.normal(size=N_ROWS) > 0.55).astype(int)
    network = MLPClassifier((64, 32, 16), early_stopping=True, random_state=0)
    return wrap(make_pipeline(StandardScaler(), network).fit(rows, classes)), rows


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result, and the CPU seconds that it took."""
    started = time.process_time()
    return work(), time.process_time() - started


def agreed_volume(domain: Domain, rules: RuleSet, proof: RuleProof, network: Network) -> float:
    """Return on which fraction of random points inside a rule the network decides as it says."""
    region = domain.region_of(rules.columns, proof.rule)
    points = domain.sampled(region, N_ROWS, np.random.RandomState(0))
    return float(((network.labels(points) == proof.predicts) != proof.is_against).mean())


def measure(name: str, network: Network, rules: RuleSet, rows: np.ndarray) -> None:
    """Print what is proven, and what challenges find."""
    options = {"max_boxes": MAX_BOXES[name], "max_parts": MAX_PARTS[name], "seconds": 3_600.0}
    certificate, cpu = timed(lambda: rules.certify(network, rows, **options))
    proofs = [proof for proof in certificate if proof.status != "empty"]
    proven, refuted = (
        np.mean([getattr(proof, f"{kind}_volume") for proof in proofs]) for kind in ("proven", "refuted")
    )
    of_rows = np.mean([proof.proven_rows for proof in proofs if proof.n_rows])
    certified = certificate.n_certified_rows / certificate.n_rows
    agreed = np.mean([agreed_volume(certificate.domain, rules, proof, network) for proof in proofs])
    print(
        f"{name:8} certify    volume proven {proven:6.1%}, settled {proven + refuted:6.1%}, "
        f"agreed {agreed:6.1%}; rows proven {of_rows:6.1%};"
        f" certified rows {certified:6.1%} by {len(certificate.shrunk())} boxes; {cpu / len(rules):.2f} CPU "
        "s per rule"
    )
    inside = certificate.certified(rows)
    errors = (
        (certificate.shrunk().predict(rows[inside]) != network.labels(rows[inside])).sum()
        if inside.any()
        else 0
    )
    around, cpu_around = timed(lambda: certificate.around(rows[:500]))
    print(f"{name:8} errors in certified rows: {errors}; {around}; {cpu_around:.2f} CPU s")
    found, cpu_found = timed(lambda: rules.challenge(network, rows))
    print(f"{name:8} challenge  {found.headline}; {cpu_found:.2f} CPU s")


def main() -> None:
    """Run the benchmark."""
    network, rows = smooth_case()
    measure("smooth", network, extract(network, rows, max_rules=N_RULES), rows)
    if not (BENCH / "magic_fold0.npz").exists():
        print(MISSING)
        return
    network, arrays = recorded("magic_fold0")
    rows = arrays["X_train"].astype(np.float64)
    measure("magic", network, extract(network, rows, max_rules=N_RULES), rows)


if __name__ == "__main__":
    main()
