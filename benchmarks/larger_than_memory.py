"""Rules from 10 M rows in Parquet files, beside gradient boosting on the same rows.

The targets: a peak of 2 GB above imports and network; three times the CPU of labelling and binning the rows
alone; at 1 M rows, a fidelity at most 0.2 points below that of a search on all rows; 10.5 times the CPU for
ten times the rows; on Dask with two workers 1.3 times the CPU of tables in memory, and equal rules. Printed
with whether they hold, not asserted.

Rules for numbers are measured on the same rows, of a network that estimates the score behind the classes.

Every figure is from a process of its own. `python -m benchmarks.larger_than_memory 1000000` takes fewer rows.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._measure import growth_during

N_ROWS, N_FILES, N_TEST, N_COLUMNS = 10_000_000, 50, 200_000, 28
N_MILLION = 1_000_000
MAX_RULES = 16
_CHUNK = 200_000
_SEED = 7


def chunks(n_rows: int, first: int = 0) -> Iterator[NDArray[np.float32]]:
    """Yield rows around the centres of 24 clusters in twelve columns, with noise in sixteen others."""
    shape = np.random.default_rng(_SEED)
    centres = shape.uniform(-2.0, 2.0, (24, 12))
    spreads = shape.uniform(-0.8, 0.8, (24, 12, 12)) + np.eye(12)
    for number in range(-(-n_rows // _CHUNK)):
        rng = np.random.default_rng((_SEED, first + number))
        cluster = rng.integers(24, size=_CHUNK)
        informative = rng.normal(size=(_CHUNK, 12))
        placed = np.empty((_CHUNK, 12))
        for own in range(24):
            chosen = cluster == own
            placed[chosen] = informative[chosen] @ spreads[own] + centres[own]
        noise = np.exp(rng.normal(size=(_CHUNK, N_COLUMNS - 12)) * 0.5)
        yield np.column_stack([placed, noise]).astype(np.float32)[: n_rows - number * _CHUNK]


def trained_network() -> Any:
    """Train a network on 20,000 rows whose class depends on ten columns, and on some of them together."""
    from sklearn.neural_network import MLPClassifier

    rows, score, further = _training_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = MLPClassifier((64, 32), max_iter=20, random_state=0)
        return network.fit(rows, score + further > np.median(score))


def trained_regressor() -> Any:
    """Train a network that estimates the score behind these classes."""
    from sklearn.neural_network import MLPRegressor

    rows, score, further = _training_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = MLPRegressor(hidden_layer_sizes=(64, 32), max_iter=20, random_state=0)
        return network.fit(rows, score + further)


def _training_rows() -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    rows = next(chunks(20_000, first=10**6))
    a, b, c, d, e, f, g, h, i, j = rows[:, 3:13].T
    score = np.tanh(a) + 0.5 * (b > 0) * c - 0.4 * np.abs(d) + 0.3 * e * (f > 0.5) + 0.3 * g - 0.2 * h
    return rows, score, 0.5 * (i > 1) - 0.4 * np.log(j)


def test_rows() -> NDArray[np.float32]:
    return np.concatenate(list(chunks(N_TEST, first=2 * 10**6)))


def names() -> list[str]:
    return [f"x{i}" for i in range(N_COLUMNS)]


# --- Work, each in a process of its own ---


def label_and_bin(folder: str) -> dict[str, Any]:
    """Read, label and reduce all rows to one byte per cell."""
    import clausewise
    from clausewise.partitions import partitioned

    network = clausewise.wrap(trained_network())
    edges = np.quantile(test_rows(), np.linspace(0, 1, 256)[1:-1], axis=0).T

    def work() -> None:
        def count(batch: Any, _number: int | None) -> dict[str, NDArray[Any]]:
            codes = network.codes(batch)
            table = batch.to_numpy()
            cells = np.empty(table.shape, dtype=np.uint8)
            for column, own in enumerate(edges):
                cells[:, column] = np.searchsorted(own.astype(np.float32), table[:, column])
            return {"n": np.bincount(codes, minlength=2) + int(cells[0, 0]) * 0}

        partitioned(folder).reduce(count, lambda one, other: {"n": one["n"] + other["n"]})

    return _measured(work)


def streamed(folder: str) -> dict[str, Any]:
    """Extract rules from files."""
    return _extracted(lambda: folder)


def tables(folder: str) -> dict[str, Any]:
    """Extract rules, by the same way, from tables in memory."""
    import pandas as pd

    import clausewise

    frames = [pd.read_parquet(path) for path in sorted(Path(folder).iterdir())]
    return _extracted(lambda: clausewise.partitioned(frames))


def all_rows(folder: str) -> dict[str, Any]:
    """Extract rules by a search on all rows in memory."""
    import pandas as pd

    table = pd.read_parquet(folder).to_numpy()
    return _extracted(lambda: table)


def all_rules(folder: str) -> dict[str, Any]:
    """Extract all rules of ECLAIRE, from all rows in memory."""
    import pandas as pd

    table = pd.read_parquet(folder).to_numpy()
    return _extracted(lambda: table, max_rules=None, min_cases=0.01)


def numbers(folder: str) -> dict[str, Any]:
    """Learn rules for numbers from files."""
    return _learnt_numbers(lambda: folder)


def numbers_all_rows(folder: str) -> dict[str, Any]:
    """Learn rules for numbers by a search on all rows in memory."""
    import pandas as pd

    table = pd.read_parquet(folder).to_numpy()
    return _learnt_numbers(lambda: table)


def _learnt_numbers(source: Callable[[], Any]) -> dict[str, Any]:
    from sklearn.metrics import r2_score

    from clausewise import RuleRegressor

    network, rows = trained_regressor(), test_rows()
    method = RuleRegressor(network, max_rules=MAX_RULES, n_jobs=1)
    measured = _measured(lambda: method.fit(source()))
    return {
        **measured,
        "R²": round(float(r2_score(network.predict(rows), method.rules_.predict(rows))), 4),
        "n_searched": method.report_.n_rows,
        "stages": {stage.name: round(stage.seconds, 1) for stage in method.report_.stages},
    }


def dask(folder: str) -> dict[str, Any]:
    """Extract rules from files that the two processes of a Dask cluster read."""
    return _extracted_by_dask(folder, persist=False)


def dask_in_memory(folder: str) -> dict[str, Any]:
    """Extract rules from rows that the two processes of a Dask cluster have in memory."""
    return _extracted_by_dask(folder, persist=True)


def _extracted_by_dask(folder: str, *, persist: bool) -> dict[str, Any]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster, wait

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(_warm_up)
        frame = dd.read_parquet(folder, split_row_groups=False)
        if persist:
            frame = frame.persist()
            wait(frame)
        before = sum(client.run(time.process_time).values())
        found = _extracted(lambda: frame)
        of_workers = sum(client.run(time.process_time).values()) - before
    return {**found, "cpu": found["cpu"] + of_workers, "cpu_of_workers": of_workers}


def _warm_up() -> None:
    import clausewise.extractors
    import clausewise.partitions.sample  # noqa: F401


def boosting(folder: str) -> dict[str, Any]:
    """Fit scikit-learn's gradient boosting to the network's labels, in memory."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingClassifier

    network = trained_network()
    found: list[Any] = []

    def work() -> None:
        rows = pd.read_parquet(folder).to_numpy()
        labels = np.concatenate([network.predict(part) for part in np.array_split(rows, 50)])
        found.append(HistGradientBoostingClassifier(random_state=0).fit(rows, labels))

    return {**_measured(work), "fidelity": _agreement(found[0].predict, network)}


