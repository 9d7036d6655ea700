"""Rules about recurrent networks: over raw time steps, and over statistics of intervals.

For each data set of series and each seed, 60 % of the series train a small LSTM, whose outputs are pooled
over time. ECLAIRE extracts rules from it over every channel at every step, and over `IntervalFeatures`, which
the network does not read: statistics of the whole series, and also of its quarters. Fidelity is measured on
the other series. Needs the series beside the recorded networks (`benchmarks/_recorded.py`) and PyTorch.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks._recorded import SHARED
from clausewise import ECLAIRE, Network, wrap
from clausewise.features import IntervalFeatures

DATA = SHARED / "data"
# The number of rules: at least two per class.
BUDGETS = {"BasicMotions": 8, "ItalyPowerDemand": 8, "JapaneseVowels_eq": 18}
# The columns that rules test, by number of intervals; None for the raw steps.
COLUMNS: dict[str, Sequence[int] | None] = {"steps": None, "whole series": (1,), "and quarters": (1, 4)}
# Not those (0 to 9) with which the training and the columns were chosen.
SEEDS = range(100, 110)
N_UNITS, N_EPOCHS, BATCH_SIZE, LEARNING_RATE = 32, 60, 16, 0.01


@dataclass(frozen=True)
class Series:
    """Series of shape (n_rows, n_steps, n_channels), with their classes and the names of their channels."""

    values: np.ndarray
    labels: np.ndarray
    channels: list[str]


@dataclass(frozen=True)
class Result:
    """Fidelity on held-out series in %, and what there is to read."""

    fidelity: float
    reading_cost: int


def load(name: str) -> Series:
    with np.load(DATA / f"ts_{name}.npz", allow_pickle=False) as file:
        values = np.ascontiguousarray(np.moveaxis(file["X"], 1, 2), dtype=np.float32)
        return Series(values, file["y"].astype(np.int64), file["feature_names"].tolist())


def trained(series: np.ndarray, labels: np.ndarray, seed: int) -> Any:
    """Return a trained LSTM, as a module."""
    import torch
    from torch import nn

    class Recurrent(nn.Module):
        def __init__(self, n_channels: int, n_classes: int) -> None:
            super().__init__()
            self.norm = nn.BatchNorm1d(n_channels)
            self.lstm = nn.LSTM(n_channels, N_UNITS, batch_first=True)
            self.out = nn.Linear(N_UNITS, n_classes)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.norm(x.transpose(1, 2)).transpose(1, 2)
            return self.out(self.lstm(x)[0].amax(dim=1))

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    module = Recurrent(series.shape[2], int(labels.max()) + 1)
    optimizer = torch.optim.AdamW(module.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, N_EPOCHS)
    rows, targets = torch.tensor(series), torch.tensor(labels)
    for _ in range(N_EPOCHS):
        for part in torch.randperm(len(rows)).split(BATCH_SIZE):
            optimizer.zero_grad()
            nn.functional.cross_entropy(module(rows[part]), targets[part]).backward()
            nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimizer.step()
        schedule.step()
    return module.eval()


def network_over(columns: Sequence[int] | None, module: Any, data: Series) -> Network:
    """Return the network with the columns that rules should test."""
    if columns is None:
        shape = data.values.shape[1:]
        return wrap(module, preprocess=lambda table: np.asarray(table).reshape(-1, *shape), reduce="mean")
    intervals = IntervalFeatures(columns, channel_names=data.channels).fit(data.values)
    return wrap(module, features=intervals, reduce="mean")


def measured(
    columns: Sequence[int] | None, module: Any, data: Series, split: Sequence[np.ndarray], n_rules: int
) -> Result:
    network = network_over(columns, module, data)
    rows = data.values.reshape(len(data.values), -1) if columns is None else data.values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rules may leave out a class
        found = ECLAIRE(network, max_rules=n_rules, n_jobs=1).fit(rows[split[0]])
    return Result(100 * found.fidelity(rows[split[1]]), found.rules_.reading_cost)


def main() -> None:
    if not DATA.is_dir():
        print(f"\nSequences: not run, the series are not in {DATA}; see benchmarks/_recorded.py.")
        return
    print(f"\nSequences: fidelity in % to an LSTM with {N_UNITS} units, mean of {len(SEEDS)} splits\n")
    print(f"{'data':<20}{'network':>8}{'rules':>7}" + "".join(f"{way:>16}{'to read':>9}" for way in COLUMNS))
    for name, n_rules in BUDGETS.items():
        data = load(name)
        accuracies: list[float] = []
        results: dict[str, list[Result]] = {way: [] for way in COLUMNS}
        for seed in SEEDS:
            rows = np.arange(len(data.labels))
            split = train_test_split(rows, test_size=0.4, stratify=data.labels, random_state=seed)
            module = trained(data.values[split[0]], data.labels[split[0]], seed)
            right = wrap(module).codes(data.values[split[1]]) == data.labels[split[1]]
            accuracies.append(100 * float(right.mean()))
            for way, columns in COLUMNS.items():
                results[way].append(measured(columns, module, data, split, n_rules))
        line = f"{name:<20}{np.mean(accuracies):>8.1f}{n_rules:>7}"
        for found in results.values():
            fidelity = np.mean([result.fidelity for result in found])
            line += f"{fidelity:>16.1f}{np.mean([result.reading_cost for result in found]):>9.1f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
