"""Targets of the fuzzer, one per kind of external input.

A target declares how an input is read, with which errors it may be refused, and what must hold once it is
accepted. Anything else is a finding.
"""

import gzip
import io
import json
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from clausewise import (
    Features,
    LinearTerm,
    Origin,
    RegressionRule,
    RegressionRules,
    Rule,
    RuleFileError,
    RuleSet,
    RuleTextError,
    Term,
)
from clausewise.cli.input_rows import rows_for_rules
from clausewise.cli.table_files import DataError, Source, read_table
from clausewise.io import json as rule_json
from clausewise.rules.text import KEYWORDS
from tests.fuzz import onnx_models, page_requests
from tests.fuzz.mutation import NUMBERS, TEXTS, changed_json
from tests.fuzz.recording import unwatched
from tests.rules.random_rules import random_features, random_ruleset


@dataclass(frozen=True)
class Target:
    """One kind of input.

    Attributes
    ----------
    read : callable
        Reads bytes.
    errors : tuple of types
        The documented errors for refused inputs.
    check : callable
        Raises if an accepted input violates a promise.
    examples : callable
        Returns valid inputs.
    strategy : callable
        Returns a hypothesis strategy for inputs.
    words : sequence of bytes
        Tokens of the format.
    structured : callable, optional
        See `Mutator`.
    """

    name: str
    read: Callable[[bytes], Any]
    errors: tuple[type[Exception], ...]
    check: Callable[[Any], None]
    examples: Callable[[], list[bytes]]
    strategy: Callable[[], st.SearchStrategy[bytes]]
    words: Sequence[bytes] = ()
    structured: Callable[[bytes, Any], bytes | None] | None = None


# --- Rule sets from any source ---


@cache
def example_rules():
    """Return small rule sets that use every feature of the format."""
    features = Features(
        ("age", 'a "name"', "smokes", "zip", "</script>"),
        ("numeric", "categorical", "binary", "categorical", "numeric"),
        (None, ("cook", "nurse = 1", "é\n"), None, (8000, 9000.5), None),
    )
    rules = [
        Rule((Term(0, low=30, high=47.5), Term(1, values=["cook"])), "yes", 0.93, 120, 112),
        Rule((Term(2, low=0), Term(3, values=[8000])), "no", 0.61, 50.5, 30, 2.5, Origin("h 1", None)),
        Rule((Term(2, high=0), Term(4)), "no", 0.5, 4, 2, -1.5, Origin("h 1", "u > 3"), True),
        Rule((), "no", 0.5, 400, 200),
    ]
    full = RuleSet.from_rules(rules, features, default="no", voting="weights", base=[0.5, -2]).with_scale(2.5)
    edited = full.add("IF age <= 17 THEN no", priority=True, note="law").remove(0).reweight(0, weight=3)
    numbers = RuleSet.from_rules(
        [Rule((Term(0, high=0.1),), 2.5)], ["x"], classes=np.array([1.5, 2.5], dtype=np.float32), default=1.5
    )
    rng = np.random.default_rng(0)
    drawn = [random_ruleset(rng, random_features(rng, 3), 5) for _ in range(3)]
    by_position = Features(("x0", "x1"), named=False)
    return [
        full,
        edited,
        numbers,
        *drawn,
        RuleSet.from_rules([], by_position, default=True, classes=[False, True], voting="share"),
    ]


@cache
def example_numbers():
    """Return small rule sets for numbers that use every feature of the format."""
    features = example_rules()[0].features
    full = RegressionRules.from_rules(
        [
            RegressionRule(
                (Term(0, "age", low=30), Term(1, 'a "name"', values=["cook"])), 1.4, 120, 3, (1, 5)
            ),
            RegressionRule((Term(2, "smokes", low=0),), -0.65, origin=Origin("h 1", "u > 3")),
            RegressionRule((), 1 / 3),
        ],
        features,
        base=2.07,
        linear=[LinearTerm(0, "age", 0.43, fill=40, low=18, high=90), LinearTerm(4, "</script>", -1e-3)],
        link="log",
        response="</table>",
        response_range=(0, 9.5),
    )
    return [full, full.add("IF age <= 17 THEN ADD 0.25", note="law"), full[[1]].rounded(1)]


