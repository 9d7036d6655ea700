"""`python -m tests.fuzz`: many inputs for every target by every engine, and a table of what came of them."""

import argparse
import sys

from tests.fuzz import driver

# Inputs per target and engine, 1 = all of them with the usual number.
PLAN = {
    "RULE_FILE": {"mutation": 50_000, "hypothesis": 10_000, "atheris": 30_000},
    "RULE_TEXT": {"mutation": 45_000, "hypothesis": 10_000, "atheris": 30_000},
    "RULE_TO_ADD": {"mutation": 20_000, "hypothesis": 5_000, "atheris": 10_000},
    "CSV": {"mutation": 20_000, "hypothesis": 5_000, "atheris": 5_000},
    "PARQUET": {"mutation": 4_000, "hypothesis": 1_000},
    "ARROW": {"mutation": 4_000, "hypothesis": 1_000},
    "NPZ": {"mutation": 4_000, "hypothesis": 1_000},
    "REQUEST": {"mutation": 8_000, "hypothesis": 2_000},
    "ONNX": {"mutation": 10_000, "hypothesis": 2_000, "atheris": 3_000},
}


def main():
    """Fuzz, print a table, and fail if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"some of {', '.join(PLAN)}; all unless given")
    parser.add_argument("--engine", choices=("mutation", "hypothesis", "atheris"), action="append")
    parser.add_argument("--share", type=float, default=1.0, help="part of the usual number of inputs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", default="out/fuzz", help="folder for inputs that went wrong")
    options = parser.parse_args()
    if not driver.has_atheris():
        print(
            "atheris is not installed (pip install 'clausewise[fuzz]'); its inputs come from the own mutator."
        )
    print(driver.HEADER, flush=True)
    results = [
        _run(name, engine, max(1, int(n_inputs * options.share)), options)
        for name in options.targets or PLAN
        for engine, n_inputs in _engines(PLAN[name.upper()]).items()
        if not options.engine or engine in options.engine
    ]
    total = sum(result.score.inputs for result in results)
    found = {name: text for result in results for name, text in result.findings.items()}
    print(f"{total:,} inputs, {len(found)} findings")
    for name, text in found.items():
        print(f"\n{options.keep}/{name}\n{text[-2000:]}")
    return 1 if found else 0


def _engines(plan):
    """The plan, with atheris's part done by the own mutator where it is not installed."""
    if driver.has_atheris():
        return plan
    others = {engine: n_inputs for engine, n_inputs in plan.items() if engine != "atheris"}
    return others | {"mutation": others["mutation"] + plan.get("atheris", 0)}


def _run(name, engine, n_inputs, options):
    path = f"tests.fuzz.targets:{name.upper()}"
    result = driver.fuzz(path, engine, n_inputs, options.seed, keep=options.keep)
    print(result.row, flush=True)
    return result


if __name__ == "__main__":
    sys.exit(main())
