"""The commands. Each reads files, calls the library, and prints; `docs/cli.md` describes them."""

import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

import clausewise
from clausewise.analysis import Counterfactual, Explanation
from clausewise.cli import doctor as _doctor
from clausewise.cli.console import (
    RuleSourceError,
    console,
    percent,
    print_json,
    print_pairs,
    print_rules,
    reporting_errors,
)
from clausewise.cli.exporting import FORMATS, exported
from clausewise.cli.models import load_network
from clausewise.cli.rows import (
    Rows,
    RuleRows,
    held_back,
    labels_like,
    rows_for_both,
    rows_for_network,
    rows_for_rules,
)
from clausewise.cli.tables import FORMATS as DATA_FORMATS
from clausewise.cli.tables import STDIN, Source, columns_of, read_batches
from clausewise.cli.writing import table_writer
from clausewise.data.labels import Label
from clausewise.export.sql import DIALECTS as DIALECT_TABLE
from clausewise.extractors.base import RuleExtractor
from clausewise.extractors.methods import METHODS
from clausewise.io import json as rule_json
from clausewise.io.atomic import write_atomically
from clausewise.networks import Network
from clausewise.rules import RuleSet, RuleTextError
from clausewise.rules.metrics import accuracy, coverage, fidelity
from clausewise.rules.term import format_category
from clausewise.rules.voting import VOTINGS

TEXT_ENDINGS = (".txt", ".rules")
"""Of files that hold text in the rule language."""
DIALECTS = tuple(DIALECT_TABLE)


def one_of(choices: Collection[str]) -> Callable[[str | None], str | None]:
    """A check that an option is one of these."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    return check


app = typer.Typer(
    help="Short, faithful IF-THEN rules from trained neural networks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# --- Arguments that commands share ---

RulesFile = Annotated[
    str,
    typer.Argument(
        metavar="RULES", help="Rule file (.json), or text in the rule language (.txt); - is standard input."
    ),
]
DataFile = Annotated[
    str, typer.Argument(metavar="DATA", help="CSV, Parquet, Arrow or NPZ file of rows; - is standard input.")
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="MODEL", help="The network: .onnx, .keras or .skops file, or module:object."
    ),
]
Target = Annotated[
    str | None, typer.Option("--target", metavar="COLUMN", help="Column of DATA with the true classes.")
]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Where to write; standard output unless given."),
]
DataFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        callback=one_of(DATA_FORMATS),
        help=f"Of DATA: {', '.join(DATA_FORMATS)}; told by its name unless given.",
    ),
]
Classes = Annotated[
    str | None,
    typer.Option("--classes", metavar="A,B,…", help="The network's classes, in the order of its outputs."),
]
Trust = Annotated[
    list[str] | None,
    typer.Option("--trust", metavar="TYPE", help="A type in a .skops file that may be loaded."),
]
Jobs = Annotated[int | None, typer.Option("--jobs", min=1, help="Number of threads; all cores unless given.")]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="For everything that is drawn.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress on standard error.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


def _version(is_asked: bool) -> None:
    if is_asked:
        print(f"clausewise {clausewise.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


# --- From a network to rules ---


@app.command()
@reporting_errors
def extract(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help=".onnx, .keras or .skops file, or module:object.")
    ],
    data: DataFile,
    output: Output = None,
    method: Annotated[
        str, typer.Option(callback=one_of(METHODS), help=f"One of {', '.join(METHODS)}.")
    ] = "eclaire",
    max_rules: Annotated[int | None, typer.Option(min=1, help="At most so many rules (eclaire).")] = None,
    min_cases: Annotated[
        str | None, typer.Option(help="Fewest rows per rule: a number, a part of the rows, or auto.")
    ] = None,
    target: Target = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column of DATA that the network does not read."),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column of a CSV file that is text, though it looks like numbers."
        ),
    ] = None,
    test: Annotated[
        str | None, typer.Option(metavar="DATA", help="Rows to measure on, in place of those held back.")
    ] = None,
    holdout: Annotated[
        float, typer.Option(min=0.0, max=0.9, help="Part of the rows that is held back to measure on.")
    ] = 0.2,
    voting: Annotated[
        str | None, typer.Option(callback=one_of(VOTINGS), help=f"One of {', '.join(VOTINGS)}.")
    ] = None,
    report: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write a page (HTML) that shows the rules.")
    ] = None,
    classes: Classes = None,
    trust: Trust = None,
    format: DataFormat = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Extract rules from a trained network, and say how faithful they are on rows held back."""
    if as_json and output in (None, STDIN):
        raise typer.BadParameter("--json prints the measures; say with -o where the rules go")
    for path in (output, report):
        _require_folder(path)
    started = time.perf_counter()
    extractor = _extractor(method, max_rules, min_cases, voting, seed, jobs, quiet)
    network = _network(model, classes, trust)
    columns = (target, drop or (), text or ())
    rows = rows_for_network(Source.of(data, format), network, *columns)
    if test is not None:
        train, tested = rows, rows_for_network(Source.of(test), network, *columns)
    else:
        train, tested = held_back(rows, network, holdout, seed)
    extractor.set_params(network=network).fit(train.X, train.y)
    rules = extractor.rules_
    measured = tested if len(tested) else train
    result = {
        "method": method,
        "n_rules": len(rules),
        "n_rows": len(train),
        "n_rows_measured": len(measured),
        "held_back": bool(len(tested)),
        **_measures(rules, measured, network.labels(measured.X)),
        "seconds": time.perf_counter() - started,
    }
    _write_rules(rules, output)
    if report is not None:
        extractor.report(report, measured.X, measured.y)
    to = console(stderr=output in (None, STDIN))
    if as_json:
        print_json(result | {"output": output, "report": report})
    else:
        print_rules(rules, to)
        to.print()
        print_pairs(_shown_measures(result), to)
        _print_next(output, data, model, report, to)