def check_numbers(rules):
    """Check that a rule set for numbers can be written, read back, shown, and predicts rows."""
    if not isinstance(rules, RegressionRules):  # a damaged file may still be one of rules for classes
        check_rules(rules)
        return
    again = rule_json.loads_any(rule_json.dumps(rules).encode("utf-8"))
    from_text = RegressionRules.from_text(rules.to_text())
    assert again == rules == from_text
    assert hash(again) == hash(rules)
    assert again.changes == rules.changes
    rows = rows_for(rules.features)
    predicted = rules.predict(rows, n_jobs=1)
    assert np.array_equal(predicted, from_text.predict(rows, n_jobs=1), equal_nan=True)
    assert str(rules)
    assert str(rules.explain(rows)[0])
    assert_only_own_tags(rules._repr_html_())


def check_rules(rules):
    """Check that a rule set can be written, read back, shown, and decides rows."""
    written = rule_json.dumps(rules)
    again = rule_json.loads(written.encode("utf-8"))
    assert again == rules
    assert hash(again) == hash(rules)
    assert again.changes == rules.changes
    assert rule_json.dumps(again) == written
    from_text = RuleSet.from_text(rules.to_text())
    assert from_text == rules
    assert from_text.to_text() == rules.to_text()
    rows = rows_for(rules.features)
    decided = rules.predict(rows, n_jobs=1)
    assert set(decided.tolist()) <= set(rules.labels)
    assert decided.tolist() == from_text.predict(rows, n_jobs=1).tolist()
    assert np.isfinite(rules.predict_proba(rows, n_jobs=1)).all()
    assert str(rules)
    assert repr(rules)
    assert_only_own_tags(rules._repr_html_())


def rows_for(features):
    """Return a few rows with missing, ordinary, unknown and infinite values."""
    table = np.empty((4, len(features)), dtype=object)
    for place, (kind, categories) in enumerate(zip(features.kinds, features.categories, strict=True)):
        if categories is None:
            cells = [None, 0.0, 1.0, 1.0 if kind == "binary" else -np.inf]
        else:
            unknown = "an unknown category" if not categories or isinstance(categories[0], str) else -12345.5
            cells = [None, unknown, *categories[:1], *categories[-1:], None, None]
        for row in range(4):
            table[row, place] = cells[row]
    return table


_OWN_TAGS = frozenset(["div", "p", "table", "thead", "tbody", "tr", "th", "td"])


class _Tags(HTMLParser):
    def handle_starttag(self, tag, attributes):
        assert tag in _OWN_TAGS
        assert {name for name, _ in attributes} <= {"style", "colspan"}

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


def assert_only_own_tags(html):
    """Check that nothing in names or labels became markup."""
    parser = _Tags()
    parser.feed(html)
    parser.close()


# --- Rule files ---

_KEYS = [
    "format",
    "version",
    "voting",
    "default",
    "classes",
    "class_dtype",
    "named",
    "base",
    "scale",
    "features",
    "rules",
    "changes",
    "name",
    "kind",
    "categories",
    "if",
    "then",
    "confidence",
    "cover",
    "correct",
    "weight",
    "priority",
    "origin",
    "layer",
    "clause",
    "feature",
    "low",
    "high",
    "values",
    "action",
    "rule",
    "before",
    "after",
    "note",
]
_JSON_WORDS = [
    *(f'"{key}": '.encode() for key in _KEYS),
    *b"true false null { } [ ] , : {} [] NaN \xff \xed\xa0\x80 \xef\xbb\xbf".split(),
    *(json.dumps(text).encode() for text in TEXTS),
    *NUMBERS,
]


def _file_examples():
    return [rule_json.dumps(rules).encode("utf-8") for rules in example_rules()]


def _number_file_examples():
    return [rule_json.dumps(rules).encode("utf-8") for rules in example_numbers()]


def _of_the_same_kind(value):
    if isinstance(value, bool):
        return st.booleans()
    if isinstance(value, int | float):
        return st.floats(allow_nan=False, allow_infinity=False) | st.floats(0, 1) | st.integers(-5, 5)
    return st.text(max_size=8) if isinstance(value, str) else st.just(value)


def _damaged_files(examples=_file_examples):
    """Return a strategy for valid files with any JSON in any place, any JSON, and any bytes."""
    values = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4)
        ),
        max_leaves=8,
    )

    @st.composite
    def damaged(draw):
        document = json.loads(draw(st.sampled_from(examples())))
        for _ in range(draw(st.integers(1, 3))):
            inside = document
            while True:
                keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
                if not keys:
                    break
                key = draw(st.sampled_from(keys))
                if isinstance(inside[key], dict | list) and draw(st.booleans()):
                    inside = inside[key]
                    continue
                kind = _of_the_same_kind(inside[key]) if draw(st.integers(0, 2)) else values
                inside[key] = draw(kind)
                break
        return json.dumps(document).encode()

    return damaged() | values.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=200)