def xgboost_external(folder: str) -> dict[str, Any]:
    """Fit xgboost to the network's labels, with its data in external memory."""
    import pandas as pd
    import xgboost

    network = trained_network()
    paths = sorted(Path(folder).iterdir())
    found: list[Any] = []

    class Files(xgboost.DataIter):  # type: ignore[misc]
        def __init__(self, cache: str) -> None:
            self._next = 0
            super().__init__(cache_prefix=cache)

        def next(self, input_data: Callable[..., Any]) -> bool:
            if self._next == len(paths):
                return False
            rows = pd.read_parquet(paths[self._next]).to_numpy()
            input_data(data=rows, label=network.predict(rows).astype(int))
            self._next += 1
            return True

        def reset(self) -> None:
            self._next = 0

    def work() -> None:
        with tempfile.TemporaryDirectory() as cache:
            matrix = xgboost.ExtMemQuantileDMatrix(Files(f"{cache}/cache"), max_bin=256)
            options = {"objective": "binary:logistic", "tree_method": "hist", "max_depth": 6}
            found.append(xgboost.train(options, matrix, num_boost_round=100))

    measured = _measured(work)

    def predict(rows: NDArray[np.float32]) -> NDArray[np.bool_]:
        return np.asarray(found[0].predict(xgboost.DMatrix(rows)) > 0.5)

    return {**measured, "fidelity": _agreement(predict, network)}


WORK = {
    work.__name__: work
    for work in (
        label_and_bin,
        streamed,
        tables,
        all_rows,
        all_rules,
        dask,
        dask_in_memory,
        numbers,
        numbers_all_rows,
        boosting,
        xgboost_external,
    )
}


