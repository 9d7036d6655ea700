"""A small engine for the part of PMML 4.4 that rule sets use, written from the specification.

https://dmg.org/pmml/v4-4/ : RuleSet.html, TreeModel.html (predicates), MultipleModels.html (selectFirst),
Transformations.html, BuiltinFunctions.html, MiningSchema.html. Where the specification leaves engines free,
this one is adversarial: it adds weights from the last rule to the first, and refuses to break ties.
"""

import math
import operator
import xml.etree.ElementTree as ET

MISSING = None
NAMESPACE = "{http://www.dmg.org/PMML-4_4}"
COMPARISONS = {
    "equal": operator.eq,
    "lessThan": operator.lt,
    "lessOrEqual": operator.le,
    "greaterThan": operator.gt,
    "greaterOrEqual": operator.ge,
}


class Engine:
    def __init__(self, text):
        self.document = ET.fromstring(text.encode("utf-8"))
        dictionary = child(self.document, "DataDictionary")
        self.fields = {field.get("name"): field for field in dictionary}
        assert int(dictionary.get("numberOfFields")) == len(dictionary) == len(self.fields)
        models = ("RuleSetModel", "MiningModel", "RegressionModel")
        self.model = next(node for node in self.document if tag(node) in models)
        target = next(
            field for field in child(self.model, "MiningSchema") if field.get("usageType") == "target"
        )
        self.target = self.fields[target.get("name")]

    def decide(self, row):
        """Return the class of a row, a mapping from names to values; absent fields are missing."""
        label = self.score(self.model, row)
        assert label in [value.get("value") for value in self.target]
        kind = self.target.get("dataType")
        return {"string": str, "integer": int, "double": float, "boolean": "true".__eq__}[kind](label)

    def predict(self, row):
        """Return the number that a RegressionModel predicts for a row."""
        assert self.model.get("functionName") == "regression"
        values = self.prepared(child(self.model, "MiningSchema"), row)
        self.derive(self.model, values)
        table = child(self.model, "RegressionTable")
        total = float(table.get("intercept"))
        for predictor in table:
            total += float(predictor.get("coefficient")) * values[predictor.get("name")]
        return {"none": float, "exp": math.exp}[self.model.get("normalizationMethod")](total)

    def derive(self, model, values):
        """Compute the derived fields of a model, in order."""
        for derived in children(model, "LocalTransformations"):
            values[derived.get("name")] = self.value(derived[0], values)
            assert derived.get("name") not in self.fields

    def score(self, model, row):
        values = self.prepared(child(model, "MiningSchema"), row)
        if tag(model) == "MiningModel":
            segmentation = child(model, "Segmentation")
            assert segmentation.get("multipleModelMethod") == "selectFirst"
            for segment in segmentation:
                predicate, submodel = segment
                if self.truth(predicate, values) is True:
                    return self.score(submodel, row)
            return MISSING
        self.derive(model, values)
        return self.by_rules(child(model, "RuleSet"), values)

    def prepared(self, schema, row):
        """Return the values of the active fields, typed; invalid ones are treated as the schema says."""
        values = {}
        for mining_field in schema:
            if mining_field.get("usageType") == "target":
                continue
            field = self.fields[mining_field.get("name")]
            value = row.get(field.get("name"), MISSING)
            if value is not MISSING:
                value = self.typed(field.get("name"), value)
                listed = [self.typed(field.get("name"), entry.get("value")) for entry in field]
                if listed and value not in listed:
                    assert mining_field.get("invalidValueTreatment") == "asMissing"
                    value = MISSING
            values[field.get("name")] = value
        return values

    def typed(self, name, value):
        field = self.fields.get(name)
        kind = "double" if field is None else field.get("dataType")  # derived fields here are doubles
        return {"string": str, "double": float}[kind](value)

    # --- Rules ---

    def by_rules(self, rules, values):
        method, *listed = rules
        fired = [rule for rule in listed if self.truth(rule[0], values) is True]
        if not fired:
            return rules.get("defaultScore")
        if method.get("criterion") == "firstHit":
            return fired[0].get("score")
        assert method.get("criterion") == "weightedSum"
        totals = {}
        for rule in reversed(fired):
            totals[rule.get("score")] = totals.get(rule.get("score"), 0.0) + float(rule.get("weight"))
        best = [label for label, total in totals.items() if total == max(totals.values())]
        assert len(best) == 1, "engines disagree on ties"
        return best[0]

    def truth(self, predicate, values):
        """Return True, False, or None for unknown."""
        kind = tag(predicate)
        if kind in ("True", "False"):
            return kind == "True"
        if kind == "CompoundPredicate":
            return self.compound(predicate, values)
        value = values[predicate.get("field")]
        if predicate.get("operator") in ("isNotMissing", "isMissing"):
            return (value is MISSING) == (predicate.get("operator") == "isMissing")
        if value is MISSING:
            return None
        if kind == "SimpleSetPredicate":
            return value in [self.typed(predicate.get("field"), entry) for entry in entries(predicate[0])]
        assert kind == "SimplePredicate"
        other = self.typed(predicate.get("field"), predicate.get("value"))
        return COMPARISONS[predicate.get("operator")](value, other)

    def compound(self, predicate, values):
        found = [self.truth(part, values) for part in predicate]
        assert len(found) >= 2
        decisive = {"and": False, "or": True}[predicate.get("booleanOperator")]
        if decisive in found:
            return decisive
        return None if None in found else not decisive

    # --- Derived fields ---

    def value(self, node, values):
        kind = tag(node)
        if kind == "Constant":
            assert node.get("dataType") == "double"
            return float(node.text)
        if kind == "FieldRef":
            value = values[node.get("field")]
            is_mapped = value is MISSING and node.get("mapMissingTo") is not None
            return self.typed(node.get("field"), node.get("mapMissingTo")) if is_mapped else value
        if kind == "NormDiscrete":
            value = values[node.get("field")]
            if value is MISSING:
                return float(node.get("mapMissingTo"))
            return float(value == self.typed(node.get("field"), node.get("value")))
        assert kind == "Apply"
        return self.applied(node, values)

    def applied(self, node, values):
        function = node.get("function")
        arguments = [self.value(part, values) for part in node]
        if function in ("isNotMissing", "isMissing"):
            return (arguments[0] is MISSING) == (function == "isMissing")
        if MISSING in arguments:
            assert node.get("mapMissingTo") == "false"
            return False
        if function == "if":
            return arguments[1] if arguments[0] else arguments[2]
        if function in ("and", "or"):
            assert len(arguments) >= 2
            return all(arguments) if function == "and" else any(arguments)
        if function in ("max", "min"):
            return max(arguments) if function == "max" else min(arguments)
        first, second = arguments
        arithmetic = {"+": operator.add, "*": operator.mul, "/": operator.truediv}
        return (COMPARISONS | arithmetic)[function](first, second)


def tag(node):
    assert node.tag.startswith(NAMESPACE)
    return node.tag.removeprefix(NAMESPACE)


def child(node, name):
    (found,) = [part for part in node if tag(part) == name]
    return found


def children(node, name):
    return [part for parent in node if tag(parent) == name for part in parent]


def entries(array):
    """Return the items of an Array: separated by spaces, and quoted if they contain spaces."""
    text, found = array.text, []
    while text := text.lstrip(" "):
        if text[0] == '"':
            item, text = text[1:].split('"', 1)
        else:
            item, _, text = text.partition(" ")
        found.append(item)
    assert len(found) == int(array.get("n"))
    return found
