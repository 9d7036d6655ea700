"""`python -m tests.fuzz`: run many inputs of every engine through every target, and print a table."""

import argparse
import sys

from tests.fuzz import driver

# Number of inputs by target and engine.
N_INPUTS = {
    "RULE_FILE": {"mutation": 50_000, "hypothesis": 10_000, "atheris": 30_000, "large": 60},
    "RULE_TEXT": {"mutation": 45_000, "hypothesis": 10_000, "atheris": 30_000, "large": 120},
    "RULE_TO_ADD": {"mutation": 25_000, "hypothesis": 5_000, "atheris": 10_000},
    "CSV": {"mutation": 20_000, "hypothesis": 5_000, "atheris": 5_000},
    "CSV_GZ": {"mutation": 4_000, "hypothesis": 1_000, "large": 150},
    "PARQUET": {"mutation": 8_000, "hypothesis": 1_000, "large": 600},
    "ARROW": {"mutation": 8_000, "hypothesis": 1_000, "large": 600},
    "ARROW_STREAM": {"mutation": 4_000, "hypothesis": 500, "large": 100},
    "NPZ": {"mutation": 8_000, "hypothesis": 1_000, "large": 200},
    "REQUEST": {"mutation": 8_000, "hypothesis": 2_000},
    "ONNX": {"mutation": 10_000, "hypothesis": 2_000, "atheris": 3_000},
}


def main():
    """Fuzz, print a table, and return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join(N_INPUTS)}; all by default")
    parser.add_argument("--engine", choices=("mutation", "hypothesis", "atheris", "large"), action="append")
    parser.add_argument("--share", type=float, default=1.0, help="fraction of the usual number of inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", default="out/fuzz", help="folder for inputs that failed")
    options = parser.parse_args()
    if not driver.has_atheris():
        print("atheris is not installed (pip install 'clausewise[fuzz]'); the mutator replaces it.")
    print(driver.HEADER, flush=True)
    results = [
        _run(name, engine, max(1, int(n_inputs * options.share)), options)
        for name in options.targets or N_INPUTS
        for engine, n_inputs in _engines(N_INPUTS[name.upper()]).items()
        if not options.engine or engine in options.engine
    ]
    total = sum(result.score.inputs for result in results)
    for name in dict.fromkeys(result.target for result in results):
        print(f"{name:<12} {sum(r.score.inputs for r in results if r.target == name):>9,} inputs")
    found = {name: text for result in results for name, text in result.findings.items()}
    print(f"{total:,} inputs, {len(found)} findings")
    for name, text in found.items():
        print(f"\n{options.keep}/{name}\n{text[-2000:]}")
    return 1 if found else 0


def _engines(n_inputs):
    """Return the number of inputs by engine; without atheris, the mutator takes over its inputs."""
    if driver.has_atheris():
        return n_inputs
    others = {engine: n for engine, n in n_inputs.items() if engine != "atheris"}
    return others | {"mutation": others["mutation"] + n_inputs.get("atheris", 0)}


def _run(name, engine, n_inputs, options):
    path = f"tests.fuzz.targets:{name.upper()}"
    result = driver.fuzz(path, engine, n_inputs, options.seed, keep=options.keep)
    print(result.row, flush=True)
    return result


if __name__ == "__main__":
    sys.exit(main())
