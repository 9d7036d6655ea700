"""The progress line."""

import contextlib
import io

from clausewise.base.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run_progress(verbose, stream):
    progress = Progress(verbose, stream)
    progress.started("ECLAIRE", 2)
    for layer in ("first", "second"):
        progress.part_started(layer, 10)
        for n in range(1, 11):
            progress.steps_done(0, n)
        progress.part_done()
    progress.finished("ECLAIRE: 7 rules in 0.1 s")
    return stream.getvalue()


def test_progress_is_silent_by_default():
    assert run_progress(0, Terminal()) == ""


def test_progress_writes_over_its_line_in_a_terminal():
    text = run_progress(1, Terminal())
    assert text.count("\n") == 1
    assert "\rECLAIRE |" in text
    assert "second, 0/10 clauses" in text
    assert text.rstrip().endswith("7 rules in 0.1 s")


def test_progress_ends_its_line_when_it_is_interrupted():
    stream = Terminal()
    with contextlib.suppress(KeyboardInterrupt), Progress(1, stream) as progress:
        progress.started("ECLAIRE", 1)
        progress.part_started("first", 10)
        raise KeyboardInterrupt
    assert stream.getvalue().endswith("\n")


def test_progress_writes_a_line_per_layer_into_a_file():
    lines = run_progress(1, io.StringIO()).splitlines()
    assert len(lines) == 3
    assert "first, 10/10 clauses" in lines[0]
    assert "100%" in lines[1]
    assert not any("\r" in line for line in lines)


def test_progress_counts_steps_whose_number_is_unknown():
    stream = Terminal()
    progress = Progress(2, stream)
    progress.started("Predictions", 1)
    progress.part_started("rows.csv", 0, "rows")
    progress.steps_done(0, 500)
    progress.steps_done(500, 250)
    progress.part_done()
    assert "\rPredictions  rows.csv, 750 rows" in stream.getvalue()
