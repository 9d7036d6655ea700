"""The report page with 2,000 rules × 20,000 rows: open it in Chromium and edit one rule.

The targets: interactive within 2 s of opening, an edit painted within 100 ms. Printed, not asserted.
"""

import os
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from clausewise import Rule, RuleSet, Term

N_RULES, N_ROWS, N_FEATURES, N_CLASSES = 2_000, 20_000, 20, 4
REPEAT = 5


def write_report(path: Path) -> None:
    """Write a report on rules of 2 to 6 random terms and a network that agrees with most of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    rules = []
    for _ in range(N_RULES):
        tested = rng.choice(N_FEATURES, rng.integers(2, 7), replace=False)
        bounds = np.round(rng.normal(scale=0.8, size=len(tested)), 2)
        terms = [
            Term(int(feature), low=bound) if rng.random() < 0.5 else Term(int(feature), high=bound)
            for feature, bound in zip(tested, bounds.tolist(), strict=True)
        ]
        rules.append(Rule(tuple(terms), int(rng.integers(N_CLASSES)), confidence=float(rng.uniform(0.5, 1))))
    names = [f"feature {i}" for i in range(N_FEATURES)]
    found = RuleSet.from_rules(rules, names, default=0, classes=np.arange(N_CLASSES))
    network = np.where(rng.random(N_ROWS) < 0.9, found.predict(X), rng.integers(N_CLASSES, size=N_ROWS))
    truth = np.where(rng.random(N_ROWS) < 0.9, network, rng.integers(N_CLASSES, size=N_ROWS))
    found.report(path, X, truth, network, max_rows=None, title="Benchmark")


# The Overview requests the first evaluation, so its first painted frame is interactive.
INTERACTIVE = """() => new Promise((done) => {
  const look = () => document.querySelector("[data-ready]")
    ? requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0))
    : setTimeout(look, 5);
  look();
})"""
# Drop a term of one rule and wait until the frame with the new measures is painted.
EDIT = """async () => {
  const { store } = window.clausewise;
  const set = store.rules.value;
  const start = performance.now();
  store.edit({ ...set, rules: set.rules.map((rule, place) =>
    place === 1000 ? { ...rule, terms: rule.terms.slice(1) } : rule) });
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted, 0)));
  const time = performance.now() - start;
  store.undo();
  return time;
}"""


def main() -> None:
    chromium = os.environ.get("CLAUSEWISE_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("\nExplorer: not run, Chromium was not found.")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "report.html"
        start = time.perf_counter()
        write_report(path)
        print(f"\nReport with {N_RULES:,} rules × {N_ROWS:,} rows: ", end="")
        print(f"{path.stat().st_size / 1e6:.1f} MB, written in {time.perf_counter() - start:.2f} s")
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened, edited = [], []
        for _ in range(REPEAT):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(path.as_uri(), wait_until="commit")
            opened.append(page.evaluate(INTERACTIVE))
            edited += [page.evaluate(EDIT) for _ in range(3)]
            page.close()
        browser.close()
    print(f"opening until interactive  {np.median(opened):>7.0f} ms (target 2,000)")
    print(f"one edit until painted     {np.median(edited):>7.0f} ms (target 100)")


if __name__ == "__main__":
    main()
