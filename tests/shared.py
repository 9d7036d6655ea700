"""Where data lies that is beside the project, not in it: ../shared, or $CLAUSEWISE_SHARED."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("CLAUSEWISE_SHARED", ROOT.parent / "shared"))
