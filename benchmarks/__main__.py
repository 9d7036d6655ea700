"""Run all benchmarks, or the named ones: `python -m benchmarks evaluation`."""

import importlib
import pkgutil
import sys

import benchmarks


def main() -> None:
    found = sorted(
        module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")
    )
    chosen = sys.argv[1:] or found
    unknown = [name for name in chosen if name not in found]
    if unknown:
        sys.exit(f"There is no benchmark {unknown[0]!r}; choose from {', '.join(found)}.")
    for name in chosen:
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
