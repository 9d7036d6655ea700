"""Limits on what a product of rules may cost, and what happens when one is exceeded."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from clausewise.base.parameters import NOTHING, Constraint, number, one_of, whole
from clausewise.rules import RuleSet

OnLimit = Literal["raise", "truncate"]

LIMITS: Final[Mapping[str, Constraint]] = {
    "max_product_rules": whole(1) | NOTHING,
    "max_seconds": number(above=0) | NOTHING,
    "max_memory": number(above=0) | NOTHING,
    "on_limit": one_of("raise", "truncate"),
}


class ExtractionLimitExceeded(RuntimeError):  # noqa: N818 - it says what happened
    """An extraction would have cost more than its limits allow.

    Attributes
    ----------
    rules : RuleSet
        The rules built so far, over the units of `layer` (or over the inputs).
    layer : str
        The representation whose rules were replacing terms: a hidden layer, or "inputs".
    next_size : int
        The number of rules that the next step would have processed.
    """

    def __init__(self, reason: str, rules: RuleSet, layer: str, next_size: int) -> None:
        super().__init__(
            f"{reason} while replacing terms by rules over {layer!r}: {len(rules):,} rules so far, and the "
            f"next step would have processed {next_size:,}. A larger min_cases gives fewer rules, "
            "drop_lowest drops some, on_limit='truncate' keeps the best-ranked ones."
        )
        self.reason = reason
        self.rules = rules
        self.layer = layer
        self.next_size = next_size

    def __reduce__(self) -> tuple[type, tuple[str, RuleSet, str, int]]:
        return type(self), (self.reason, self.rules, self.layer, self.next_size)


@dataclass
class Limits:
    """Limits on the cost of a product; time counts from the creation of this object.

    Attributes
    ----------
    max_product_rules : int or None
        The most rules of a class, or of a part of a product.
    max_seconds : float or None
        The most seconds of wall time.
    max_memory : int or None
        The most bytes for the rules of one step.
    on_limit : {"raise", "truncate"}
        Whether exceeding a limit is an error, or the best-ranked rules are kept.
    """

    max_product_rules: int | None
    max_seconds: float | None
    max_memory: int | None
    on_limit: OnLimit
    started: float = field(default_factory=time.monotonic)
    n_truncated: int = 0

    def exceeded(self, n_rules: int, n_bytes: int) -> str | None:
        """Describe the limit that these rules exceed; None if they exceed none."""
        if self.max_product_rules is not None and n_rules > self.max_product_rules:
            return f"max_product_rules={self.max_product_rules:,} was exceeded"
        if self.max_memory is not None and n_bytes > self.max_memory:
            return f"max_memory={self.max_memory:,} bytes was exceeded"
        if self.is_late:
            return f"max_seconds={self.max_seconds:g} was exceeded"
        return None

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return self.max_seconds is not None and time.monotonic() - self.started > self.max_seconds
