"""Rules for numbers as text: base, linear terms and link in a header, then rules that add numbers.

FEATURE income NUMERIC
RESPONSE price
BASE 2.07
LINEAR income 0.43 WITH fill 3.9, low 0.5, high 15

IF income > 5.1 THEN ADD 1.4 WITH cover 120
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from clausewise.data.features import Features
from clausewise.rules.columns import ResponseColumns
from clausewise.rules.decimals import format_number
from clausewise.rules.linear import LinearTerm
from clausewise.rules.regression import RegressionRules
from clausewise.rules.regression_rule import RegressionRule
from clausewise.rules.stored import as_features
from clausewise.rules.sums import LINKS
from clausewise.rules.text.headers import DocumentReader, write_features
from clausewise.rules.text.premises import PremiseReader
from clausewise.rules.text.vocabulary import Vocabulary
from clausewise.rules.text.write import write_name, write_origin, write_premise

_STATISTICS: Final = ("cover", "mean", "lower", "upper")
_OF_LINEAR_TERMS: Final = {"fill": 0.0, "low": -math.inf, "high": math.inf}


# --- Writing ---


def write_regression(rules: RegressionRules) -> str:
    """Write a whole rule set, from which `read_regression` makes an equal one.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.rules.text import read_regression, write_regression
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> text = write_regression(rules)
    >>> print(text, end="")
    FEATURE rooms NUMERIC
    BASE 1.5
    <BLANKLINE>
    IF rooms > 4 THEN ADD 0.7
    >>> read_regression(text) == rules
    True
    """
    return "\n".join([*_write_header(rules), "", *write_regression_rules(rules), ""])


def write_regression_rules(rules: RegressionRules) -> Iterator[str]:
    """Write each rule as one line.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.rules.text import write_regression_rules
    >>> rules = RegressionRules.from_text(
    ...     "IF rooms > 4 THEN ADD 0.7 IF rooms > 4 AND age > 50 THEN ADD -0.4", ["rooms", "age"]
    ... )
    >>> list(write_regression_rules(rules))
    ['IF rooms > 4 THEN ADD 0.7', 'IF rooms > 4 AND age > 50 THEN ADD -0.4']
    """
    for number in range(len(rules)):
        yield write_regression_rule(rules.columns, number, rules.features)


def write_regression_rule(columns: ResponseColumns, number: int, features: Features) -> str:
    """Write one rule, `IF income > 5.1 THEN ADD 1.4 WITH cover 120`; unknown statistics are omitted.

    Examples
    --------
    >>> from clausewise import RegressionRules
    >>> from clausewise.rules.text import write_regression_rule
    >>> rules = RegressionRules.from_text("BASE 1.5 IF rooms > 4 THEN ADD 0.7 WITH cover 120", ["rooms"])
    >>> write_regression_rule(rules.columns, 0, rules.features)
    'IF rooms > 4 THEN ADD 0.7 WITH cover 120'
    """
    text = f"IF {write_premise(columns, number, features)} THEN ADD {format_number(columns.weight[number])}"
    values = {name: float(getattr(columns, name)[number]) for name in _STATISTICS}
    is_known = {"cover": values["cover"] > 0} | {
        name: not math.isnan(values[name]) for name in _STATISTICS[1:]
    }
    properties = [f"{name} {format_number(value)}" for name, value in values.items() if is_known[name]]
    properties += write_origin(columns.origins[number])
    return f"{text} WITH {', '.join(properties)}" if properties else text


def _write_header(rules: RegressionRules) -> Iterator[str]:
    yield from write_features(rules.features)
    if rules.response is not None:
        yield f"RESPONSE {write_name(rules.response)}"
    if rules.response_range is not None:
        low, high = map(format_number, rules.response_range)
        yield f"RANGE {low} TO {high}"
    if rules.link != "identity":
        yield f"LINK {rules.link}"
    yield f"BASE {format_number(rules.base)}"
    for term in rules.linear:
        parts = [
            f"{name} {format_number(getattr(term, name))}"
            for name, default in _OF_LINEAR_TERMS.items()
            if getattr(term, name) != default
        ]
        properties = f" WITH {', '.join(parts)}" if parts else ""
        yield f"LINEAR {write_name(term.name)} {format_number(term.coefficient)}{properties}"


# --- Reading ---

_OF_NUMBERS: Final = re.compile(r"^\s*(RESPONSE|RANGE|LINK|LINEAR)\b|\bTHEN\s+ADD\s+[-+.\d]", re.I | re.M)
_OF_CLASSES: Final = re.compile(r"^\s*(CLASSES|DEFAULT|VOTING)\b", re.I | re.M)


def is_for_numbers(text: str) -> bool:
    """Return whether a text has the statements of rules for numbers, and none of rules for classes.

    Examples
    --------
    >>> from clausewise.rules.text import is_for_numbers
    >>> is_for_numbers("IF age > 50 THEN ADD 1.5"), is_for_numbers("IF age > 50 THEN high")
    (True, False)
    """
    return _OF_NUMBERS.search(text) is not None and _OF_CLASSES.search(text) is None


def read_regression(text: str, features: Features | Sequence[str] | None = None) -> RegressionRules:
    """Read a rule set for numbers; features that the text declares take precedence over given ones.

    Examples
    --------
    >>> from clausewise.rules.text import read_regression
    >>> rules = read_regression("BASE 1.5 IF rooms > 4 THEN ADD 0.7", ["rooms"])
    >>> rules.predict([[3], [5]]).tolist()
    [1.5, 2.2]
    """
    reader = _DocumentReader(text, Vocabulary(None if features is None else as_features(features)))
    rules = reader.everything()
    known = reader.known_features()
    linear = reader.linear_terms()
    return reader.build(lambda: RegressionRules.from_rules(rules, known, linear=linear, **reader.settings), 0)


def read_regression_rules(text: str, features: Features) -> list[RegressionRule]:
    """Read a text that holds rules only, about known features.

    Examples
    --------
    >>> from clausewise import Features
    >>> from clausewise.rules.text import read_regression_rules
    >>> features = Features(("rooms", "age"))
    >>> for rule in read_regression_rules("IF rooms > 4 THEN ADD 0.7 IF age > 50 THEN ADD -0.4", features):
    ...     print(rule)
    IF rooms > 4 THEN +0.7
    IF age > 50 THEN -0.4
    """
    return RegressionReader(text, Vocabulary(features)).only_rules()


class RegressionReader(PremiseReader[RegressionRule]):
    """Reads rules that add numbers."""

    def rule(self) -> RegressionRule:
        """Read `IF` premise `THEN` `ADD` number [`WITH` properties]."""
        position = self.token.position
        self.expect("IF")
        terms = self.premise()
        self.expect("THEN")
        self.expect("ADD")
        addition = self.number()
        properties = self.properties(_STATISTICS) if self.take("WITH") else {}
        if ("lower" in properties) != ("upper" in properties):
            self.fail("lower and upper belong together; write both or neither", position)
        if "lower" in properties:
            properties["interval"] = (properties.pop("lower"), properties.pop("upper"))
        return self.build(lambda: RegressionRule(terms, addition, **properties), position)


class _DocumentReader(DocumentReader[RegressionRule], RegressionReader):
    """Reads rules that add numbers with their header."""

    def __init__(self, text: str, known: Vocabulary) -> None:
        super().__init__(text, known)
        self.settings: dict[str, Any] = {}
        # Read before the features may be complete: place, name, coefficient and properties.
        self._linear: list[tuple[int, str, float, dict[str, float]]] = []

    def statements(self) -> dict[str, Callable[[], None]]:
        """Return what reads each statement of the header."""
        return {
            **super().statements(),
            "RESPONSE": self._response,
            "RANGE": self._range,
            "LINK": self._link,
            "BASE": self._base,
            "LINEAR": self._linear_term,
        }

    def _response(self) -> None:
        self.settings["response"] = self.name()

    def _range(self) -> None:
        position = self.token.position
        low = self.number()
        self.expect("TO")
        high = self.number()
        if not low <= high:
            self.fail("RANGE must ascend: the smallest response, TO, the largest", position)
        self.settings["response_range"] = (low, high)

    def _link(self) -> None:
        self.settings["link"] = self.one_of(LINKS)

    def _base(self) -> None:
        self.settings["base"] = self.number()

    def _linear_term(self) -> None:
        position, name = self.token.position, self.name()
        coefficient = self.number()
        given: dict[str, float] = {}
        more = self.take("WITH")
        while more:
            place = self.token.position
            key = self.one_of(tuple(_OF_LINEAR_TERMS))
            if key in given:
                self.fail(f"{key} is given twice", place)
            given[key] = self.number()
            more = self.take(",")
        self._linear.append((position, name, coefficient, given))

    def linear_terms(self) -> list[LinearTerm]:
        """Return the linear terms, once all features are known."""
        return [
            self._built(position, self.feature_named(name, position), coefficient, given)
            for position, name, coefficient, given in self._linear
        ]

    def _built(self, position: int, feature: int, coefficient: float, given: dict[str, float]) -> LinearTerm:
        name = self.known_features().names[feature]
        return self.build(lambda: LinearTerm(feature, name, coefficient, **given), position)
