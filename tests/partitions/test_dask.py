"""Rows of Dask DataFrames, on a cluster of two processes and in threads."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.datasets import make_classification
from sklearn.neural_network import MLPClassifier

import clausewise
from clausewise.induction import protocol
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
    slow_sums,
    sums,
)

dask = pytest.importorskip("dask", reason="Dask is not installed")
dd = pytest.importorskip("dask.dataframe", reason="Dask's DataFrames are not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

ROWS = mixed_rows()


@pytest.fixture(scope="module")
def cluster():
    with (
        # Time enough for processes to start on a busy machine.
        dask.config.set({"distributed.comm.timeouts.connect": "120s"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as started,
        distributed.Client(started, set_as_default=False),
    ):
        yield started


@pytest.fixture(params=["cluster", "threads"])
def scheduler(request):
    """Compute on the cluster, or in threads of this process."""
    if request.param == "threads":
        yield None
        return
    with distributed.Client(request.getfixturevalue("cluster")) as client:
        yield client


def frame_of(rows, n_partitions):
    return dd.from_pandas(rows, npartitions=n_partitions, sort=False)


def with_empty_partitions(rows):
    """Return a frame whose first, third and last partitions are empty."""
    parts = [rows[:0], rows[:700], rows[:0], rows[700:], rows[:0]]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=rows[:0], verify_meta=False)


def read_or_fail(number):
    """Read a partition, of which number 2 is broken."""
    if number == 2:
        raise OSError("the file ends too early")
    return ROWS[number * 100 : number * 100 + 100]


def unreadable():
    return dd.from_map(read_or_fail, range(4), meta=ROWS[:0])


@pytest.mark.parametrize("n_partitions", [1, 20])
def test_sums_do_not_depend_on_partitions_and_order(scheduler, n_partitions):
    rows = partitioned(frame_of(shuffled(ROWS), n_partitions))
    assert_same_part(rows.reduce(sums, add_sums), expected_sums(ROWS))


def test_the_sample_is_that_of_the_table_in_memory(scheduler):
    assert sample_of(partitioned(frame_of(shuffled(ROWS), 7))) == expected_sample(ROWS)


@pytest.mark.usefixtures("few_in_memory")
def test_rules_are_those_of_tables_in_memory(cluster, rows, model, tmp_path):
    with distributed.Client(cluster):
        frame = frame_of(shuffled(rows), 5)
        rules = check_same_rules(frame, rows, model)
        lazy = rules.predict(frame)
        assert isinstance(lazy, dd.DataFrame)
        lazy.to_parquet(tmp_path)
    written = pd.read_parquet(tmp_path)
    assert written["prediction"].tolist() == rules.predict(written).tolist()
    assert len(written) == len(rows)


@pytest.mark.usefixtures("few_in_memory")
def test_rules_for_numbers_are_those_of_tables_in_memory(cluster, rows, number_model):
    with distributed.Client(cluster):
        check_same_numbers(frame_of(shuffled(rows), 5), rows, number_model)


@pytest.mark.usefixtures("few_in_memory")
def test_a_worker_killed_during_extraction_does_not_change_the_rules(cluster, rows, model, tmp_path):
    started = tmp_path / "started"
    frame = frame_of(rows, 8).map_partitions(_slowed, str(started), meta=rows[:0])
    with distributed.Client(cluster) as client:
        victim = sorted(client.run(os.getpid).values())[0]
        killer = threading.Thread(target=_kill_once_busy, args=(started, victim))
        killer.start()
        found = clausewise.extract(model, frame, max_rules=3)
        killer.join()
        client.wait_for_workers(2)
        assert victim not in client.run(os.getpid).values()
    assert found == clausewise.extract(model, partitioned([rows]), max_rules=3)


def _slowed(part, started):
    """Return a partition after some time, and note which process has begun to read one."""
    open(f"{started}-{os.getpid()}", "w").close()
    time.sleep(0.2)
    return part


def _kill_once_busy(started, victim):
    deadline = time.monotonic() + 60
    while not os.path.exists(f"{started}-{victim}") and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(victim, signal.SIGKILL)


def test_empty_partitions_count_nothing(scheduler):
    rows = partitioned(with_empty_partitions(ROWS))
    assert rows.n_rows == len(ROWS)
    assert_same_part(rows.reduce(sums, add_sums), expected_sums(ROWS))
    assert rows.head(3)["amount"].tolist() == ROWS["amount"][:3].tolist()
    labelled = rows.with_columns(LabelsByAmount(0.3)).compute()
    assert labelled["score"].sum() == 2.5 * (ROWS["amount"] > 0.3).sum()


def test_the_first_rows_may_come_from_several_partitions(scheduler):
    rows = partitioned(frame_of(ROWS[:10], 5))
    pd.testing.assert_frame_equal(rows.head(7), ROWS[:7], check_dtype=False)
    assert len(rows.head(99)) == 10


def test_selected_columns_are_gathered_in_order(scheduler):
    rows = partitioned(frame_of(ROWS, 6)).select(["visits", "size"])
    assert rows.names == ("visits", "size")
    pd.testing.assert_frame_equal(rows.gathered(), ROWS[["visits", "size"]])


def test_further_columns_are_computed_when_they_are_asked_for(scheduler, tmp_path):
    def read(number):
        (tmp_path / f"{number}").touch()
        return ROWS[number * 100 : number * 100 + 100]

    frame = dd.from_map(read, range(3), meta=ROWS[:0])
    lazy = partitioned(frame).with_columns(LabelsByAmount(0.3))
    assert isinstance(lazy, dd.DataFrame)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0"]  # the first row, for the data types
    found = lazy.compute()
    assert found["label"].tolist() == np.where(ROWS["amount"][:300] > 0.3, "high", "low").tolist()
    assert lazy.dtypes["score"] == found["score"].dtype == np.float64


def test_a_partition_that_cannot_be_read_is_named(scheduler):
    rows = partitioned(unreadable())
    message = "^Partition 2 of the Dask DataFrame cannot be read: OSError: the file ends too early$"
    for call in (lambda: rows.n_rows, rows.gathered, lambda: rows.reduce(sums, add_sums)):
        with pytest.raises(PartitionError, match=message):
            call()
    assert len(rows.head(150)) == 150
    with pytest.raises(PartitionError, match=message):
        rows.head(250)


def test_a_failed_computation_names_the_partition(scheduler):
    batch = ROWS[ROWS["city"] != "Bern"][:30]
    bern = ROWS[ROWS["city"] == "Bern"][:10]
    rows = partitioned(dd.concat([frame_of(batch, 3), frame_of(bern, 1)]))
    message = "^A computation on partition 3 of the Dask DataFrame failed: ZeroDivisionError: Bern has no"
    with pytest.raises(PartitionError, match=message):
        rows.reduce(fails_on_bern, add_sums)


def test_rows_without_any_partition_with_rows_are_an_error(scheduler):
    with pytest.raises(ValueError, match="no rows"):
        partitioned(frame_of(ROWS[:0], 1)).reduce(sums, add_sums)


def test_nothing_is_left_running_after_an_error(cluster):
    with distributed.Client(cluster) as client:
        with pytest.raises(PartitionError):
            partitioned(unreadable()).reduce(slow_sums, add_sums)
        deadline = time.monotonic() + 30
        while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
            assert time.monotonic() < deadline, "tasks are left on the scheduler"
            time.sleep(0.1)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_clauses_are_fitted_on_the_workers_of_joblib(cluster, monkeypatch, is_weighted):
    X, y = make_classification(600, 6, random_state=0)
    network = MLPClassifier((8, 8), solver="lbfgs", max_iter=2_000, random_state=0).fit(X, y)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(X)) if is_weighted else None
    method = clausewise.ECLAIRE(network, max_rules=None, min_cases=5)
    expected = method.fit(X, sample_weight=weights).rules_
    n_fitted_here = []
    monkeypatch.setattr(protocol, "_premises", lambda *arguments: n_fitted_here.append(1))
    with distributed.Client(cluster), parallel_config(backend="dask"):
        found = method.fit(X, sample_weight=weights).rules_
    assert found == expected
    assert len(found) > 5
    assert n_fitted_here == []


def test_the_example_of_the_documentation_runs(cluster):
    namespace = {}
    exec(first_block("docs/large-tables.md", "python").replace("40_000", "1_000"), namespace)
    example = next(block.text for block in blocks("docs/large-tables.md") if "Client(" in block.text)
    exec(example.replace("n_workers=2, threads_per_worker=1", "cluster"), {**namespace, "cluster": cluster})
    written = pd.read_parquet(namespace["folder"].parent / "decided by Dask")
    assert written["prediction"].tolist() == namespace["rules"].predict(written).tolist()