def _extractor(
    method: str,
    max_rules: int | None,
    min_cases: str | None,
    voting: str | None,
    seed: int,
    jobs: int | None,
    quiet: bool,
) -> RuleExtractor:
    kind = METHODS[method]
    stated = {
        "max_rules": max_rules,
        "min_cases": None if min_cases is None else _cases(min_cases),
        "voting": voting,
    }
    options = {name: value for name, value in stated.items() if value is not None}
    known = kind._get_param_names()
    for name in options:
        if name not in known:
            raise typer.BadParameter(f"{method} has no --{name.replace('_', '-')}")
    return kind(None, **options, random_state=seed, n_jobs=jobs, verbose=0 if quiet else 1)


def _cases(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    if text == "auto":
        return text
    raise typer.BadParameter(f"--min-cases is {text!r}; it is a number, a part of the rows, or auto")


def _print_next(output: str | None, data: str, model: str, report: str | None, to: Console) -> None:
    if output in (None, STDIN):
        return
    to.print()
    lines = [f"rules in {output}" + (f", page in {report}" if report else "")]
    if data != STDIN:
        lines += [
            f"  clausewise explain {output} {data}",
            f"  clausewise explore {output} --data {data} --model {model}",
        ]
    lines.append(f"  clausewise export {output} --to sql")
    to.print(Text("\n".join(lines)))


# --- Rules on rows ---


@app.command()
@reporting_errors
def evaluate(
    rules: RulesFile,
    data: DataFile,
    target: Target = None,
    model: Model = None,
    voting: Annotated[
        str | None,
        typer.Option(
            callback=one_of(VOTINGS), help=f"Another one than the rules' own: {', '.join(VOTINGS)}."
        ),
    ] = None,
    classes: Classes = None,
    trust: Trust = None,
    format: DataFormat = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Measure rules on rows: against the true classes, the network, or both."""
    if target is None and model is None:
        raise typer.BadParameter("say what to measure against: --target COLUMN, --model MODEL, or both")
    known = _rules(rules)
    chosen = known if voting is None else known.with_voting(voting)  # type: ignore[arg-type]
    rows = rows_for_rules(Source.of(data, format), chosen, target)
    network = None if model is None else _network_labels(rows, chosen, model, classes, trust)
    if rows.y is None:
        measures = _measures(chosen, rows, network)
        if as_json:
            print_json({"voting": chosen.voting, "n_rows": len(rows), "n_rules": len(chosen), **measures})
        else:
            print_pairs({"rules": f"{len(chosen):,}", **_shown_measures(measures)}, console())
        return
    found = chosen.evaluate(rows.X, rows.y, network=network, n_jobs=jobs)
    if as_json:
        of_network = None if network is None else accuracy(network, rows.y)
        print_json(asdict(found) | {"accuracy_of_network": of_network})
    else:
        print(found)


@app.command()
@reporting_errors
def predict(
    rules: RulesFile,
    data: DataFile,
    output: Output = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also the probability of each class.")] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Also the columns of DATA.")] = False,
    name: Annotated[str, typer.Option(help="Of the column of decisions.")] = "prediction",
    format: DataFormat = None,
    jobs: Jobs = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per row.")] = False,
    debug: Debug = False,
) -> None:
    """Decide each row by the rules. Files larger than memory are read, decided and written piece by piece."""
    known, source = _rules(rules), Source.of(data, format)
    made = [name, *(_probability_of(label) for label in known.labels)] if proba else [name]
    if len(set(made)) < len(made):
        raise typer.BadParameter(
            f"{name!r} is also the name of a column of probabilities; give another --name"
        )
    write = None
    with ExitStack() as stack:
        for batch in read_batches(source):
            decided = _decided(known, columns_of(batch, known.features, source), made, jobs)
            if keep:
                if twice := set(made) & set(batch.column_names):
                    raise ValueError(
                        f"{source.shown} has a column {min(twice)!r} already; give another --name."
                    )
                decided = pa.table([*batch.columns, *decided.columns], names=[*batch.column_names, *made])
            if write is None:  # only now it is known what the columns are
                schema = decided.schema
                write = stack.enter_context(table_writer(output, schema, as_json))
            write(decided.cast(schema))


def _probability_of(label: Label) -> str:
    return f"probability {format_category(label)}"


def _decided(rules: RuleSet, table: pa.Table, names: Sequence[str], jobs: int | None) -> pa.Table:
    columns = [_label_array(rules.predict(table, n_jobs=jobs), rules)]
    if len(names) > 1:
        columns += [pa.array(part) for part in rules.predict_proba(table, n_jobs=jobs).T]
    return pa.table(columns, names=list(names))


def _label_array(labels: NDArray[Any], rules: RuleSet) -> pa.Array:
    return pa.array(labels.tolist(), pa.string()) if isinstance(rules.labels[0], str) else pa.array(labels)


@app.command()
@reporting_errors
def explain(
    rules: RulesFile,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Rows; without them, all rules as a whole.")
    ] = None,
    row: Annotated[
        list[int] | None,
        typer.Option("--row", help="Number of a row, counted from 0; the first five unless given."),
    ] = None,
    counterfactuals: Annotated[
        bool, typer.Option("--counterfactuals", help="Also the smallest change that flips the decision.")
    ] = False,
    format: DataFormat = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say why rows are decided as they are: rules that fired, votes, near misses."""
    known = _rules(rules)
    if data is None:
        if row or counterfactuals:
            raise typer.BadParameter("rows are explained with DATA; pass it too")
        whole = known.explain_global()
        if as_json:
            use = zip(known.features.names, whole.feature_use.tolist(), strict=True)
            counts = {name: dict(zip(map(str, known.labels), row, strict=True)) for name, row in use}
            print_json({"n_rules": len(known), "voting": known.voting, "rules_per_feature_and_class": counts})
        else:
            print(whole)
        return
    rows = rows_for_rules(Source.of(data, format), known)
    numbers = row or list(range(min(5, len(rows))))
    for number in numbers:
        if not 0 <= number < len(rows):
            raise IndexError(f"There is no row {number}; {data} has {len(rows):,}, counted from 0.")
    chosen = rows.take(np.array(numbers))
    changes = known.counterfactuals(chosen.X, reference=rows.X) if counterfactuals else None
    for place, (number, found) in enumerate(zip(numbers, known.explain(chosen.X), strict=True)):
        if as_json:
            print_json(_explanation(number, found) | ({} if changes is None else _changes(changes[place])))
            continue
        print(str(found).replace(f"row {found.row} →", f"row {number} →", 1))
        if changes is not None:
            print(f"  {str(changes[place]).partition(': ')[2]}")


def _explanation(number: int, found: Explanation) -> dict[str, Any]:
    return {
        "row": number,
        "prediction": found.prediction,
        "voting": found.voting,
        "scores": [{"class": label, "votes": votes} for label, votes in found.scores.items()],
        "fired": [
            {"rule": rule.number, "votes": rule.votes, "overridden": rule.overridden, "text": rule.text}
            for rule in found.fired
        ],
        "near_misses": [{"rule": miss.number, "reason": miss.reason} for miss in found.near_misses],
    }


def _changes(found: Counterfactual) -> dict[str, Any]:
    changes = [{"feature": part.feature, "from": part.before, "to": part.after} for part in found.changes]
    return {"counterfactual": {"becomes": found.becomes, "changes": changes, "distance": found.distance}}


# --- Rules from rules ---


@app.command()
@reporting_errors
def compact(
    rules: RulesFile,
    data: DataFile,
    output: Output = None,
    model: Model = None,
    target: Target = None,
    max_rules: Annotated[
        int | None, typer.Option(min=1, help="At most so many rules; recommended from the data unless given.")
    ] = None,
    max_terms: Annotated[int, typer.Option(min=1, help="Most terms of a rule.")] = 6,
    min_fidelity: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="The fewest rules that reach this fidelity.")
    ] = None,
    points: Annotated[
        bool, typer.Option("--points", help="Whole weights from −5 to 5, to add up by hand.")
    ] = False,
    classes: Classes = None,
    trust: Trust = None,
    format: DataFormat = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Search the most faithful small rule set that imitates a network, or labels."""
    known = _rules(rules)
    rows, labels = _rows_and_labels(known, data, format, model, target, classes, trust)
    if labels is None:
        raise typer.BadParameter("say what to imitate: --model MODEL or --target COLUMN")
    small = known.compact(
        rows.X,
        labels,
        max_rules=max_rules,
        max_terms=max_terms,
        min_fidelity=min_fidelity,
        points=points,
        random_state=seed,
        n_jobs=jobs,
        verbose=0 if quiet else 1,
    )
    _write_rules(small, output)
    to = console(stderr=output in (None, STDIN))
    print_rules(small, to)
    was, now = (fidelity(some.predict(rows.X), labels) for some in (known, small))
    to.print(Text(f"fidelity on these rows {percent(now)}, before {percent(was)} with {len(known):,} rules"))


@app.command()
@reporting_errors
def simplify(
    rules: RulesFile,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="Rows to measure on; needed with a tolerance.")
    ] = None,
    output: Output = None,
    tolerance: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Part of the rows on which agreement may be lost.")
    ] = 0.0,
    model: Model = None,
    target: Target = None,
    classes: Classes = None,
    trust: Trust = None,
    format: DataFormat = None,
    debug: Debug = False,
) -> None:
    """Fewer rules that decide every row alike, or within a tolerance on DATA."""
    known = _rules(rules)
    if data is None:
        if tolerance > 0 or model is not None or target is not None:
            raise typer.BadParameter("agreement is measured on rows; pass DATA")
        shorter = known.simplify()
    else:
        rows, labels = _rows_and_labels(known, data, format, model, target, classes, trust)
        shorter = known.simplify(tolerance=tolerance, X=rows.X, target=labels)
    _write_rules(shorter, output)
    console(stderr=True).print(Text(f"{len(known):,} rules became {len(shorter):,}"))


@app.command()
@reporting_errors
def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The earlier rule file.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The later rule file.")],
    data: Annotated[str | None, typer.Argument(metavar="[DATA]", help="Rows: which decisions flip?")] = None,
    format: DataFormat = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Say which rules were added, removed or changed, and which rows flip."""
    old, new = _rules(before), _rules(after)
    X = None if data is None else rows_for_both(Source.of(data, format), old, new).X
    found = old.compare(new, X)
    if not as_json:
        print(found)
        return
    flips = (
        None
        if found.flips is None
        else {
            "n_rows": found.flips.n_rows,
            "rows": found.flips.rows,
            "before": found.flips.before,
            "after": found.flips.after,
        }
    )
    old_text, new_text = found.texts
    print_json(
        {
            "added": [new_text[number] for number in found.added],
            "removed": [old_text[number] for number in found.removed],
            "changed": [[old_text[one], new_text[other]] for one, other in found.changed],
            "n_same": found.n_same,
            "settings": found.settings,
            "flips": flips,
        }
    )


# --- Rules to elsewhere ---


@app.command()
@reporting_errors
def export(
    rules: RulesFile,
    to: Annotated[str, typer.Option("--to", callback=one_of(FORMATS), help=f"One of {', '.join(FORMATS)}.")],
    output: Output = None,
    table: Annotated[str, typer.Option(help="The table that SQL reads; schema.table names both.")] = "rows",
    dialect: Annotated[
        str, typer.Option(callback=one_of(DIALECTS), help=f"Of SQL: {', '.join(DIALECTS)}.")
    ] = "sqlite",
    decision: Annotated[str, typer.Option(help="The column of decisions in SQL.")] = "decision",
    debug: Debug = False,
) -> None:
    """Write the rules in another language: SQL, Python, PMML, ONNX, …; all decide as `predict` does."""
    _write_bytes(exported(_rules(rules), to, table=table, dialect=dialect, decision=decision), output)


@app.command()
@reporting_errors
def report(
    rules: RulesFile,
    data: Annotated[str | None, typer.Argument(metavar="[DATA]", help="Rows to show.")] = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="The page to write.")
    ] = "report.html",
    model: Model = None,
    target: Target = None,
    title: Annotated[str | None, typer.Option(help="Of the page.")] = None,
    classes: Classes = None,
    trust: Trust = None,
    format: DataFormat = None,
    debug: Debug = False,
) -> None:
    """Write one HTML file that shows the rules, needs no network, and can be mailed around."""
    known = _rules(rules)
    rows = None if data is None else rows_for_rules(Source.of(data, format), known, target)
    X, y, network = None, None, None
    if rows is None:
        _require_no_model(model)
    else:
        X, y = rows.X, rows.y
        network = None if model is None else _network_labels(rows, known, model, classes, trust)
    _write_bytes(known.show(X, y, network, title=title).html.encode("utf-8"), output)
    if output != STDIN:
        print(output)


