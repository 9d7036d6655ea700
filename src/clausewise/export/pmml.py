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

from typing import Final, Generic, TypeVar

import clausewise
from clausewise.export.plan import ExportPlan, IntegerVotes, Plan, PlannedJury, PlannedRule, export_plan
from clausewise.export.pmml_elements import (
    Lines,
    apply,
    categorical_field,
    category_text,
    choose,
    compare,
    compound,
    constant,
    data_type,
    derived_field,
    empty_tag,
    field,
    indicator,
    is_text,
    label_text,
    membership,
    open_tag,
    rule_element,
)
from clausewise.export.row_tests import Above, AtMost, Known, Missing, OneOf, Test
from clausewise.export.text import free_name, header_line
from clausewise.rules.decimals import format_number
from clausewise.rules.ruleset import RuleSet

_MAX_NESTED: Final = 50
"""Maximum number of additions in one derived field; each is nested in the next."""

_WEIGHT_LIMIT: Final = 2**31
"""JPMML reads weights without a decimal point as 32-bit integers."""


def to_pmml(rules: RuleSet) -> str:
    """Return the document; see `RuleSet.to_pmml`.

    Examples
    --------
    >>> from clausewise import RuleSet
    >>> from clausewise.export import to_pmml
    >>> rules = RuleSet.from_text("IF age > 50 THEN high", ["age"], default="low")
    >>> document = to_pmml(rules)  # as rules.to_pmml()
    >>> document.splitlines()[1], "RuleSetModel" in document
    ('<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">', True)
    """
    rules.require_deciding("PMML")
    return _JuryDocument(export_plan(rules), rules).text(header_line(rules))


_Plan = TypeVar("_Plan", bound=Plan)


class Document(Generic[_Plan]):
    """Writes a plan line by line; `_target_field` and `_models` are what kinds of plans differ in."""

    def __init__(self, plan: _Plan, target: str) -> None:
        self._plan = plan
        self._names = plan.features.names
        self._target = self._free(target)

    def _free(self, name: str) -> str:
        return free_name(name, self._names.__contains__)

    def text(self, headline: str) -> str:
        """Return the whole document."""
        return "".join(f"{line}\n" for line in self._lines(headline))

    def _lines(self, description: str) -> Lines:
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield open_tag("PMML", xmlns="http://www.dmg.org/PMML-4_4", version="4.4")
        yield open_tag("Header", description=description)
        yield empty_tag("Application", name="clausewise", version=clausewise.__version__)
        yield "</Header>"
        yield from self._data_dictionary()
        yield from self._models()
        yield "</PMML>"

    def _target_field(self) -> Lines:
        """Yield the declaration of what is predicted."""
        raise NotImplementedError

    def _models(self) -> Lines:
        """Yield the model."""
        raise NotImplementedError

    # --- Fields ---

    def _data_dictionary(self) -> Lines:
        yield open_tag("DataDictionary", numberOfFields=len(self._names) + 1)
        for feature, name in enumerate(self._names):
            if is_text(self._plan.features.categories[feature]):
                yield from categorical_field(name, "string", self._listed_categories(feature))
            else:  # PMML4S does not accept fractions as categories; comparing them as numbers is equivalent
                yield empty_tag("DataField", name=name, optype="continuous", dataType="double")
        yield from self._target_field()
        yield "</DataDictionary>"

    def _mining_schema(self) -> Lines:
        yield "<MiningSchema>"
        for feature, name in enumerate(self._names):
            if self._listed_categories(feature):  # an unknown category, like a missing one, is in no set
                yield empty_tag("MiningField", name=name, invalidValueTreatment="asMissing")
            else:
                yield empty_tag("MiningField", name=name)
        yield empty_tag("MiningField", name=self._target, usageType="target")
        yield "</MiningSchema>"

    def _listed_categories(self, feature: int) -> list[str]:
        """Return the texts that are declared as valid; none if any text is.

        A text that is not declared becomes a missing value. Where a rule tests for these, it must not.
        """
        categories = self._plan.features.categories[feature]
        if not is_text(categories) or feature in self._plan.tested_for_missing:
            return []
        return [category_text(value) for value in categories or ()]

    # --- Totals in derived fields ---

    def _total_fields(self, jury: PlannedJury, class_index: int) -> Lines:
        """Yield fields that add the votes of the rules to the start, in order; the last is the total."""
        total = constant(jury.start[class_index])
        rules = jury.by_class[class_index]
        for begin in range(0, len(rules), _MAX_NESTED):
            for rule in rules[begin : begin + _MAX_NESTED]:
                total = apply("+", [total, field(self._votes_of(rule))])
            if begin + _MAX_NESTED < len(rules):
                part = self._field_name(jury, f"votes for class {class_index} up to rule {rule.number}")
                yield from derived_field(part, total)
                total = field(part)
        if jury.divisors[class_index] != 1:
            total = apply("/", [total, constant(jury.divisors[class_index])])
        yield from derived_field(self._total(jury, class_index), total)

    def _votes_expression(self, rule: PlannedRule) -> str:
        tests = [self._expression(self._plan.tests[test]) for test in rule.tests]
        if not tests:
            return constant(rule.votes)
        return choose(tests[0] if len(tests) == 1 else apply("and", tests), rule.votes)

    def _expression(self, test: Test) -> str:
        name = self._names[test.feature]
        match test:
            case Above():
                return apply("greaterThan", [field(name), constant(test.bound)], mapMissingTo="false")
            case AtMost():
                return apply("lessOrEqual", [field(name), constant(test.bound)], mapMissingTo="false")
            case Known():
                return apply("isNotMissing", [field(name)])
            case Missing():
                return apply("isMissing", [field(name)])
            case OneOf():
                is_value = [apply("equal", [indicator(name, value), constant(1.0)]) for value in test.values]
                return is_value[0] if len(is_value) == 1 else apply("or", is_value)

    def _field_name(self, jury: PlannedJury, name: str) -> str:
        return self._free(f"{'priority: ' if jury.has_priority else ''}{name}")

    def _votes_of(self, rule: PlannedRule) -> str:
        return self._free(f"votes of rule {rule.number}")

    def _total(self, jury: PlannedJury, class_index: int) -> str:
        return self._field_name(jury, f"votes for class {class_index}")


