"""Rows of Ray Datasets, on a local Ray."""

import logging
import os
import signal
import threading
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import clausewise
from clausewise.partitions import PartitionError, partitioned
from tests.doc_blocks import blocks, first_block
from tests.partitions.engine_cases import (
    LabelsByAmount,
    add_sums,
    assert_same_part,
    check_same_numbers,
    check_same_rules,
    expected_sample,
    expected_sums,
    fails_on_bern,
    mixed_rows,
    sample_of,
    shuffled,
    sums,
)

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("ray.data", reason="Ray's Datasets are not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

ROWS = mixed_rows()


@pytest.fixture(scope="module", autouse=True)
def local_ray():
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def dataset_of(rows, n_blocks):
    cuts = np.linspace(0, len(rows), n_blocks + 1).astype(int)
    return ray.data.from_pandas([rows[a:b] for a, b in pairwise(cuts)])


@pytest.mark.fuzz  # Slow; the same is tested on Dask.
def test_parts_do_not_depend_on_blocks_and_order():
    rows = partitioned(dataset_of(shuffled(ROWS), 6))
    assert_same_part(rows.reduce(sums, add_sums), expected_sums(ROWS))
    assert sample_of(rows) == expected_sample(ROWS)


@pytest.mark.fuzz  # Minutes where other tests run beside it, since Ray starts many processes.
@pytest.mark.usefixtures("few_in_memory")
def test_rules_are_those_of_tables_in_memory(rows, model, tmp_path):
    dataset = dataset_of(shuffled(rows), 3)
    rules = check_same_rules(dataset, rows, model)
    lazy = rules.predict(dataset)
    assert isinstance(lazy, ray.data.Dataset)
    lazy.write_parquet(tmp_path)
    written = pd.read_parquet(tmp_path)
    assert written["prediction"].tolist() == rules.predict(written).tolist()
    assert len(written) == len(rows)


@pytest.mark.fuzz  # Slow; the same is tested on Dask.
@pytest.mark.usefixtures("few_in_memory")
def test_rules_for_numbers_are_those_of_tables_in_memory(rows, number_model):
    check_same_numbers(dataset_of(shuffled(rows), 3), rows, number_model)


@pytest.mark.fuzz  # Slow; the same is tested on Dask.
@pytest.mark.usefixtures("few_in_memory")
def test_a_worker_killed_during_extraction_does_not_change_the_rules(rows, model, tmp_path):
    def slowed(batch):
        (tmp_path / str(os.getpid())).touch()
        time.sleep(0.1)
        return batch

    killed = []

    def kill_the_first():
        deadline = time.monotonic() + 60
        while not killed and time.monotonic() < deadline:
            killed.extend(int(path.name) for path in tmp_path.iterdir())
            time.sleep(0.01)
        os.kill(killed[0], signal.SIGKILL)

    dataset = dataset_of(rows, 4).map_batches(slowed, batch_format="pandas", batch_size=None)
    killer = threading.Thread(target=kill_the_first)
    killer.start()
    found = clausewise.extract(model, dataset, max_rules=3)
    killer.join()
    assert found == clausewise.extract(model, partitioned([rows]), max_rules=3)
    with pytest.raises(ProcessLookupError):
        os.kill(killed[0], 0)


def test_empty_blocks_count_nothing():
    rows = partitioned(ray.data.from_pandas([ROWS[:0], ROWS[:700], ROWS[:0], ROWS[700:]]))
    assert rows.n_rows == len(ROWS)
    assert_same_part(rows.reduce(sums, add_sums), expected_sums(ROWS))
    assert rows.head(2)["amount"].tolist() == ROWS["amount"][:2].tolist()
    labels = [row["label"] for row in rows.with_columns(LabelsByAmount(0.3)).take_all()]
    assert labels.count("high") == (ROWS["amount"] > 0.3).sum()


def test_selected_columns_are_gathered_in_order():
    rows = partitioned(dataset_of(ROWS, 5)).select(["visits", "amount"])
    assert rows.names == ("visits", "amount")
    assert rows.gathered()["amount"].tolist() == ROWS["amount"].tolist()


def test_further_columns_are_computed_when_they_are_asked_for(tmp_path):
    asked = tmp_path / "asked"

    def compute(batch):
        if len(batch) > 1:
            asked.touch()
        return LabelsByAmount(0.3)(batch)

    lazy = partitioned(dataset_of(ROWS[:300], 3)).with_columns(compute)
    assert isinstance(lazy, ray.data.Dataset)
    assert not asked.exists()
    assert {row["score"] for row in lazy.take_all()} == {0.0, 2.5}
    assert asked.exists()


def test_a_block_that_cannot_be_read_is_named():
    def read(batch):
        if batch["id"].iloc[0] == 2:
            raise OSError("the file ends too early")
        return ROWS[:10]

    numbers = ray.data.range(5, override_num_blocks=5)
    message = "^Partition 2 of the Ray Dataset cannot be read: OSError: the file ends too early$"
    dataset = numbers.map_batches(read, batch_format="pandas", batch_size=None)
    with pytest.raises(PartitionError, match=message):
        partitioned(dataset).reduce(sums, add_sums)
    assert dataset.context.max_errored_blocks == 0  # the user's own settings stay
    assert not dataset.context.execution_options.preserve_order


@pytest.mark.fuzz  # Slow, since Ray tries again; the same is tested on Dask and Spark.
def test_a_failed_computation_names_the_block():
    others, bern = ROWS[ROWS["city"] != "Bern"][:30], ROWS[ROWS["city"] == "Bern"][:10]
    rows = partitioned(ray.data.from_pandas([others, bern]))
    message = "^A computation on partition 1 of the Ray Dataset failed: ZeroDivisionError: Bern has no"
    with pytest.raises(PartitionError, match=message):
        rows.reduce(fails_on_bern, add_sums)


@pytest.mark.fuzz  # Slow; that of Dask is run in every test.
def test_the_example_of_the_documentation_runs():
    namespace = {}
    exec(first_block("docs/large-tables.md", "python").replace("40_000", "1_000"), namespace)
    example = next(block.text for block in blocks("docs/large-tables.md") if "import ray" in block.text)
    exec(example, namespace)
    written = pd.read_parquet(namespace["folder"].parent / "decided by Ray")
    assert written["prediction"].tolist() == namespace["rules"].predict(written).tolist()