RULE_FILE = Target(
    "rule-file",
    rule_json.loads,
    (RuleFileError,),
    check_rules,
    _file_examples,
    _damaged_files,
    _JSON_WORDS,
    changed_json,
)

NUMBER_FILE = Target(
    "number-file",
    rule_json.loads_any,
    (RuleFileError,),
    check_numbers,
    _number_file_examples,
    lambda: _damaged_files(_number_file_examples),
    [*_JSON_WORDS, *(f'"{key}": '.encode() for key in ("link", "linear", "add", "interval", "response"))],
    changed_json,
)

# --- The rule language ---

_SYMBOLS = (
    "<= >= != <> == < > = ≤ ≥ ≠ ∈ { } , # NUMERIC CATEGORICAL BINARY BY POSITION int8 uint64 float16 object"
)
_TEXT_WORDS = [
    *(f" {word} ".encode() for word in sorted(KEYWORDS)),
    *_SYMBOLS.encode().split(),
    *b"confidence cover correct weight priority layer clause origin majority share weights".split(),
    *(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass") for text in TEXTS),
    *NUMBERS,
    b"\n",
    b"\xed\xa0\x80",
    "٣".encode(),
    "²".encode(),
]


def _as_text(data):
    return data.decode("utf-8", "surrogatepass") if _is_text(data) else data.decode("latin-1")


def _is_text(data):
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _text_examples(rule_sets=example_rules):
    return [rules.to_text().encode("utf-8", "surrogatepass") for rules in rule_sets()]


def _words(words, rule_sets=example_rules):
    """Return a strategy for words of the language in any order, mixed with lines of valid texts."""
    word = st.sampled_from([word.decode("utf-8", "surrogatepass") for word in words if len(word) < 100])
    lines = [line for rules in rule_sets() for line in rules.to_text().splitlines()]
    name = st.sampled_from(["age", "smokes", "yes", "no", "x", "f0", "f1"])
    piece = word | name | st.sampled_from(lines) | st.text(max_size=5) | st.floats().map(str)
    return st.lists(piece, max_size=20).map(" ".join)


def _statements(rule_sets=example_rules):
    """Return a strategy for valid texts with a few words exchanged."""

    @st.composite
    def nearly(draw):
        words = re.findall(r'"(?:[^"\\]|\\.)*"|\S+|\n', draw(st.sampled_from(rule_sets())).to_text())
        for _ in range(draw(st.integers(0, 3))):
            place = draw(st.integers(0, len(words) - 1))
            if re.fullmatch(r"-?[\d.]+(e[+-]?\d+)?", words[place]):
                words[place] = draw(st.floats().map(str))
            else:
                other = draw(st.sampled_from(words) | st.sampled_from(["<", "=", "IN", "{", "TRUE", "1e400"]))
                words[place : place + draw(st.integers(0, 2))] = [other]
        return " ".join(words)

    return nearly()


def _texts(words=_TEXT_WORDS, rule_sets=example_rules):
    texts = _words(words, rule_sets) | _statements(rule_sets)
    return texts.map(lambda text: text.encode("utf-8", "surrogatepass"))


RULE_TEXT = Target(
    "rule-text",
    lambda data: RuleSet.from_text(_as_text(data)),
    (RuleTextError,),
    check_rules,
    _text_examples,
    _texts,
    _TEXT_WORDS,
)


_NUMBER_WORDS = [
    *_TEXT_WORDS,
    *b"ADD RESPONSE RANGE TO LINK log LINEAR fill low high mean lower upper".split(),
]
NUMBER_TEXT = Target(
    "number-text",
    lambda data: RegressionRules.from_text(_as_text(data)),
    (RuleTextError,),
    check_numbers,
    lambda: _text_examples(example_numbers),
    lambda: _texts(_NUMBER_WORDS, example_numbers),
    _NUMBER_WORDS,
)


def _added(data):
    try:
        return example_rules()[0].add(_as_text(data), at=1)
    except RuleTextError:
        raise
    except ValueError as error:  # depends on the other rules, not on the text alone
        if "add up to more than a double can hold" in str(error):
            return None
        raise


def _additions():
    """Return a strategy for rules about the first example, most of them valid."""
    number = st.floats(allow_nan=False).map(str) | st.integers(-100, 100).map(str)
    comparison = st.sampled_from(["<", "<=", ">", ">=", "=", "!=", "≤", "≥", "≠", "==", "<>"])
    name = st.sampled_from(["age", "smokes", "zip", '"</script>"', '"a \\"name\\""', "weight", "job"])
    known = ["TRUE", "FALSE", "cook", '"nurse = 1"', '"é\\n"', "8000", "9000.5", "x"]
    value = number | st.sampled_from(known)
    values = st.lists(value, max_size=3).map(lambda listed: f"{{{', '.join(listed)}}}")
    pieces = (
        st.tuples(name, comparison, value),
        st.tuples(number, comparison, name, comparison, number),
        st.tuples(name, st.sampled_from(["IN", "NOT IN", "∈", "∉"]), values),
        st.tuples(name, st.sampled_from(["IS KNOWN", "IS MISSING"])),
    )
    term = st.one_of(*pieces).map(" ".join)
    property_ = st.tuples(
        st.sampled_from(["confidence", "cover", "correct", "weight", "priority", "layer", "origin"]), value
    )
    properties = st.lists(property_.map(" ".join) | st.just("priority"), max_size=3).map(", ".join)
    rule = st.builds(
        lambda terms, label, with_: f"IF {' AND '.join(terms)} THEN {label}{' WITH ' * bool(with_)}{with_}",
        st.lists(term, min_size=1, max_size=4),
        st.sampled_from(["yes", "no", '"no"', "maybe"]),
        properties,
    )
    texts = st.lists(rule, min_size=1, max_size=2).map("\n".join)
    return texts.map(lambda text: text.encode("utf-8", "surrogatepass")) | _texts()


def _check_added(rules):
    if rules is None:
        return
    before = example_rules()[0]
    assert len(rules) > len(before)
    assert rules[:1] == before[:1]
    assert rules.remove(slice(1, 1 + len(rules) - len(before))) == before
    check_rules(rules)


def _addition_examples():
    return [
        b"IF age <= 47 THEN yes WITH confidence 0.9",
        "IF 17 < age ≤ 65 AND smokes = TRUE THEN no WITH priority, cover 3, correct 2".encode(),
        b'IF "a \\"name\\"" IN {cook, "nurse = 1"} AND zip != 8000 THEN "yes" WITH weight -2',
        b'IF "</script>" IS KNOWN THEN no # a remark\nIF TRUE THEN yes WITH layer "h 1", clause "u > 3"',
    ]


RULE_TO_ADD = Target(
    "rule-to-add",
    _added,
    (RuleTextError,),
    _check_added,
    _addition_examples,
    _additions,
    _TEXT_WORDS,
)

# --- Files ---


@cache
def _folder():
    return tempfile.TemporaryDirectory(prefix="clausewise-fuzz-")


def _as_file(data, name):
    """Write the input to a file; this side effect is allowed, because the target causes it."""
    with unwatched():
        path = Path(_folder().name) / name
        path.write_bytes(data)
    return path


# --- Tables ---


def _rules_for_tables(suffix=".csv"):
    """Return rules for a table; NPZ files hold numbers only, so their rules are numeric."""
    return example_rules()[2 if suffix == ".npz" else 0]


def _table_reader(suffix):
    """Return a reader that reads a file as the command line does: as a table, then as rows for rules."""

    def read(data):
        source = Source.of(str(_as_file(data, f"rows{suffix}")))
        read_table(source)
        rules = _rules_for_tables(suffix)
        return rules, rows_for_rules(source, rules)

    return read


def _read_stream(data):
    """Read Arrow's streaming format from standard input, which reserves the memory that it is asked for."""

    def source():
        sys.stdin = SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data)))
        return Source.of("-", "arrow")

    standard = sys.stdin
    try:
        read_table(source())
        rules = _rules_for_tables()
        return rules, rows_for_rules(source(), rules)
    finally:
        sys.stdin = standard


