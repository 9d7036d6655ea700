"""Run the scripts in examples/ and write them, with what they print and draw, to out/gallery.

    python tools/gallery.py [NAME ...]    # all of them, or some, for a look at one page

A script is a docstring, whose first line is the title, and cells that begin with `# %%` (code) or
`# %% [markdown]` (text in comments). For each, the gallery has a Markdown page, its figures and a notebook.
"""

import ast
import base64
import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[1]
EXAMPLES, GALLERY = ROOT / "examples", ROOT / "out" / "gallery"
# In the order of the site.
NAMES = (
    "credit_risk",
    "pytorch_network",
    "keras_categories",
    "xgboost_rules",
    "house_prices",
    "rules_in_sql",
    "expert_edits",
    "boosted_c50",
    "onnx_production",
    "time_series",
    "validation_report",
    "parquet_folder",
)
CELL = re.compile(r"^# %%(.*)\n", re.MULTILINE)
COMMENT = re.compile(r"^# ?", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """Code to run, or Markdown to show."""

    text: str
    is_code: bool


@dataclass(frozen=True)
class Example:
    """A script: its title, the rest of its docstring, and its cells."""

    name: str
    title: str
    introduction: str
    cells: tuple[Cell, ...]
    source: str

    @classmethod
    def read(cls, name: str) -> "Example":
        """Return examples/`name`.py, parsed."""
        source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
        docstring = ast.get_docstring(ast.parse(source))
        if docstring is None:
            raise ValueError(f"examples/{name}.py has no docstring; its first line is the title of its page.")
        title, _, introduction = docstring.partition("\n")
        kinds_and_texts = CELL.split(source)[1:]
        cells = [
            Cell(text.strip("\n"), is_code=True)
            if kind.strip() != "[markdown]"
            else Cell(COMMENT.sub("", text).strip("\n"), is_code=False)
            for kind, text in zip(kinds_and_texts[::2], kinds_and_texts[1::2], strict=True)
        ]
        return cls(name, title.rstrip("."), introduction.strip("\n"), tuple(cells), source)


@dataclass(frozen=True)
class Result:
    """What a cell printed and drew."""

    printed: str
    figures: tuple[bytes, ...]


def run_cells(example: Example) -> list[Result]:
    """Run the cells of an example in one namespace, in an empty folder, as a notebook would."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    results = []
    plt.close("all")  # figures that others have left open are not those of the first cell
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for number, cell in enumerate(example.cells):
            results.append(_run(cell, f"{example.name}.py, cell {number}", namespace))
    return results


def _run(cell: Cell, where: str, namespace: dict[str, Any]) -> Result:
    if not cell.is_code:
        return Result("", ())
    tree = ast.parse(cell.text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, where, "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), where, "eval"), namespace)
            if value is not None and not _is_drawing(value):
                print(value)
    figures = []
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(
            picture, format="png", dpi=110, bbox_inches="tight", metadata={"Software": ""}
        )
        figures.append(picture.getvalue())
    plt.close("all")
    return Result(printed.getvalue(), tuple(figures))


def _is_drawing(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_drawing, value))
    return type(value).__module__.startswith(("matplotlib.", "clausewise.plots"))


def page_of(example: Example, results: list[Result]) -> str:
    """Return the page of an example; its figures are files beside it."""
    parts = [f"# {example.title}", example.introduction]
    parts.append(
        f"[Notebook]({example.name}.ipynb){{ .md-button }} [Script]({example.name}.py.txt){{ .md-button }}"
    )
    n_figures = 0
    for cell, result in zip(example.cells, results, strict=True):
        parts.append(f"```python\n{cell.text}\n```" if cell.is_code else cell.text)
        if result.printed:
            parts.append(_output(result.printed))
        for _ in result.figures:
            parts.append(f"![figure {n_figures + 1}]({example.name}-{n_figures}.png)")
            n_figures += 1
    return "\n\n".join(filter(None, parts)) + "\n"


def _output(printed: str) -> str:
    return f'<div class="output" markdown>\n\n```text\n{printed.rstrip()}\n```\n\n</div>'


def notebook_of(example: Example, results: list[Result]) -> dict[str, Any]:
    """Return the example as a notebook (nbformat 4.5), with what its cells printed and drew."""
    text = f"# {example.title}\n\n{example.introduction}".strip()
    cells: list[dict[str, Any]] = [_notebook_cell("intro", "markdown", text)]
    for number, (cell, result) in enumerate(zip(example.cells, results, strict=True)):
        made = _notebook_cell(f"cell-{number}", "code" if cell.is_code else "markdown", cell.text)
        if cell.is_code:
            made |= {"execution_count": None, "outputs": _outputs(result)}
        cells.append(made)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _outputs(result: Result) -> list[dict[str, Any]]:
    outputs: list[dict[str, Any]] = []
    if result.printed:
        text = result.printed.splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    for figure in result.figures:
        data = {"image/png": base64.b64encode(figure).decode()}
        outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    return outputs


def _notebook_cell(name: str, kind: str, text: str) -> dict[str, Any]:
    return {"id": name, "cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}


def write(example: Example) -> None:
    """Run one example and write its page, figures, script and notebook."""
    (GALLERY / f"{example.name}.py.txt").write_text(example.source, encoding="utf-8")
    results = run_cells(example)
    for number, figure in enumerate(figure for result in results for figure in result.figures):
        (GALLERY / f"{example.name}-{number}.png").write_bytes(figure)
    (GALLERY / f"{example.name}.md").write_text(page_of(example, results), encoding="utf-8")
    notebook = json.dumps(notebook_of(example, results), ensure_ascii=False, indent=1)
    (GALLERY / f"{example.name}.ipynb").write_text(notebook + "\n", encoding="utf-8")


def main(chosen: list[str]) -> None:
    """Write the chosen examples, or all of them, and print the processor time of each."""
    unknown = sorted(set(chosen) - set(NAMES))
    if unknown:
        sys.exit(f"There is no example {unknown[0]!r}; choose from {', '.join(NAMES)}.")
    if not chosen:
        shutil.rmtree(GALLERY, ignore_errors=True)  # no page of an example that is gone
    GALLERY.mkdir(parents=True, exist_ok=True)
    for name in chosen or NAMES:
        before = sum(os.times()[:4])
        write(Example.read(name))
        print(f"{name}: {sum(os.times()[:4]) - before:.1f} CPU seconds", flush=True)
    written = [name for name in NAMES if (GALLERY / f"{name}.md").exists()]
    (GALLERY / "order.txt").write_text("\n".join(written) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
