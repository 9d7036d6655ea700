"""The kinds of rules that a page can show, and how the page of each is made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from clausewise.base.parameters import Constraint, check_parameters
from clausewise.report.number_payload import (
    NUMBER_REPORT_PARAMETERS,
    number_payload_of,
    number_report_data,
)
from clausewise.report.payload import REPORT_PARAMETERS, payload_of, report_data
from clausewise.report.served_rows import ServedClasses, ServedNumbers, ServedRows
from clausewise.rules import RegressionRules, RuleSet

AnyRules = RuleSet | RegressionRules


@dataclass(frozen=True)
class PageKind:
    """How the page of one kind of rules is made.

    Attributes
    ----------
    rules : str
        What the rules are for, in words.
    parameters : mapping of str to Constraint
        The options of the page.
    data : function of rules, X, y and network
        Makes the data of a page; None without rows.
    payload : function of rules, data and options
        Makes its payload.
    served : function of data
        Makes the rows behind a served page.
    """

    rules: str
    parameters: Mapping[str, Constraint]
    data: Callable[[Any, Any, Any, Any], Any]
    payload: Callable[..., dict[str, Any]]
    served: Callable[[Any], ServedRows[Any]]

    def check(self, options: Mapping[str, Any]) -> None:
        """Check the options of a page, before any other work begins."""
        for name in options:
            if name not in self.parameters:
                raise TypeError(
                    f"{name} is not an option of pages of {self.rules}; these are "
                    f"{', '.join(self.parameters)}."
                )
        check_parameters(self.parameters, options)


_CLASSES: Final = PageKind("rules for classes", REPORT_PARAMETERS, report_data, payload_of, ServedClasses)
_NUMBERS: Final = PageKind(
    "rules for numbers", NUMBER_REPORT_PARAMETERS, number_report_data, number_payload_of, ServedNumbers
)


def page_kind(rules: AnyRules) -> PageKind:
    """Return how the page of these rules is made."""
    return _NUMBERS if isinstance(rules, RegressionRules) else _CLASSES
