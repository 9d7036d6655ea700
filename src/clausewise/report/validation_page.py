"""The page of a validation: plain HTML with a style sheet for screen and paper, without scripts.

Names, labels and notes come from data; all text is escaped.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from clausewise.analysis import FeatureDifferences
from clausewise.data.features import Features
from clausewise.report.differences import Slice
from clausewise.rules import Rule, RuleSet
from clausewise.rules.decimals import format_number
from clausewise.rules.display import describe_premise
from clausewise.rules.guarantee import Promise, describe_fraction
from clausewise.rules.term import describe_interval, format_category

if TYPE_CHECKING:
    from clausewise.report.validation import Validation

# Nothing is loaded from anywhere, and nothing runs.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE: Final = """
:root { color-scheme: light; }
body { font: 11pt/1.45 system-ui, sans-serif; color: #1b1f23; background: #fff; max-width: 62em;
  margin: 2em auto; padding: 0 1.5em; }
h1 { font-size: 1.7em; margin: 0 0 .2em; }
h2 { font-size: 1.2em; margin: 1.8em 0 .4em; border-bottom: 1px solid #999; }
.summary { font-size: 1.1em; border-left: .3em solid #1b1f23; padding: .3em .8em; }
.code { font-family: ui-monospace, monospace; font-size: .85em; overflow-wrap: anywhere; }
pre { font-size: .85em; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: .5em 0; font-size: .92em; }
th, td { text-align: left; vertical-align: top; padding: .25em .6em; border-bottom: 1px solid #ccc;
  overflow-wrap: anywhere; min-width: 4em; }
th.number, td.number { text-align: right; white-space: nowrap; }
th { overflow-wrap: break-word; }
td:first-child:not(.number) { min-width: 6.5em; }
.sign { break-inside: avoid; }
.sign tbody td { height: 2em; width: 30%; }
@page { margin: 18mm 16mm; }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 9.5pt; } h2 { break-after: avoid; }
  tr { break-inside: avoid; } thead { display: table-header-group; } }
