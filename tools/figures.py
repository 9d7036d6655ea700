"""Draw the figures of the README and of docs/, light and dark: `make figures`.

docs/pictures/fidelity-*.svg shows the tables that are recorded in docs/results/reading-cost.md; nothing is
measured here. docs/pictures/eclaire-*.png shows ECLAIRE at work on the network of `clausewise demo`, and
docs/pictures/search-*.png what the search finds for a network of two columns, with budgets of 1 to 8 rules.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle
from PIL import Image
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from clausewise import ECLAIRE, Rule, extract, wrap
from clausewise.cli import demo

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
RESULTS = ROOT / "docs" / "results" / "reading-cost.md"
BUDGETS = (8, 16, 32, 64, 128)  # for two classes; the columns of tables with more are in proportion
METHODS = {"ours": "clausewise", "CART": "CART tree", "C5.0": "C5.0 rules", "RUG": "RUG", "FIGS": "FIGS"}
INVENTED = "XOR"  # a table made so that greedy learners fail; it would flatter the mean
THEMES = {"light": "#1f2328", "dark": "#e6edf3"}
OURS, PEERS = "#4f6bed", ("#e07a1f", "#2a9d8f", "#c2497a", "#8d6bbf")
N_COLOURS = 48
ONE, ZERO = "#e07a1f", "#4f6bed"
N_RULES_DRAWN = (1, 2, 4, 8)


def recorded_fidelities() -> dict[str, dict[str, list[float]]]:
    """Return, per table and method, the mean fidelity at each budget; NaN where a method has none."""
    found: dict[str, dict[str, list[float]]] = {}
    for section in re.split(r"^## ", RESULTS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        rows = [
            [cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if "|" in line
        ]
        found[section.splitlines()[0]] = {
            row[0]: [_mean(cell) for cell in row[1 : 1 + len(BUDGETS)]] for row in rows if row[0] in METHODS
        }
    return found


def _mean(cell: str) -> float:
    number = re.search(r"\d+\.\d+", cell)
    return float(number[0]) if number else float("nan")


def mean_fidelities() -> dict[str, np.ndarray]:
    """Return the mean over all tables but XOR, per method; NaN at budgets that a method cannot keep."""
    tables = [methods for name, methods in recorded_fidelities().items() if name != INVENTED]
    return {method: np.mean([table[method] for table in tables], axis=0) for method in METHODS}


def n_cells_ahead() -> dict[str, int]:
    """Count the cells, of all tables and budgets, that are marked as ahead of ours."""
    text = RESULTS.read_text(encoding="utf-8")
    rows = {method: re.findall(rf"^\| {re.escape(method)} .*$", text, re.MULTILINE) for method in METHODS}
    return {method: sum(row.count("| > ") for row in found) for method, found in rows.items()}


def means_table() -> str:
    """Return the means and the cells ahead as the table of docs/comparison.md."""
    lines = ["| to read | " + " | ".join(map(str, BUDGETS)) + " | cells ahead of ours |"]
    lines.append("|---" * (len(BUDGETS) + 2) + "|")
    ahead = n_cells_ahead()
    for method, means in mean_fidelities().items():
        cells = ["–" if np.isnan(mean) else f"{mean:.1f}" for mean in means]
        lines.append(f"| {METHODS[method]} | {' | '.join(cells)} | {ahead[method] or ''} |")
    return "\n".join(lines)


def draw_fidelity(ink: str) -> None:
    """Draw the mean fidelity by reading cost, one line per method."""
    _, axis = plt.subplots(figsize=(6.4, 3.1), layout="constrained")
    colours = dict(zip(METHODS, (OURS, *PEERS), strict=True))
    for method, means in mean_fidelities().items():
        is_ours = method == "ours"
        axis.plot(
            BUDGETS,
            means,
            "o-",
            color=colours[method],
            label=METHODS[method],
            linewidth=2.6 if is_ours else 1.4,
            markersize=6 if is_ours else 4,
            zorder=3 if is_ours else 2,
        )
    axis.set_xscale("log", base=2)
    axis.set_xticks(BUDGETS, map(str, BUDGETS))
    axis.set_xlabel("to read: rules and conditions, for two classes")
    axis.set_ylabel("agrees with the network, %")
    axis.grid(color=ink, alpha=0.15)
    axis.legend(frameon=False, labelcolor=ink, fontsize=9, loc="lower right")
    n_tables = len(recorded_fidelities()) - 1
    axis.set_title(f"Fidelity on test rows, mean of {n_tables} tables", fontsize=10, loc="left")


def demo_network() -> tuple[np.ndarray, MLPClassifier, Any]:
    """Return the training rows, the network and the wrapped network of `clausewise demo`."""
    X, _, y, _ = train_test_split(*demo.xor_rows(), test_size=0.25, random_state=0)
    network = MLPClassifier((32, 16), alpha=0.1, max_iter=1_000, random_state=0).fit(X, y)
    return X, network, wrap(network, feature_names=demo.NAMES)


def last_layer(network: MLPClassifier, X: np.ndarray) -> np.ndarray:
    """Return the activations of the last hidden layer."""
    for weights, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        X = np.maximum(X @ weights + bias, 0)
    return X


def steps_of_eclaire() -> Callable[[str], None]:
    """Run ECLAIRE on the demo's network, and return a function that draws its steps."""
    X, network, wrapped = demo_network()
    labels, activations = network.predict(X), last_layer(network, X)
    every = ECLAIRE(wrapped, max_rules=None).fit(X).rules_
    short = ECLAIRE(wrapped).fit(X).rules_
    clause = next(
        rule.origin.clause
        for rule in every
        if rule.conclusion == "one"
        and rule.origin.layer == "hidden 2"
        and rule.origin.clause.count("hidden 2[") == 2
    )
    terms = [
        (int(unit), sign, float(cut)) for unit, sign, cut in re.findall(r"\[(\d+)\] ([≤>]) ([\d.]+)", clause)
    ]
    holds = np.all(
        [
            activations[:, unit] > cut if sign == ">" else activations[:, unit] <= cut
            for unit, sign, cut in terms
        ],
        axis=0,
    )
    premises = [rule for rule in every if rule.origin.clause == clause]

    def draw(ink: str) -> None:
        _, axes = plt.subplots(1, 4, figsize=(12.4, 3.5), layout="constrained")
        is_one = labels == "one"
        _scatter(axes[0], X, is_one, "1. The network decides", "“one” and “zero”, in the plane of x1 and x2")
        _scatter(
            axes[1],
            activations[:, [unit for unit, _, _ in terms]],
            is_one,
            "2. A clause over its units",
            clause,
        )
        axes[1].set(xlabel=f"unit {terms[0][0]}", ylabel=f"unit {terms[1][0]}")
        axes[1].axvline(terms[0][2], color=ink, linestyle="--", linewidth=1)
        axes[1].axhline(terms[1][2], color=ink, linestyle="--", linewidth=1)
        subtitle = f"{len(premises)} premises for it, over the inputs"
        _scatter(axes[2], X, holds, "3. Where the clause holds", subtitle)
        for rule in premises:
            _box(axes[2], rule, ink)
        subtitle = f"{len(short)} rules instead of {len(every)}"
        _scatter(axes[3], X, is_one, "4. A search keeps few rules", subtitle)
        for rule in short:
            _box(axes[3], rule, ink, f"{rule.conclusion} +{rule.weight:.1f}")

    return draw


