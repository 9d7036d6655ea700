"""A rule set as a PMML 4.4 document with a RuleSetModel.

PMML's selection method `weightedSum` adds up the weights of the rules that fire, class by class. The order of
additions is not specified, and engines break ties differently (the specification: in favour of the class that
the data dictionary lists first; PMML4S and JPMML: otherwise). Weights are therefore integers, whose sums do
not depend on the order, and no two totals are ever equal: all votes are multiplied by the number of classes,
and one rule per class that always fires adds the base votes and a rank (0, 1, 2, …) that decides ties. Shares
are multiplied by a common multiple of their divisors, fractions by a power of 2.

If these integers would be too large, as with most fitted weights, the totals are computed in derived fields,
whose expressions fix the order of additions, and the rules of the model (`firstHit`) only select the class
with the largest total.

Rules with priority are a separate model, which comes first in a segmentation.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

import clausewise
from clausewise.data.labels import Label
from clausewise.data.table import Category
from clausewise.export.plan import ExportPlan, IntegerVotes, PlannedJury, PlannedRule, export_plan
from clausewise.export.row_tests import Above, AtMost, Known, Missing, OneOf, Test
from clausewise.export.text import free_name, one_line, quoted_short
from clausewise.rules.decimals import format_number
from clausewise.rules.ruleset import RuleSet

_MAX_NESTED: Final = 50
"""Maximum number of additions in one derived field; each is nested in the next."""

_WEIGHT_LIMIT: Final = 2**31
"""JPMML reads weights without a decimal point as 32-bit integers."""

Lines = Iterator[str]


def to_pmml(rules: RuleSet) -> str:
    """Return the document; see `RuleSet.to_pmml`."""
    return "".join(f"{line}\n" for line in _Document(export_plan(rules), rules).lines())


class _Document:
    """Writes a plan line by line."""

    def __init__(self, plan: ExportPlan, rules: RuleSet) -> None:
        self._plan = plan
        self._rules = rules
        self._names = plan.features.names
        self._target = self._free("decision")

    def _free(self, name: str) -> str:
        return free_name(name, self._names.__contains__)

    def lines(self) -> Lines:
        """Yield the lines of the whole document."""
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield _open("PMML", xmlns="http://www.dmg.org/PMML-4_4", version="4.4")
        yield _open("Header", description=one_line(self._rules.headline))
        yield _empty("Application", name="clausewise", version=clausewise.__version__)
        yield "</Header>"
        yield from self._data_dictionary()
        *priority, ordinary = self._plan.juries
        if priority:
            yield from self._segmentation(priority[0], ordinary)
        else:
            yield from self._model(ordinary)
        yield "</PMML>"

    # --- Fields ---

    def _data_dictionary(self) -> Lines:
        yield _open("DataDictionary", numberOfFields=len(self._names) + 1)
        for feature, name in enumerate(self._names):
            if _is_text(self._plan.features.categories[feature]):
                yield from _categorical_field(name, "string", self._listed_categories(feature))
            else:  # PMML4S does not accept fractions as categories; comparing them as numbers is equivalent
                yield _empty("DataField", name=name, optype="continuous", dataType="double")
        labels = [self._plan.labels[index] for index in self._plan.by_rank]
        yield from _categorical_field(self._target, _data_type(labels[0]), map(_label, labels))
        yield "</DataDictionary>"

    def _mining_schema(self) -> Lines:
        yield "<MiningSchema>"
        for feature, name in enumerate(self._names):
            if self._listed_categories(feature):  # an unknown category, like a missing one, is in no set
                yield _empty("MiningField", name=name, invalidValueTreatment="asMissing")
            else:
                yield _empty("MiningField", name=name)
        yield _empty("MiningField", name=self._target, usageType="target")
        yield "</MiningSchema>"

    def _listed_categories(self, feature: int) -> list[str]:
        """Return the texts that are declared as valid; none if any text is.

        A text that is not declared becomes a missing value. Where a rule tests for these, it must not.
        """
        categories = self._plan.features.categories[feature]
        if not _is_text(categories) or feature in self._plan.tested_for_missing:
            return []
        return [_category(value) for value in categories or ()]

    # --- Models ---

    def _segmentation(self, priority: PlannedJury, ordinary: PlannedJury) -> Lines:
        """Yield both models: the first applies where one of its rules fires, the second elsewhere."""
        yield _open("MiningModel", functionName="classification")
        yield from self._mining_schema()
        yield _open("Segmentation", multipleModelMethod="selectFirst")
        yield _open("Segment", id="priority")
        yield from _compound("or", [self._premise(rule) for rule in priority.rules], "<False/>")
        yield from self._model(priority)
        yield "</Segment>"
        yield _open("Segment", id="others")
        yield "<True/>"
        yield from self._model(ordinary)
        yield "</Segment>"
        yield "</Segmentation>"
        yield "</MiningModel>"

    def _model(self, jury: PlannedJury) -> Lines:
        integers = self._integer_votes(jury)
        yield _open("RuleSetModel", functionName="classification", algorithmName="clausewise")
        yield from self._mining_schema()
        if integers is None:
            yield from self._derived_totals(jury)
        yield _open("RuleSet", defaultScore=self._score(self._plan.by_rank[0]), defaultConfidence=0)
        if integers is None:
            yield from self._rules_on_totals(jury)
        else:
            yield from self._rules_with_weights(jury, integers)
        yield "</RuleSet>"
        yield "</RuleSetModel>"

    def _rules_with_weights(self, jury: PlannedJury, integers: IntegerVotes) -> Lines:
        yield _empty("RuleSelectionMethod", criterion="weightedSum")
        for class_index, weight in zip(self._plan.by_rank, self._start_weights(integers), strict=True):
            yield from _rule(f"start {class_index}", self._score(class_index), ["<True/>"], weight=weight)
        for rule, votes in zip(jury.rules, integers.votes, strict=True):
            if votes != 0:
                confidence = format_number(self._rules.columns.confidence[rule.number])
                score, weight = self._score(rule.class_index), votes * len(self._plan.labels)
                premise = self._premise(rule)
                yield from _rule(f"rule {rule.number}", score, premise, confidence=confidence, weight=weight)

    def _integer_votes(self, jury: PlannedJury) -> IntegerVotes | None:
        """Return integer votes, or None if their sums times the number of classes may be too large."""
        integers = jury.integer_votes()
        n_classes = len(self._plan.labels)
        fits = integers is not None and (integers.largest_sum + n_classes) * n_classes < _WEIGHT_LIMIT
        return integers if fits else None

    def _start_weights(self, integers: IntegerVotes) -> list[int]:
        """Return the weights that classes start with, by rank; the rank makes all totals different."""
        n_classes = len(self._plan.labels)
        return [
            integers.start[class_index] * n_classes + n_classes - 1 - rank
            for rank, class_index in enumerate(self._plan.by_rank)
        ]

    def _score(self, class_index: int) -> str:
        return _label(self._plan.labels[class_index])

    # --- Premises as predicates ---

    def _premise(self, rule: PlannedRule) -> list[str]:
        return list(_compound("and", [[*self._predicate(self._plan.tests[test])] for test in rule.tests]))

    def _predicate(self, test: Test) -> Lines:
        name = self._names[test.feature]
        match test:
            case Above():
                yield _compare(name, "greaterThan", format_number(test.bound))
            case AtMost():
                yield _compare(name, "lessOrEqual", format_number(test.bound))
            case Known():
                yield _empty("SimplePredicate", field=name, operator="isNotMissing")
            case Missing():
                yield _empty("SimplePredicate", field=name, operator="isMissing")
            case OneOf():
                yield from _membership(name, test.values)

    # --- Totals in derived fields ---

    def _derived_totals(self, jury: PlannedJury) -> Lines:
        yield "<LocalTransformations>"
        for rule in jury.rules:
            yield from _derived(self._votes_of(rule), self._votes_expression(rule))
        classes = range(len(self._plan.labels))
        for class_index in classes:
            yield from self._total_fields(jury, class_index)
        totals = [_field(self._total(jury, class_index)) for class_index in classes]
        most = self._field_name(jury, "most votes")
        # With a single class there is no maximum to compute.
        yield from _derived(most, _apply("max", totals) if len(totals) > 1 else totals[0])
        for class_index in classes:
            is_largest = _apply("equal", [_field(self._total(jury, class_index)), _field(most)])
            yield from _derived(self._has_most_votes(jury, class_index), _if(is_largest, 1.0))
        yield "</LocalTransformations>"

    def _total_fields(self, jury: PlannedJury, class_index: int) -> Lines:
        """Yield fields that add the votes of the rules to the start, in order; the last is the total."""
        total = _constant(jury.start[class_index])
        rules = jury.by_class[class_index]
        for begin in range(0, len(rules), _MAX_NESTED):
            for rule in rules[begin : begin + _MAX_NESTED]:
                total = _apply("+", [total, _field(self._votes_of(rule))])
            if begin + _MAX_NESTED < len(rules):
                part = self._field_name(jury, f"votes for class {class_index} up to rule {rule.number}")
                yield from _derived(part, total)
                total = _field(part)
        if jury.divisors[class_index] != 1:
            total = _apply("/", [total, _constant(jury.divisors[class_index])])
        yield from _derived(self._total(jury, class_index), total)

    def _votes_expression(self, rule: PlannedRule) -> str:
        tests = [self._expression(self._plan.tests[test]) for test in rule.tests]
        if not tests:
            return _constant(rule.votes)
        return _if(tests[0] if len(tests) == 1 else _apply("and", tests), rule.votes)

    def _expression(self, test: Test) -> str:
        name = self._names[test.feature]
        match test:
            case Above():
                return _apply("greaterThan", [_field(name), _constant(test.bound)], mapMissingTo="false")
            case AtMost():
                return _apply("lessOrEqual", [_field(name), _constant(test.bound)], mapMissingTo="false")
            case Known():
                return _apply("isNotMissing", [_field(name)])
            case Missing():
                return _apply("isMissing", [_field(name)])
            case OneOf():
                is_value = [
                    _apply("equal", [_indicator(name, value), _constant(1.0)]) for value in test.values
                ]
                return is_value[0] if len(is_value) == 1 else _apply("or", is_value)

    def _rules_on_totals(self, jury: PlannedJury) -> Lines:
        yield _empty("RuleSelectionMethod", criterion="firstHit")
        for class_index in self._plan.by_rank:
            premise = [_compare(self._has_most_votes(jury, class_index), "equal", "1")]
            yield from _rule(f"class {class_index}", self._score(class_index), premise)

    def _field_name(self, jury: PlannedJury, name: str) -> str:
        return self._free(f"{'priority: ' if jury.has_priority else ''}{name}")

    def _votes_of(self, rule: PlannedRule) -> str:
        return self._free(f"votes of rule {rule.number}")

    def _total(self, jury: PlannedJury, class_index: int) -> str:
        return self._field_name(jury, f"votes for class {class_index}")

    def _has_most_votes(self, jury: PlannedJury, class_index: int) -> str:
        return self._field_name(jury, f"class {class_index} has most votes")


# --- Elements ---


def _rule(identity: str, score: str, premise: Iterable[str], **attributes: object) -> Lines:
    yield _open("SimpleRule", id=identity, score=score, **attributes)
    yield from premise
    yield "</SimpleRule>"


def _compound(operator: str, predicates: Sequence[Sequence[str]], nothing: str = "<True/>") -> Lines:
    """Yield predicates joined by an operator; PMML does not allow fewer than two."""
    if len(predicates) < 2:
        yield from predicates[0] if predicates else [nothing]
        return
    yield _open("CompoundPredicate", booleanOperator=operator)
    for predicate in predicates:
        yield from predicate
    yield "</CompoundPredicate>"


def _compare(field: str, operator: str, value: str) -> str:
    return _empty("SimplePredicate", field=field, operator=operator, value=value)


def _membership(field: str, values: Sequence[Category]) -> Lines:
    """Yield a test for a set: an array, unless texts need escapes, on which engines disagree."""
    texts = [_category(value) for value in values]
    if len(texts) == 1 or not all(map(_is_plain, texts)):
        yield from _compound("or", [[_compare(field, "equal", text)] for text in texts])
        return
    kind = "string" if isinstance(values[0], str) else "real"
    listed = " ".join(f'"{_content(text)}"' if kind == "string" else text for text in texts)
    yield _open("SimpleSetPredicate", field=field, booleanOperator="isIn")
    yield f"{_open('Array', n=len(texts), type=kind)}{listed}</Array>"
    yield "</SimpleSetPredicate>"


def _is_plain(text: str) -> bool:
    return bool(text) and text.isprintable() and '"' not in text and "\\" not in text


def _categorical_field(name: str, data_type: str, values: Iterable[str]) -> Lines:
    yield _open("DataField", name=name, optype="categorical", dataType=data_type)
    for value in values:
        yield _empty("Value", value=value)
    yield "</DataField>"


def _derived(name: str, expression: str) -> Lines:
    yield _open("DerivedField", name=name, optype="continuous", dataType="double")
    yield expression
    yield "</DerivedField>"


def _apply(function: str, arguments: Iterable[str], **attributes: object) -> str:
    return f"{_open('Apply', function=function, **attributes)}{''.join(arguments)}</Apply>"


def _if(condition: str, then: float) -> str:
    return _apply("if", [condition, _constant(then), _constant(0.0)])


def _field(name: str) -> str:
    return _empty("FieldRef", field=name)


def _indicator(name: str, value: Category) -> str:
    # The category is an attribute, in which engines keep leading and trailing spaces.
    return _empty("NormDiscrete", field=name, value=_category(value), mapMissingTo=0)


def _constant(number: float) -> str:
    return f'<Constant dataType="double">{format_number(number)}</Constant>'


# --- Values ---


def _is_text(categories: Sequence[Category] | None) -> bool:
    return categories is not None and any(isinstance(value, str) for value in categories)


def _category(value: Category) -> str:
    return value if isinstance(value, str) else format_number(float(value))


def _label(value: Label) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value) if isinstance(value, float) else str(value)


def _data_type(label: Label) -> str:
    if isinstance(label, bool):
        return "boolean"
    if isinstance(label, int):
        return "integer"
    return "double" if isinstance(label, float) else "string"


# --- XML ---

# The characters that an XML 1.0 document may contain, literally or as references.
_XML_TEXT: Final = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


def _open(tag: str, **attributes: object) -> str:
    return f"<{tag}{_attributes(attributes)}>"


def _empty(tag: str, **attributes: object) -> str:
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