@app.command()
@reporting_errors
def explore(
    rules: RulesFile,
    data: Annotated[str | None, typer.Option("--data", metavar="DATA", help="Rows to show.")] = None,
    model: Model = None,
    target: Target = None,
    title: Annotated[str | None, typer.Option(help="Of the page.")] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of the address; any free one unless given.")
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
    classes: Classes = None,
    trust: Trust = None,
    format: DataFormat = None,
    debug: Debug = False,
) -> None:
    """Show the rules in the browser, with all rows and the network itself behind the page; Ctrl-C ends it."""
    known = _rules(rules)
    rows = None if data is None else rows_for_rules(Source.of(data, format), known, target)
    if rows is None:
        _require_no_model(model)
    network = None if model is None else _network(model, classes, trust)
    X, y = (None, None) if rows is None else (rows.X, rows.y)
    known.explore(X, y, network, title=title, port=port, open_browser=browser)


@app.command()
@reporting_errors
def doctor(as_json: AsJson = False, debug: Debug = False) -> None:
    """Print versions, optional parts and threads, and try the whole way on small data."""
    found = _doctor.examined()
    if not as_json:
        to = console()
        for heading in ("versions", "optional parts"):
            to.print(Text(heading))
            print_pairs({f"  {name}": value or "not installed" for name, value in found[heading].items()}, to)
        to.print(Text(f"threads  {found['threads']}"))
    checks = _doctor.self_test()
    if as_json:
        print_json(found | {"self-test": checks})
    else:
        for name, outcome in checks.items():
            print(
                f"{'ok  ' if outcome == 'ok' else 'FAIL'} {name}{'' if outcome == 'ok' else f': {outcome}'}"
            )
    if any(outcome != "ok" for outcome in checks.values()):
        raise typer.Exit(1)


