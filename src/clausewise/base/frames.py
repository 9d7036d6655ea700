"""DataFrames in the library of the user's choice."""

from collections.abc import Mapping
from typing import Any, Literal

import narwhals.stable.v1 as nw

Backend = Literal["pandas", "polars", "pyarrow"]


def frame_of(data: Mapping[str, Any], backend: Backend) -> Any:
    """Return a DataFrame of these columns, or raise an error that says what to install."""
    try:
        frame = nw.from_dict(data, backend=backend)
    except ImportError as error:
        raise ImportError(
            f"to_frame(backend={backend!r}) needs {backend}, which is not installed; install it or name "
            "another backend (pandas, polars, pyarrow)."
        ) from error
    return frame.to_native()
