"""The paper's architecture search: all networks of a given depth whose layers become narrower."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from clausewise_experiments.cells import PreparedTask, RunFolder
from clausewise_experiments.data import read_file
from clausewise_experiments.folds import fold_of
from clausewise_experiments.jobs import network_job
from clausewise_experiments.networks import TrainedNetwork, network_key
from clausewise_experiments.progress_bar import ProgressBar
from clausewise_experiments.scheduler import Job, run_jobs
from clausewise_experiments.settings import ACTIVATIONS, BATCH_SIZES, EPOCHS, WIDTHS, NetworkSettings
from clausewise_experiments.tables import Table


@dataclass(frozen=True)
class Candidate:
    """A network of the search, with its accuracy on the test rows of each fold."""

    network: NetworkSettings
    accuracy: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean accuracy over the folds."""
        return float(np.mean(self.accuracy))


def candidates(prepared: PreparedTask) -> Iterator[NetworkSettings]:
    """Yield all networks of the search; the task file sets their depth."""
    task = prepared.settings
    n_hidden = task.architectures.get("n_hidden", len(task.network.hidden))
    widths = [tuple(sorted(chosen, reverse=True)) for chosen in combinations(WIDTHS, n_hidden)]
    epochs: Sequence[int] = task.architectures.get("epochs", EPOCHS)
    batch_sizes: Sequence[int] = task.architectures.get("batch_sizes", BATCH_SIZES)
    for hidden, activation, n_epochs, batch_size in product(widths, ACTIVATIONS, epochs, batch_sizes):
        yield replace(
            task.network,
            hidden=hidden,
            activation=activation,
            epochs=n_epochs,
            batch_size=batch_size,
            use_published=False,
        )


def search(
    prepared: PreparedTask,
    run_folder: RunFolder,
    n_workers: int,
    progress: ProgressBar,
    max_candidates: int | None = None,
) -> list[Candidate]:
    """Train all candidates, or the first `max_candidates`, on every fold of the run; return the best first.

    As in the paper, the best candidate has the highest accuracy on the test rows. Networks are saved, so an
    interrupted search can be resumed.
    """
    chosen = list(candidates(prepared))[:max_candidates]
    variants = [
        PreparedTask(replace(prepared.settings, network=network), prepared.data_digest) for network in chosen
    ]
    folds = range(prepared.settings.n_folds_run)
    jobs: list[Job] = [network_job(variant, run_folder, fold) for variant in variants for fold in folds]
    failed = run_jobs(jobs, n_workers, progress)
    if failed:
        raise RuntimeError(f"{len(failed)} networks could not be trained; see above.")
    found = [Candidate(variant.settings.network, _accuracy(variant, run_folder)) for variant in variants]
    return sorted(found, key=lambda candidate: -candidate.mean)


def as_table(found: Sequence[Candidate], title: str) -> Table:
    """Return the search as a table."""
    rows = []
    for one in found:
        network = one.network
        layers = ", ".join(map(str, network.hidden))
        accuracy = f"{100 * one.mean:.2f} ± {100 * float(np.std(one.accuracy)):.2f}"
        rows.append((layers, network.activation, str(network.epochs), str(network.batch_size), accuracy))
    head = ("hidden layers", "activation", "epochs", "batch size", "accuracy %")
    notes = (
        "Accuracy on the test rows, as in the paper's own search: slightly optimistic for the best ones.",
    )
    return Table(f"Architectures for {title}", head, tuple(rows), notes)


def _accuracy(prepared: PreparedTask, run_folder: RunFolder) -> tuple[float, ...]:
    task = prepared.settings
    data = read_file(run_folder.data(prepared.data_digest))
    found = []
    for number in range(task.n_folds_run):
        test = fold_of(data, task.folds, number).test
        trained = TrainedNetwork.load(run_folder.network(network_key(prepared.data_digest, task, number)))
        network = trained.wrapped(task.network.activation, data.feature_names)
        found.append(float(np.mean(network.labels(data.X[test]) == data.y[test])))
    return tuple(found)