# --- Parts ---


def _rules(path: str) -> RuleSet:
    """A rule file, or text in the rule language."""
    if path == STDIN:
        data = sys.stdin.buffer.read(rule_json.MAX_BYTES + 1)
    elif Path(path).suffix.lower() in TEXT_ENDINGS:
        data = Path(path).read_bytes()
    else:
        return RuleSet.load(path)
    source = "standard input" if path == STDIN else path
    if data.lstrip()[:1] in (b"{", b""):
        return rule_json.loads(data, source=source)
    try:
        return RuleSet.from_text(data.decode("utf-8"))
    except RuleTextError as error:
        raise RuleSourceError(f"{source}, {error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{source} is not text in UTF-8: {error.reason}, byte {error.start}.") from error


def _network(model: str, classes: str | None, trust: Sequence[str] | None) -> Network:
    labels = [label.strip() for label in classes.split(",")] if classes else []
    return load_network(model, trusted=trust or (), classes=labels)


def _require_no_model(model: str | None) -> None:
    if model is not None:
        raise typer.BadParameter("a network is asked about rows; pass data too")


def _rows_and_labels(
    rules: RuleSet,
    data: str,
    format: str | None,
    model: str | None,
    target: str | None,
    classes: str | None,
    trust: Sequence[str] | None,
) -> tuple[Rows, NDArray[Any] | None]:
    """The rows, and what the rules should say on them: the network's labels, or those of a column."""
    if model is not None and target is not None:
        raise typer.BadParameter("say what to imitate: either --model MODEL or --target COLUMN")
    rows = rows_for_rules(Source.of(data, format), rules, target)
    return rows, rows.y if model is None else _network_labels(rows, rules, model, classes, trust)


