"""`python -m clausewise_experiments` is `clausewise-experiments`."""

import sys

from clausewise_experiments.cli import main

if __name__ == "__main__":
    sys.exit(main())
