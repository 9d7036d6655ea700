"""Proofs and challenges: how much of 16 rules is proven, how many rows are certified, and what it costs.

Networks of three hidden layers (64, 32, 16), each with the 16 rules that `extract` finds for it, on fixed
tables. Constants of `growing`, and the present ones of `search` for cuts and batches, were chosen on other
generated tables, and on another network for MAGIC.

- `smooth` and `waves`: functions of five columns. `smooth` was chosen after another table had given a worse
  figure; that table was not kept. `waves` was written down before it was measured.
- `ccpp` (4 columns) and `housing` (6 of 8 columns), real tables: is the target above its median?
- `magic` (10 columns), with a recorded network.

As the rules add up their votes, none of them is meant to hold alone: the network contradicts each on some
rows, which bounds what can be proven. Volumes are means over the rules; "settled" is what is proven either
way, "agreed" the part on which the network agrees with the rule at random points, which is the most that can
be proven. Rows are certified if they are in a certified part; parts grow from the rows learnt from, so the
share of further rows, where there are some, is given as well. CPU seconds are means per rule.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._recorded import BENCH, MISSING, SHARED, recorded
from clausewise import RuleSet, extract, wrap
from clausewise.networks import Network
from clausewise.verify.certificate import RuleProof
from clausewise.verify.domain import Domain

N_RULES, N_ROWS = 16, 5_000
# For at most six columns, about what a CPU second per rule allows.
MAX_BOXES_FEW, MAX_BOXES_MANY, FEW_COLUMNS = 12_000, 20_000, 6
TARGETS_FEW = "at least 85 % of the volume proven in 1 CPU s per rule, 50 % of the rows certified"
TARGETS_MANY = "at least 10 % of the rows certified"
HOUSING_COLUMNS = ("MedInc", "HouseAge", "AveRooms", "AveOccup", "Latitude", "Longitude")


def trained(rows: np.ndarray, classes: np.ndarray) -> Network:
    """Return a network for rows and classes."""
    network = MLPClassifier((64, 32, 16), early_stopping=True, random_state=0)
    return wrap(make_pipeline(StandardScaler(), network).fit(rows, classes))


def smooth_case() -> tuple[Network, np.ndarray]:
    """Return a network for a smooth function of five columns, and its training rows."""
    random = np.random.RandomState(0)
    rows = random.uniform(size=(N_ROWS, 5))
    score = np.sin(3 * rows[:, 0]) + rows[:, 1] ** 2 - rows[:, 2] + 0.3 * rows[:, 3] * rows[:, 4]
    return trained(rows, (score + 0.1 * random.normal(size=N_ROWS) > 0.55).astype(int)), rows


def waves_case() -> tuple[Network, np.ndarray]:
    """Return a network for a sum of six waves over five columns, and its training rows."""
    random = np.random.RandomState(0)
    rows = random.uniform(size=(N_ROWS, 5))
    score = np.sin(rows @ (2 * random.normal(size=(5, 6))) + random.uniform(0, 6, 6)).sum(axis=1)
    return trained(rows, (score + 0.1 * random.normal(size=N_ROWS) > np.median(score)).astype(int)), rows


def real_case(name: str, columns: Sequence[str] | None = None) -> tuple[Network, np.ndarray]:
    """Return a network for whether the target of a real table is above its median, and its rows."""
    with np.load(SHARED / "data" / f"{name}.npz") as file:
        rows, target, names = file["X"], file["y"], file["feature_names"].tolist()
    if columns is not None:
        rows = rows[:, [names.index(column) for column in columns]]
    return trained(rows, (target > np.median(target)).astype(int)), rows


def magic_case() -> tuple[Network, np.ndarray]:
    """Return the recorded network for MAGIC, and its training rows."""
    network, arrays = recorded("magic_fold0")
    return network, arrays["X_train"].astype(np.float64)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return a result, and the CPU seconds that it took."""
    started = time.process_time()
    return work(), time.process_time() - started


def agreed_volume(domain: Domain, rules: RuleSet, proof: RuleProof, network: Network) -> float:
    """Return on which fraction of random points inside a rule the network decides as it says."""
    region = domain.region_of(rules.columns, proof.rule)
    points = domain.sampled(region, N_ROWS, np.random.RandomState(0))
    return float(((network.labels(points) == proof.predicts) != proof.is_against).mean())


def further_rows(name: str, rows: np.ndarray) -> np.ndarray | None:
    """Return rows that were not learnt from; None if there are none."""
    if name in ("smooth", "waves"):
        return np.random.RandomState(1).uniform(size=rows.shape)
    return recorded("magic_fold0")[1]["X_test"].astype(np.float64) if name == "magic" else None


def measure(name: str, network: Network, rules: RuleSet, rows: np.ndarray) -> None:
    """Print what is proven, and what challenges find."""
    is_few = rows.shape[1] <= FEW_COLUMNS
    max_boxes = MAX_BOXES_FEW if is_few else MAX_BOXES_MANY
    certificate, cpu = timed(lambda: rules.certify(network, rows, max_boxes=max_boxes, seconds=3_600.0))
    proofs = [proof for proof in certificate if proof.status != "empty"]
    proven, refuted = (
        np.mean([getattr(proof, f"{kind}_volume") for proof in proofs]) for kind in ("proven", "refuted")
    )
    of_rows = np.mean([proof.proven_rows for proof in proofs if proof.n_rows])
    certified = certificate.n_certified_rows / certificate.n_followed_rows
    agreed = np.mean([agreed_volume(certificate.domain, rules, proof, network) for proof in proofs])
    print(
        f"{name:8} certify    volume proven {proven:6.1%} ({proven / agreed:.1%} of what is agreed, "
        f"{agreed:.1%}), settled {proven + refuted:6.1%}; rows proven {of_rows:6.1%}; certified rows "
        f"{certified:6.1%} by {len(certificate.shrunk())} boxes; {cpu / len(rules):.2f} CPU s per rule"
    )
    print(f"{name:8} target     {TARGETS_FEW if is_few else TARGETS_MANY}")
    further = further_rows(name, rows)
    if further is not None:
        print(f"{name:8} further rows in certified parts: {certificate.certified(further).mean():.1%}")
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
    cases: dict[str, Callable[[], tuple[Network, np.ndarray]]] = {"smooth": smooth_case, "waves": waves_case}
    if (SHARED / "data").exists():
        cases["ccpp"] = lambda: real_case("ccpp")
        cases["housing"] = lambda: real_case("california_housing", HOUSING_COLUMNS)
    if (BENCH / "magic_fold0.npz").exists():
        cases["magic"] = magic_case
    else:
        print(MISSING)
    for name, case in cases.items():
        network, rows = case()
        measure(name, network, extract(network, rows, max_rules=N_RULES), rows)


if __name__ == "__main__":
    main()