def _network_labels(
    rows: RuleRows, rules: RuleSet, model: str, classes: str | None, trust: Sequence[str] | None
) -> NDArray[Any]:
    """What the network says of rows, in the labels that the rules have."""
    network = _network(model, classes, trust)
    return labels_like(network.labels(rows.for_network(network)).tolist(), rules.labels, "The network")


def _measures(rules: RuleSet, rows: Rows, network: NDArray[Any] | None) -> dict[str, Any]:
    predicted = rules.predict(rows.X)
    return {
        "fidelity": None if network is None else fidelity(predicted, network),
        "accuracy": None if rows.y is None else accuracy(predicted, rows.y),
        "accuracy_of_network": None if rows.y is None or network is None else accuracy(network, rows.y),
        "coverage": coverage(rules, rows.X),
    }


def _shown_measures(result: dict[str, Any]) -> dict[str, str]:
    shown = {}
    if "n_rows_measured" in result:
        which = "rows held back" if result["held_back"] else "rows of training; none were held back"
        shown["measured on"] = f"{result['n_rows_measured']:,} {which}"
    names = {
        "fidelity": "fidelity to the network",
        "accuracy": "accuracy",
        "accuracy_of_network": "accuracy of the network",
        "coverage": "covered by a rule",
    }
    shown |= {name: percent(result[key]) for key, name in names.items() if result[key] is not None}
    if "seconds" in result:
        shown["time"] = f"{result['seconds']:.1f} s"
    return shown


def _require_folder(path: str | None) -> None:
    """Before long work, that its result can be written."""
    folder = None if path in (None, STDIN) else Path(str(path)).absolute().parent
    if folder is not None and not os.access(folder, os.W_OK):
        raise ValueError(f"{path} cannot be written: there is no folder {folder}, or it is not writable.")


def _write_rules(rules: RuleSet, output: str | None) -> None:
    if output is not None and Path(output).suffix.lower() in TEXT_ENDINGS:
        _write_bytes(rules.to_text().encode("utf-8"), output)
    else:
        _write_bytes(rule_json.dumps(rules).encode("utf-8"), output)


def _write_bytes(data: bytes, output: str | None) -> None:
    if output in (None, STDIN):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    else:
        write_atomically(output, data)