class _JuryDocument(Document[ExportPlan]):
    """Writes the juries of one rule set."""

    def __init__(self, plan: ExportPlan, rules: RuleSet) -> None:
        super().__init__(plan, "decision")
        self._rules = rules

    def _target_field(self) -> Lines:
        labels = [self._plan.labels[index] for index in self._plan.by_rank]
        yield from categorical_field(self._target, data_type(labels[0]), map(label_text, labels))

    def _models(self) -> Lines:
        *priority, ordinary = self._plan.juries
        if priority:
            yield from self._segmentation(priority[0], ordinary)
        else:
            yield from self._model(ordinary)

    def _segmentation(self, priority: PlannedJury, ordinary: PlannedJury) -> Lines:
        """Yield both models: the first applies where one of its rules fires, the second elsewhere."""
        yield open_tag("MiningModel", functionName="classification")
        yield from self._mining_schema()
        yield open_tag("Segmentation", multipleModelMethod="selectFirst")
        yield open_tag("Segment", id="priority")
        yield from compound("or", [self._premise(rule) for rule in priority.rules], "<False/>")
        yield from self._model(priority)
        yield "</Segment>"
        yield open_tag("Segment", id="others")
        yield "<True/>"
        yield from self._model(ordinary)
        yield "</Segment>"
        yield "</Segmentation>"
        yield "</MiningModel>"

    def _model(self, jury: PlannedJury) -> Lines:
        integers = self._integer_votes(jury)
        yield open_tag("RuleSetModel", functionName="classification", algorithmName="clausewise")
        yield from self._mining_schema()
        if integers is None:
            yield from self._derived_totals(jury)
        yield open_tag("RuleSet", defaultScore=self._score(self._plan.by_rank[0]), defaultConfidence=0)
        if integers is None:
            yield from self._rules_on_totals(jury)
        else:
            yield from self._rules_with_weights(jury, integers)
        yield "</RuleSet>"
        yield "</RuleSetModel>"

    def _rules_with_weights(self, jury: PlannedJury, integers: IntegerVotes) -> Lines:
        yield empty_tag("RuleSelectionMethod", criterion="weightedSum")
        for class_index, weight in zip(self._plan.by_rank, self._start_weights(integers), strict=True):
            yield from rule_element(
                f"start {class_index}", self._score(class_index), ["<True/>"], weight=weight
            )
        for rule, votes in zip(jury.rules, integers.votes, strict=True):
            if votes != 0:
                confidence = format_number(self._rules.columns.confidence[rule.number])
                score, weight = self._score(rule.class_index), votes * len(self._plan.labels)
                premise = self._premise(rule)
                yield from rule_element(
                    f"rule {rule.number}", score, premise, confidence=confidence, weight=weight
                )

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
        return label_text(self._plan.labels[class_index])

    # --- Premises as predicates ---

    def _premise(self, rule: PlannedRule) -> list[str]:
        return list(compound("and", [[*self._predicate(self._plan.tests[test])] for test in rule.tests]))

    def _predicate(self, test: Test) -> Lines:
        name = self._names[test.feature]
        match test:
            case Above():
                yield compare(name, "greaterThan", format_number(test.bound))
            case AtMost():
                yield compare(name, "lessOrEqual", format_number(test.bound))
            case Known():
                yield empty_tag("SimplePredicate", field=name, operator="isNotMissing")
            case Missing():
                yield empty_tag("SimplePredicate", field=name, operator="isMissing")
            case OneOf():
                yield from membership(name, test.values)

    # --- Totals in derived fields ---

    def _derived_totals(self, jury: PlannedJury) -> Lines:
        yield "<LocalTransformations>"
        for rule in jury.rules:
            yield from derived_field(self._votes_of(rule), self._votes_expression(rule))
        classes = range(len(self._plan.labels))
        for class_index in classes:
            yield from self._total_fields(jury, class_index)
        totals = [field(self._total(jury, class_index)) for class_index in classes]
        most = self._field_name(jury, "most votes")
        # With a single class there is no maximum to compute.
        yield from derived_field(most, apply("max", totals) if len(totals) > 1 else totals[0])
        for class_index in classes:
            is_largest = apply("equal", [field(self._total(jury, class_index)), field(most)])
            yield from derived_field(self._has_most_votes(jury, class_index), choose(is_largest, 1.0))
        yield "</LocalTransformations>"

    def _rules_on_totals(self, jury: PlannedJury) -> Lines:
        yield empty_tag("RuleSelectionMethod", criterion="firstHit")
        for class_index in self._plan.by_rank:
            premise = [compare(self._has_most_votes(jury, class_index), "equal", "1")]
            yield from rule_element(f"class {class_index}", self._score(class_index), premise)

    def _has_most_votes(self, jury: PlannedJury, class_index: int) -> str:
        return self._field_name(jury, f"class {class_index} has most votes")
