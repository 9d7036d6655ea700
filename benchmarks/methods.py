"""REM-D, DeepRED* and the pedagogical methods on recorded networks, beside the reference and the paper.

The target: XOR with min_cases 33 in at least 20 times less CPU time than the reference (6.5 s, scaled by a
calibration loop). Needs the recorded networks (`benchmarks/_recorded.py`).
"""

import sys
import warnings
from functools import partial

import numpy as np

from benchmarks._measure import growth_during, megabytes, peak_growth, timed
from benchmarks._recorded import BENCH, MISSING, recorded
from benchmarks.eclaire import CALIBRATION_SECONDS, N_JOBS, calibration, verdict
from clausewise import ECLAIRE, REMD, DeepRED, ExtractionWarning, Pedagogical
from clausewise.extractors import RuleExtractor

METHODS: dict[str, type[RuleExtractor]] = {
    "REM-D": REMD,
    "DeepRED*": DeepRED,
    "ECLAIRE": ECLAIRE,
    "Pedagogical": Pedagogical,
}
XOR = [f"xor_fold{fold}" for fold in range(3)]
REFERENCE_SECONDS = 6.5
# As reported by the paper: fidelity %, seconds, rules.
PAPER = {
    ("REM-D", "xor", 33): (88.2, 116, 3_337),
    ("DeepRED*", "xor", 30): (88.1, 391, 9_150),
    ("REM-D", "magic", 700): (81.1, 356, 3_617),
    ("DeepRED*", "magic", 700): (81.0, 708, 5_143),
}
# min_cases of the pedagogical method (as in the reference) and of ECLAIRE.
LABELS_ALONE = {"xor_fold0": (2, 2), "magic_fold0": (15, 50), "mb_er_fold0": (2, 5), "mb_hist_fold0": (5, 9)}


def extracted(method: str, name: str, min_cases: int) -> RuleExtractor:
    network, arrays = recorded(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtractionWarning)
        options = {"min_cases": min_cases, "max_rules": None, "n_jobs": N_JOBS}
        model = METHODS[method](network, **options)  # type: ignore[call-arg]
        return model.fit(arrays["X_train"])


def measured(method: str, names: list[str], min_cases: int) -> tuple[float, float, float, list[int]]:
    """Return mean fidelity in % (default and `share` vote), mean CPU seconds and the numbers of rules."""
    fidelities, shares, cpus, n_rules = [], [], [], []
    for name in names:
        model = extracted(method, name, min_cases)
        _, arrays = recorded(name)
        decided = model.rules_.predict(arrays["X_test"], voting="share")
        fidelities.append(100 * model.fidelity(arrays["X_test"]))
        shares.append(100 * np.mean(decided == arrays["dnn_test_labels"]))
        cpus.append(timed(partial(extracted, method, name, min_cases), 3).cpu)
        n_rules.append(len(model.rules_))
    return float(np.mean(fidelities)), float(np.mean(shares)), float(np.mean(cpus)), n_rules


def compare_termwise() -> None:
    slowness = timed(calibration, 5).cpu / CALIBRATION_SECONDS
    print("\nTerm-wise methods: mean fidelity, CPU seconds (loading included), rules; then the paper's")
    columns = ("min_cases", "fidelity %", "share %", "cpu s", "peak")
    print(f"{'method':<10}{'network':<8}" + "".join(f"{column:>12}" for column in columns), end="")
    print("  rules                paper: fidelity %, s, rules")
    tasks = [("xor", XOR, mu) for mu in (25, 30, 33, 35)] + [("magic", ["magic_fold0"], 700)]
    for method in ("REM-D", "DeepRED*"):
        for task, names, min_cases in tasks:
            fidelity, share, cpu, n_rules = measured(method, names, min_cases)
            peak = megabytes(peak_growth("benchmarks.methods", f"{method}/{names[-1]}/{min_cases}"))
            paper = PAPER.get((method, task, min_cases))
            print(
                f"{method:<10}{task:<8}{min_cases:>12}{fidelity:>12.1f}{share:>12.1f}{cpu:>12.3f}{peak:>12}",
                end="",
            )
            print(f"  {', '.join(map(str, n_rules)):<21}{'' if paper is None else paper}", flush=True)
            if (method, min_cases) == ("REM-D", 33):
                faster = REFERENCE_SECONDS * slowness / cpu
                print(
                    f"{'':<10}{faster:.0f} times less than the reference (target 20: {verdict(faster >= 20)})"
                )


def compare_labels_alone() -> None:
    print("\nRules from labels alone and from ECLAIRE: fidelity % (default vote), rules, CPU seconds")
    for name, (pedagogical, eclaire) in LABELS_ALONE.items():
        for method, min_cases in (("Pedagogical", pedagogical), ("ECLAIRE", eclaire)):
            fidelity, _, cpu, n_rules = measured(method, [name], min_cases)
            print(
                f"{name:<15}{method:<13}{min_cases:>4}{fidelity:>8.1f}{n_rules[0]:>7}{cpu:>9.3f}", flush=True
            )


def main() -> None:
    if not BENCH.is_dir():
        print(f"\nMethods: not run, {MISSING}.")
        return
    compare_termwise()
    compare_labels_alone()


if __name__ == "__main__":
    method, name, min_cases = sys.argv[1].split("/")
    extracted(method, "xor_fold0", 60)  # one-time imports do not count towards the peak
    print(growth_during(partial(extracted, method, name, int(min_cases))))