def what_budgets_buy() -> Callable[[str], None]:
    """Extract rules from a network of two columns, and return a function that draws them."""
    random = np.random.RandomState(0)
    X = random.uniform(size=(4_000, 2)).round(3)
    is_one = np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5) < 0.25 + 0.12 * np.sin(3 * np.arctan2(*(X - 0.5).T))
    network = MLPClassifier((32, 16), alpha=0.01, max_iter=300, random_state=0)
    network.fit(X, np.where(is_one, "one", "zero"))
    found = [extract(network, X, max_rules=n) for n in N_RULES_DRAWN]
    ticks = np.linspace(0.0, 1.0, 201)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=2).reshape(-1, 2)
    unseen = random.uniform(size=(4_000, 2))

    def draw(ink: str) -> None:
        _, axes = plt.subplots(1, len(found), figsize=(12.4, 3.5), layout="constrained")
        shape = (len(ticks), len(ticks))
        boundary = network.predict_proba(grid)[:, 0].reshape(shape)
        for axis, rules in zip(axes, found, strict=True):
            decided = (rules.predict(grid) == "one").reshape(shape)
            axis.contourf(ticks, ticks, decided, levels=[0.5, 1.5], colors=[ONE], alpha=0.35)
            axis.contour(ticks, ticks, boundary, levels=[0.5], colors=[ink], linewidths=1.2, linestyles="--")
            for rule in rules:
                _box(axis, rule, ONE if rule.conclusion == "one" else ZERO)
            fidelity = rules.evaluate(unseen, network=network).fidelity
            n_rules = f"{len(rules)} rule{'s' if len(rules) > 1 else ''}"
            axis.set_title(f"{n_rules}: {fidelity:.1%}", fontsize=11, loc="left")
            axis.set(xlabel="x1", ylabel="x2", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))

    return draw


