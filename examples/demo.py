"""Extract rules from a small network: `python examples/demo.py OUTDIR`, or `make demo`.

The demo itself is in `src/clausewise/cli/demo.py`, because `clausewise demo` runs it without the repository.
"""

import sys
from pathlib import Path

from clausewise.cli.demo import run_demo

if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/demo.py OUTDIR")
    try:
        run_demo(Path(sys.argv[1]))
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None