def _check_table(read):
    """Check that accepted rows are decided, or refused with a reason."""
    rules, rows = read
    try:
        decided = rules.predict(rows.X, n_jobs=1)
    except (ValueError, TypeError) as error:
        if not str(error):
            raise AssertionError("no reason given") from error
        return
    assert len(decided) == len(rows)


def _example_tables():
    import pyarrow as pa

    rows = rows_for(_rules_for_tables().features)
    names = _rules_for_tables().features.names
    columns = {name: rows[:, place].tolist() for place, name in enumerate(names)}
    return [pa.table(columns), pa.table(columns | {"class": [1, 2, 3, 4]}).slice(1, 2)]


def _written_tables(write):
    """Return the example tables as files, each written by `write(table, sink)`."""
    import pyarrow as pa

    files = []
    for table in _example_tables():
        sink = pa.BufferOutputStream()
        write(table, sink)
        files.append(sink.getvalue().to_pybytes())
    return files


def _csv_examples():
    from pyarrow import csv

    return _written_tables(csv.write_csv)


def _csv_texts():
    cell = st.sampled_from(["1", "0", "true", "", "NA", "cook", '"nurse = 1"', '"é\n"', "8000", "1e400", "x"])
    line = st.lists(cell | st.floats().map(str), min_size=4, max_size=6).map(",".join)
    heads = [text.split(b"\n")[0].decode() for text in _csv_examples()]
    texts = st.tuples(st.sampled_from(heads), st.lists(line, max_size=5).map("\n".join)).map("\n".join)
    return (texts | st.text(max_size=60)).map(str.encode) | st.binary(max_size=60)


