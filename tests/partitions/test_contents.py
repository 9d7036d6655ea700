"""Hashes of rows, which must not depend on the batch that a row is in."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from clausewise.partitions.contents import content_hashes
from clausewise.partitions.protocol import frame_of_arrow


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["x", None, "y"], dtype=object),
        pd.Series([1.5, None, 2.0]),
        pd.Series([True, None, False], dtype=object),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series(pd.Categorical(["x", None, "y"])),
        pd.Series(pd.Categorical([3, None, 7])),
    ],
    ids=str,
)
def test_hashes_of_rows_do_not_depend_on_other_rows(values):
    rows = pd.DataFrame({"a": values, "b": [1, 1, 1]})
    of_all = content_hashes(rows)
    alone = [content_hashes(rows[i : i + 1]) for i in range(3)]
    arrow = pa.Table.from_pandas(rows)
    from_arrow = [content_hashes(frame_of_arrow(arrow.slice(i, 1))) for i in range(3)]
    assert of_all.tolist() == np.concatenate(alone).tolist() == np.concatenate(from_arrow).tolist()
    assert len(set(of_all.tolist())) == 3


def test_a_missing_value_has_one_hash_whatever_the_type():
    kinds = [pd.Series([None], dtype=kind) for kind in (object, float, "boolean", "category", "Int64", "str")]
    assert len({content_hashes(pd.DataFrame({"a": kind})).item() for kind in kinds}) == 1
