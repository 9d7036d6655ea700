"""Make the pictures of the README: a report about a network for loans, photographed in Chromium.

`make pictures` writes docs/pictures/*.png, light and dark, from the page of today. The rows are generated, so
that the pictures show nobody. Needs Chromium ($CLAUSEWISE_CHROMIUM, or on the path) and the extra `dev`.
"""

import os
import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.compose import make_column_transformer
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import clausewise

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
# Views, by the name in the address, and the element at whose bottom a picture ends.
VIEWS = {"overview": "[aria-labelledby=strongest]", "predict": ".flip"}
HEIGHT, MARGIN = 1_000, 24
WIDTH, N_COLOURS = 1280, 64
THEMES = ("light", "dark")


def loans(n_rows: int = 6_000) -> tuple[pd.DataFrame, np.ndarray]:
    """Return made-up applications for loans, and whether they were repaid."""
    rng = np.random.default_rng(0)
    income = rng.lognormal(3.6, 0.45, n_rows).round(1)
    years = rng.gamma(2.0, 4.0, n_rows).round()
    purpose = rng.choice(["car", "home", "education", "business", "holiday"], n_rows)
    X = pd.DataFrame(
        {
            "income": income,
            "loan / income": rng.uniform(0.05, 1.6, n_rows).round(2),
            "years employed": years,
            "age": np.clip(years + rng.normal(28, 8, n_rows), 18, 80).round(),
            "late payments": rng.poisson(0.7, n_rows),
            "purpose": purpose,
            "housing": rng.choice(["owns", "rents", "with parents"], n_rows, p=[0.4, 0.45, 0.15]),
        }
    )
    score = (
        2.2
        - 2.4 * (X["loan / income"] > 0.9)
        - 1.1 * X["late payments"]
        + 0.9 * (X["years employed"] > 4)
        + 0.8 * (X["housing"] == "owns")
        - 1.3 * ((X["purpose"] == "business") & (X["income"] < 45))
        - 0.9 * (X["purpose"] == "holiday")
        + rng.logistic(0, 0.4, n_rows)
    )
    return X, np.where(score > 0, "repaid", "defaulted")


def report(path: Path) -> None:
    """Write a report about a network that was trained on the loans."""
    X, y = loans()
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    numbers = [name for name in X if name not in ("purpose", "housing")]
    columns = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), ["purpose", "housing"]))
    network = make_pipeline(columns, MLPClassifier((32, 16), early_stopping=True, random_state=0))
    network.fit(X, y)
    rules = clausewise.extract(network, X, max_rules=9)
    rules.report(
        path, X_test, y_test, network, title="Who repays a loan, according to a network", fixed=["age"]
    )


def photograph(page_path: Path, chromium: str) -> None:
    """Save each view in both themes, with few colours."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        # Root may not use Chromium's sandbox, and the page is our own.
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for theme in THEMES:
            for view, last in VIEWS.items():
                context = browser.new_context(
                    viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=theme, reduced_motion="reduce"
                )
                page = context.new_page()
                page.goto(f"{page_path.as_uri()}#view={view}")
                page.wait_for_selector("[role=tabpanel]")
                page.wait_for_timeout(500)
                place = page.locator(last).last.bounding_box()
                assert place is not None, f"{view} shows no {last}"
                shown = {"x": 0, "y": 0, "width": WIDTH, "height": place["y"] + place["height"] + MARGIN}
                picture = Image.open(BytesIO(page.screenshot(clip=shown))).convert("RGB")
                picture.quantize(N_COLOURS).save(FOLDER / f"{view}-{theme}.png", optimize=True)
                context.close()
        browser.close()


def main() -> None:
    """Write the pictures and print their sizes."""
    chromium = os.environ.get("CLAUSEWISE_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("Chromium is not installed; apt-get install chromium, or set CLAUSEWISE_CHROMIUM.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        report(path)
        photograph(path, chromium)
    for picture in sorted(FOLDER.glob("*.png")):
        print(f"{picture.relative_to(FOLDER.parents[1])}: {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