def _extracted(source: Callable[[], Any], **options: Any) -> dict[str, Any]:
    from clausewise import ECLAIRE

    network = trained_network()
    method = ECLAIRE(network, n_jobs=1, **{"max_rules": MAX_RULES, **options})
    found: list[Any] = []
    measured = _measured(lambda: found.append(method.fit(source())))
    rules, report = found[0].rules_, found[0].report_
    return {
        **measured,
        "fidelity": _agreement(rules.predict, network),
        "n_rules": len(rules),
        "n_searched": report.n_rows,
        "stages": {stage.name: round(stage.seconds, 1) for stage in report.stages},
        "digest": rules.digest,
    }


def _measured(work: Callable[[], object]) -> dict[str, Any]:
    cpu = time.process_time()
    growth = growth_during(work)
    return {"cpu": time.process_time() - cpu, "growth": growth}


def _agreement(predict: Callable[[Any], NDArray[Any]], network: Any) -> float:
    rows = test_rows()
    return float(np.mean(np.asarray(predict(rows)).astype(int) == network.predict(rows).astype(int)))


# --- All of it ---


def _write(folder: Path, n_rows: int, n_files: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    folder.mkdir()
    pending, written = chunks(n_rows), 0
    for number in range(n_files):
        table = pa.table(list(next(pending).T), names=names())
        pa.parquet.write_table(table, folder / f"part-{number:03}.parquet", row_group_size=65_536)
        written += table.num_rows
    assert written == n_rows


def _run(work: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.larger_than_memory", work, str(folder)]
    root = Path(__file__).parents[1]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root, env=environment)
    found: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    kept = {name: value for name, value in found.items() if name not in ("cpu", "growth")}
    print(
        f"  {work:<17} {found['cpu']:7.1f} CPU s {found['growth'] / 2**20:7.0f} MB  {kept or ''}", flush=True
    )
    return found


def _compare(what: str, value: float, at_most: float = np.inf, at_least: float = -np.inf) -> None:
    """Print a figure, its target, and whether it holds."""
    target = f"at least {at_least:g}" if at_most == np.inf else f"at most {at_most:g}"
    verdict = "holds" if at_least <= value <= at_most else "missed"
    print(f"  {what}: {value:.2f} (target: {target}; {verdict})", flush=True)


def main(n_rows: int = N_ROWS) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        million, many = Path(temporary) / "million", Path(temporary) / "many"
        _write(million, N_MILLION, N_MILLION // _CHUNK)
        print(f"\n{N_MILLION:,} rows × {N_COLUMNS} columns, max_rules={MAX_RULES}")
        small = _run("streamed", million)
        in_parts, cluster, reading_cluster, searched = (
            _run(work, million) for work in ("tables", "dask_in_memory", "dask", "all_rows")
        )
        points = 100 * (small["fidelity"] - searched["fidelity"])
        _compare("fidelity beside a search on all rows, in points", points, at_least=-0.2)
        digests = {run["digest"] for run in (small, in_parts, cluster, reading_cluster)}
        print(f"  equal rules: {len(digests) == 1}")
        _compare("Dask ÷ one process, in memory", cluster["cpu"] / in_parts["cpu"], at_most=1.3)
        print(f"  Dask ÷ one process, from files: {reading_cluster['cpu'] / small['cpu']:.2f}")
        everything = _run("all_rules", million)
        _compare("all rules of ECLAIRE, in memory, in GB", everything["growth"] / 1e9, at_most=1.6)
        small_numbers, searched_numbers = (_run(work, million) for work in ("numbers", "numbers_all_rows"))
        lost = small_numbers["R²"] - searched_numbers["R²"]
        _compare("R² of numbers beside a search on all rows", lost, at_least=-0.01)
        _write(many, n_rows, n_rows // _CHUNK)
        print(f"{n_rows:,} rows × {N_COLUMNS} columns")
        alone, large, large_numbers = (_run(work, many) for work in ("label_and_bin", "streamed", "numbers"))
        times = n_rows / N_MILLION
        for name, few, found in (("", small, large), ("numbers: ", small_numbers, large_numbers)):
            _compare(f"{name}CPU ÷ labelling and binning alone", found["cpu"] / alone["cpu"], at_most=3)
            growth = found["cpu"] / few["cpu"]
            _compare(f"{name}growth of CPU with {times:.0f} × the rows", growth, at_most=1.05 * times)
            peak = found["growth"] / 2**30
            _compare(f"{name}peak above imports and network, in GB", peak, at_most=2)
        for peer in ("boosting", "xgboost_external"):
            _run(peer, many)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(WORK[sys.argv[1]](sys.argv[2])))
    else:
        main(*(int(number) for number in sys.argv[1:]))