def _scatter(axis: Any, points: np.ndarray, is_marked: np.ndarray, title: str, subtitle: str) -> None:
    for chosen, colour in ((is_marked, ONE), (~is_marked, ZERO)):
        axis.scatter(points[chosen, 0], points[chosen, 1], s=5, color=colour, alpha=0.55, linewidths=0)
    axis.set_title(f"{title}\n", fontsize=11, loc="left")
    axis.text(0, 1.02, subtitle, transform=axis.transAxes, fontsize=7.5)
    axis.set(xlabel="x1", ylabel="x2")


def _box(axis: Any, rule: Rule, ink: str, text: str = "") -> None:
    low, high = np.zeros(2), np.ones(2)
    for term in rule.terms:
        if term.feature < 2:
            low[term.feature] = max(term.low, 0)
            high[term.feature] = min(term.high, 1)
    axis.add_patch(Rectangle(low, *(high - low), fill=False, edgecolor=ink, linewidth=1.6))
    axis.text(*(low + high) / 2, text, ha="center", va="center", fontsize=11, weight="bold")


@contextmanager
def theme(ink: str) -> Iterator[None]:
    """Draw with this colour on a transparent background, with text as shapes."""
    coloured = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    quiet = {"axes.spines.top": False, "axes.spines.right": False, "savefig.transparent": True}
    with mpl.rc_context(
        {**dict.fromkeys(coloured, ink), **quiet, "svg.hashsalt": "clausewise", "font.size": 9}
    ):
        yield
    plt.close("all")


def main() -> None:
    """Write the figures, and print their sizes and the table of docs/comparison.md."""
    drawings = {"fidelity": draw_fidelity, "eclaire": steps_of_eclaire(), "search": what_budgets_buy()}
    for name, draw in drawings.items():
        for theme_name, ink in THEMES.items():
            # Thousands of points are smaller as a picture with few colours.
            path = FOLDER / f"{name}-{theme_name}.{'svg' if name == 'fidelity' else 'png'}"
            with theme(ink):
                draw(ink)
                plt.savefig(path, dpi=100, metadata={"Date": None} if path.suffix == ".svg" else None)
            if path.suffix == ".png":
                Image.open(path).quantize(N_COLOURS).save(path, optimize=True)
            print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
    print(f"\n{means_table()}")


if __name__ == "__main__":
    main()