"""
_PRECISION: Final = (
    "Counted is the precision of a rule: of the fresh rows on which it fires, those that the model gives its "
    "class. Where several rules fire, they decide together."
)
_AGREEMENT: Final = (
    "Counted is how often the sum of all rules agrees with the model on the fresh rows on which a rule fires."
)
_MEASURES: Final = "<p>For information; intervals here are single ones. What is guaranteed is said above.</p>"
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="clausewise {version}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def validation_page(found: "Validation") -> str:
    """Return the page of a validation."""
    sections = [
        _summary(found),
        _section("The model", f"<pre>{escape(found.model)}</pre>", _pairs(found.sources.items())),
        _section("The rules", *_rules(found)),
        _section("The rows", _pairs(_row_facts(found))),
        _section("What is guaranteed", *_guarantee(found)),
        *([_section("With abstention", *_abstention(found))] if found.promise or found.refusal else []),
        _section("Where rules and model differ", *_differences(found)),
        _section("Measures on the same rows", _MEASURES, _embedded(found.evaluation)),
        *(_section(heading, _embedded(result)) for heading, result in found.results.items()),
        _section("Edits by hand", _changes(found)),
        _section("Versions", _pairs(found.versions.items())),
        _section("Sign-off", _signatures()),
    ]
    return _PAGE.format(
        policy=escape(_POLICY),
        version=escape(found.versions["clausewise"]),
        title=escape(found.title),
        style=_STYLE,
        body="\n".join(sections),
    )


# --- Sections ---


def _summary(found: "Validation") -> str:
    summary = found.guarantee.summary
    lines = [f"{summary[0].upper()}{summary[1:]}."]
    if found.promise is not None:
        lines.append(f"With abstention, the rule set {found.promise.summary}.")
    return "".join(f"<p class='summary'>{escape(line)}</p>" for line in lines)


def _rules(found: "Validation") -> Iterator[str]:
    rules = found.rules
    yield f"<p>{escape(rules.headline)}. Reading cost {rules.reading_cost:,}.</p>"
    yield f"<p>Digest <span class='code'>{escape(rules.digest)}</span></p>"
    rows = []
    for number in range(len(rules)):
        premise, conclusion, _ = rules.describe_parts(number)
        rows.append((str(number), premise, conclusion, *_promised(found.guarantee.rules[number])))
    head = ("rule", "IF", "THEN", "counted", "interval", "fresh rows")
    yield _table(head, rows, numbers=(0, 3, 4, 5))
    yield f"<p>{_PRECISION if found.guarantee.tolerance is None else _AGREEMENT}</p>"


def _row_facts(found: "Validation") -> Iterator[tuple[str, str]]:
    facts = found.rows
    yield "Rows given", f"{facts.n_given:,}"
    yield "Rows counted", f"{facts.n_used:,}"
    yield "SHA-256 of the rows", facts.digest
    yield "Period of the rows given", "not known" if facts.period is None else " to ".join(facts.period)
    learnt = found.rules.learnt_rows
    checked = "no record of learnt rows" if learnt is None else f"checked against {len(learnt):,} learnt rows"
    yield "Freshness", checked
    for note in found.guarantee.notes:
        yield "Note", note


def _guarantee(found: "Validation") -> Iterator[str]:
    given = found.guarantee
    yield f"<p>{escape(given.explanation)}</p>"
    listed = [given.fidelity, *given.classes]
    rows = [(promise.subject, *_promised(promise)) for promise in listed]
    rows.insert(1, ("baseline of a constant answer", f"{100 * given.baseline:.2f} %", "", ""))
    yield _table(("figure", "counted", "interval", "fresh rows"), rows, numbers=(1, 2, 3))
    yield "<p>The intervals of the rules are listed above, beside each rule.</p>"


def _abstention(found: "Validation") -> Iterator[str]:
    if found.refusal is not None:
        yield f"<p>{escape(found.refusal)}</p>"
        return
    yield f"<p>{escape(str(found.promise))}</p>"
    if isinstance(found.rules, RuleSet) and found.rules.abstention is None:
        yield (
            "<p>The rules as filed decide every row; this is what they would promise if they abstained "
            "(<span class='code'>rules.abstaining</span>). It is promised apart from the intervals above.</p>"
        )


def _differences(found: "Validation") -> Iterator[str]:
    n_rows, n_differ = found.guarantee.n_rows, found.n_differ
    decided = " that the rules decide" if found.guarantee.n_abstained else ""
    share = describe_fraction(n_differ / n_rows)
    tolerance = found.guarantee.tolerance
    differ = "differ" if tolerance is None else f"differ by more than {format_number(tolerance)}"
    yield f"<p>They {differ} on {n_differ:,} of {n_rows:,} rows{decided} ({share}).</p>"
    if found.slices:
        rows = [
            (text, f"{one.n_differ:,} of {one.n_rows:,}", describe_fraction(one.n_differ / one.n_rows))
            for one, text in zip(found.slices, _slices_in_words(found), strict=True)
        ]
        yield _table(("Most often where", "rows that differ", "rate"), rows, numbers=(1, 2))
    else:
        yield "<p>No part of the rows stands out.</p>"
    listed = [cells for one in found.features for cells in _worst_bin(one, found.rules.features)]
    if listed:
        yield _table(("By feature, the worst range", "rows that differ", "rate"), listed, numbers=(1, 2))


def _slices_in_words(found: "Validation") -> list[str]:
    slices: Sequence[Slice] = found.slices
    features = found.rules.features
    written = RuleSet.from_rules(
        [Rule(one.terms, True) for one in slices], features, default=False, classes=[False, True]
    )
    return [describe_premise(written.columns, number, features) for number in range(len(slices))]


def _worst_bin(one: FeatureDifferences, features: Features) -> Iterator[tuple[str, str, str]]:
    """Yield the bin in which rules and model differ most often, unless the feature makes no difference."""
    if one.deviation == 0:
        return
    rates = [
        differ / rows if rows >= 10 else -1.0 for rows, differ in zip(one.n_rows, one.n_differ, strict=True)
    ]
    worst = max(range(len(rates)), key=rates.__getitem__)
    if rates[worst] <= 0:
        return
    counts = f"{one.n_differ[worst]:,} of {one.n_rows[worst]:,}"
    yield _bin_in_words(one, worst, features), counts, describe_fraction(rates[worst])


def _bin_in_words(one: FeatureDifferences, number: int, features: Features) -> str:
    name = features.names[one.feature]
    if number == len(one.n_rows) - 1:
        return f"{name} is missing"
    if one.cuts is not None:
        ends = (float("-inf"), *one.cuts, float("inf"))
        return describe_interval(name, ends[number], ends[number + 1])
    listed = features.categories[one.feature] or (False, True)
    return f"{name} = {format_category(listed[number])}" if number < len(listed) else f"{name} is unknown"


def _changes(found: "Validation") -> str:
    changes = found.rules.changes
    if not changes:
        return "<p>None.</p>"
    rows = [
        (
            one.action,
            str(one.rule),
            one.before or "",
            one.after or "",
            one.note or "",
            one.author or "not recorded",
        )
        for one in changes
    ]
    return _table(("edit", "rule", "before", "after", "reason", "by"), rows, numbers=(1,))


def _signatures() -> str:
    people = ("Prepared by", "Reviewed by", "Approved by")
    head = "<td></td>" + "".join(f"<th>{escape(person)}</th>" for person in people)
    lines = "".join(
        f"<tr><th>{name}</th>{'<td></td>' * len(people)}</tr>" for name in ("Name", "Date", "Signature")
    )
    return f"<table class='sign'><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


# --- Parts ---


def _section(heading: str, *parts: str) -> str:
    return f"<section><h2>{escape(heading)}</h2>{''.join(parts)}</section>"


def _promised(promise: Promise) -> tuple[str, str, str]:
    fraction, interval, _ = promise.describe()
    return fraction, interval, f"{promise.n_rows:,}"


def _embedded(result: Any) -> str:
    """Return a result as its own HTML, which escapes its text, or as text."""
    for method in ("to_html", "_repr_html_"):
        if hasattr(result, method):
            return str(getattr(result, method)())
    return f"<pre>{escape(str(result))}</pre>"


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    rows = list(pairs)
    return _table(("", ""), rows) if rows else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    right = set(numbers)

    def cells(tag: str, texts: Sequence[str]) -> str:
        made = [
            f"<{tag}{' class=number' if place in right else ''}>{escape(text)}</{tag}>"
            for place, text in enumerate(texts)
        ]
        return f"<tr>{''.join(made)}</tr>"

    names = f"<thead>{cells('th', head)}</thead>" if any(head) else ""
    return f"<table>{names}<tbody>{''.join(cells('td', row) for row in rows)}</tbody></table>"