def _arrow_examples(form="file"):
    from pyarrow import ipc

    def write(table, sink):
        with getattr(ipc, f"new_{form}")(sink, table.schema) as writer:
            writer.write_table(table)

    return _written_tables(write)


def _stream_examples():
    return _arrow_examples("stream")


def _parquet_examples():
    from pyarrow import parquet

    return _written_tables(parquet.write_table)


def _npz_examples():
    table = {"X": np.array([[30.0], [np.nan]]), "feature_names": np.array(["x"])}
    files = []
    for arrays in (table, table | {"y": np.arange(2)}):
        with io.BytesIO() as file:
            np.savez(file, **arrays)
            files.append(file.getvalue())
    return files


_CSV_WORDS = [
    b",",
    b"\n",
    b"\r\n",
    b'"',
    b'""',
    b"\t",
    b";",
    b"NA",
    b"null",
    b"\xef\xbb\xbf",
    b"\x00",
    *NUMBERS,
]


def _table_target(suffix, examples, strategy=None, words=()):
    return Target(
        suffix[1:].replace(".", "-"),
        _table_reader(suffix),
        (DataError,),
        _check_table,
        examples,
        strategy or (lambda: _changed_bytes(examples())),
        words,
    )


def _changed_bytes(examples):
    """Return a strategy for files with up to four bytes changed, possibly cut off."""
    change = st.tuples(st.integers(0, 10**6), st.integers(0, 255))

    def changed(drawn):
        data, changes, end = bytearray(drawn[0]), drawn[1], drawn[2]
        for place, value in changes:
            data[place % len(data)] = value
        return bytes(data[: len(data) if end > 10**5 else end])

    drawn = st.tuples(st.sampled_from(examples), st.lists(change, max_size=4), st.integers(0, 10**6))
    return drawn.map(changed) | st.binary(max_size=60)


def _gzip_examples():
    return [gzip.compress(example) for example in _csv_examples()]


CSV_GZ = _table_target(".csv.gz", _gzip_examples)
CSV = _table_target(".csv", _csv_examples, _csv_texts, _CSV_WORDS)
PARQUET = _table_target(".parquet", _parquet_examples)
ARROW = _table_target(".arrow", _arrow_examples)
ARROW_STREAM = Target(
    "arrow-stream",
    _read_stream,
    (DataError,),
    _check_table,
    _stream_examples,
    lambda: _changed_bytes(_stream_examples()),
)
NPZ = _table_target(".npz", _npz_examples)

# --- ONNX ---


def _read_onnx(data):
    import clausewise

    return clausewise.wrap(_as_file(data, "network.onnx"))


def _check_network(network):
    """Check that an accepted network has a text form, and decides rows or says why not."""
    assert str(network)
    n_inputs = network.n_inputs or 4
    if n_inputs > 100_000:  # a file may declare any size
        return
    rows = np.linspace(-1, 1, 3 * n_inputs).reshape(3, n_inputs)
    try:
        labels = network.labels(rows)
    except ValueError:
        return
    assert labels.shape == (3,)
    assert set(labels.tolist()) <= set(np.asarray(network.classes).tolist())


ONNX = Target(
    "onnx",
    _read_onnx,
    (ValueError,),
    _check_network,
    onnx_models.examples,
    onnx_models.strategy,
    onnx_models.WORDS,
    onnx_models.changed,
)

# --- Requests ---

REQUEST = Target(
    "request",
    page_requests.ask,
    (page_requests.RefusedError,),
    page_requests.check,
    page_requests.examples,
    page_requests.strategy,
    page_requests.WORDS,
    page_requests.changed,
)

TARGETS = {
    target.name: target
    for target in (
        RULE_FILE,
        NUMBER_FILE,
        RULE_TEXT,
        NUMBER_TEXT,
        RULE_TO_ADD,
        CSV_GZ,
        CSV,
        PARQUET,
        ARROW,
        ARROW_STREAM,
        NPZ,
        ONNX,
        REQUEST,
    )
}
