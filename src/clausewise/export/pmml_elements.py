"""Elements of PMML documents as text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from clausewise.data.labels import Label
from clausewise.data.table import Category
from clausewise.export.text import quoted_short
from clausewise.rules.decimals import format_number

Lines = Iterator[str]


def rule_element(identity: str, score: str, premise: Iterable[str], **attributes: object) -> Lines:
    """Yield a rule of a RuleSetModel."""
    yield open_tag("SimpleRule", id=identity, score=score, **attributes)
    yield from premise
    yield "</SimpleRule>"


def compound(operator: str, predicates: Sequence[Sequence[str]], nothing: str = "<True/>") -> Lines:
    """Yield predicates joined by an operator; PMML does not allow fewer than two."""
    if len(predicates) < 2:
        yield from predicates[0] if predicates else [nothing]
        return
    yield open_tag("CompoundPredicate", booleanOperator=operator)
    for predicate in predicates:
        yield from predicate
    yield "</CompoundPredicate>"


def compare(field: str, operator: str, value: str) -> str:
    """Return a comparison of a field with a value."""
    return empty_tag("SimplePredicate", field=field, operator=operator, value=value)


def membership(field: str, values: Sequence[Category]) -> Lines:
    """Yield a test for a set: an array, unless texts need escapes, on which engines disagree."""
    texts = [category_text(value) for value in values]
    if len(texts) == 1 or not all(map(_is_plain, texts)):
        yield from compound("or", [[compare(field, "equal", text)] for text in texts])
        return
    kind = "string" if isinstance(values[0], str) else "real"
    listed = " ".join(f'"{_content(text)}"' if kind == "string" else text for text in texts)
    yield open_tag("SimpleSetPredicate", field=field, booleanOperator="isIn")
    yield f"{open_tag('Array', n=len(texts), type=kind)}{listed}</Array>"
    yield "</SimpleSetPredicate>"


def _is_plain(text: str) -> bool:
    return bool(text) and text.isprintable() and '"' not in text and "\\" not in text


def categorical_field(name: str, data_type: str, values: Iterable[str]) -> Lines:
    """Yield the declaration of a field with its categories."""
    yield open_tag("DataField", name=name, optype="categorical", dataType=data_type)
    for value in values:
        yield empty_tag("Value", value=value)
    yield "</DataField>"


def derived_field(name: str, expression: str) -> Lines:
    """Yield a derived field of an expression."""
    yield open_tag("DerivedField", name=name, optype="continuous", dataType="double")
    yield expression
    yield "</DerivedField>"


def apply(function: str, arguments: Iterable[str], **attributes: object) -> str:
    """Return a function applied to arguments."""
    return f"{open_tag('Apply', function=function, **attributes)}{''.join(arguments)}</Apply>"


def choose(condition: str, then: float) -> str:
    """Return a number where a condition holds, and 0 elsewhere."""
    return apply("if", [condition, constant(then), constant(0.0)])


def field(name: str, **attributes: object) -> str:
    """Return a reference to a field."""
    return empty_tag("FieldRef", field=name, **attributes)


def indicator(name: str, value: Category) -> str:
    """Return 1 where a field has a category, and 0 elsewhere."""
    # The category is an attribute, in which engines keep leading and trailing spaces.
    return empty_tag("NormDiscrete", field=name, value=category_text(value), mapMissingTo=0)


def constant(number: float) -> str:
    """Return a number."""
    return f'<Constant dataType="double">{format_number(number)}</Constant>'


# --- Values ---


def is_text(categories: Sequence[Category] | None) -> bool:
    """Whether categories are text."""
    return categories is not None and any(isinstance(value, str) for value in categories)


def category_text(value: Category) -> str:
    """Return a category as text."""
    return value if isinstance(value, str) else format_number(float(value))


def label_text(value: Label) -> str:
    """Return a class label as text."""
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value) if isinstance(value, float) else str(value)


def data_type(label: Label) -> str:
    """Return the PMML data type of a class label."""
    if isinstance(label, bool):
        return "boolean"
    if isinstance(label, int):
        return "integer"
    return "double" if isinstance(label, float) else "string"


# --- XML ---

# The characters that an XML 1.0 document may contain, literally or as references.
_XML_TEXT: Final = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


def open_tag(tag: str, **attributes: object) -> str:
    """Return an opening tag."""
    return f"<{tag}{_attributes(attributes)}>"


def empty_tag(tag: str, **attributes: object) -> str:
    """Return a tag without content."""
    return f"<{tag}{_attributes(attributes)}/>"


def _attributes(attributes: dict[str, object]) -> str:
    return "".join(f" {name}={_quoted(str(value))}" for name, value in attributes.items())


def _quoted(text: str) -> str:
    # Line breaks and tabs become references; parsers would turn literal ones into spaces.
    return quoteattr(_require_xml(text))


def _content(text: str) -> str:
    return escape(_require_xml(text))


def _require_xml(text: str) -> str:
    matched = _XML_TEXT.match(text)
    assert matched is not None
    if matched.end() < len(text):
        raise ValueError(
            f"{quoted_short(text)} contains the character {text[matched.end()]!r}, which XML cannot hold; "
            "rename it."
        )
    return text
