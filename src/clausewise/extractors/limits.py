"""Bounds on what a product of rules may cost, and what happens when one is hit."""

import math
import numbers
import time
from dataclasses import dataclass, field
from typing import Any, Literal

from clausewise.induction.estimator import require_count
from clausewise.rules import RuleSet

OnBudget = Literal["raise", "truncate"]


class ExtractionBudgetExceeded(RuntimeError):  # noqa: N818 - it says what happened
    """An extraction would have cost more than it was allowed to.

    Attributes
    ----------
    rules : RuleSet
        What was built so far: rules over the units of `layer` (or over the inputs).
    layer : str
        The representation that terms were being replaced by: a hidden layer, or "inputs".
    next_size : int
        The number of rules that the next step would have had to look at.
    """

    def __init__(self, reason: str, rules: RuleSet, layer: str, next_size: int) -> None:
        super().__init__(
            f"{reason} while terms were replaced by rules over {layer!r}: {len(rules):,} rules so far, the "
            f"next step would have looked at {next_size:,}. A larger min_cases makes fewer rules, "
            "drop_lowest drops some, on_budget='truncate' keeps the best-ranked part."
        )
        self.reason = reason
        self.rules = rules
        self.layer = layer
        self.next_size = next_size

    def __reduce__(self) -> tuple[type, tuple[str, RuleSet, str, int]]:
        return type(self), (self.reason, self.rules, self.layer, self.next_size)


@dataclass
class Budget:
    """What a product may cost.

    Attributes
    ----------
    max_rules : int or None
        Most rules of a class, or of a part of one.
    max_seconds : float or None
        Most seconds on the clock since the start.
    max_memory : int or None
        Most bytes for the rules of a step.
    on_budget : {"raise", "truncate"}
        Whether a hit bound is an error, or the best-ranked part is kept.
    """

    max_rules: int | None
    max_seconds: float | None
    max_memory: int | None
    on_budget: OnBudget
    started: float = field(default_factory=time.monotonic)
    n_truncated: int = 0

    def __post_init__(self) -> None:
        require_count("max_rules", self.max_rules, 1)
        for name in ("max_seconds", "max_memory"):
            value: Any = getattr(self, name)
            is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
            if value is not None and not (is_number and 0 < value < math.inf):
                raise ValueError(f"{name} is {value!r}; expected a positive number, or None for no bound.")
        if self.on_budget not in ("raise", "truncate"):
            raise ValueError(f"on_budget is {self.on_budget!r}; expected 'raise' or 'truncate'.")

    def hit(self, n_rules: int, n_bytes: int) -> str | None:
        """Which bound so many rules, in so many bytes, would hit now; None if none."""
        if self.max_rules is not None and n_rules > self.max_rules:
            return f"max_rules={self.max_rules:,} was exceeded"
        if self.max_memory is not None and n_bytes > self.max_memory:
            return f"max_memory={self.max_memory:,} bytes was exceeded"
        if self.is_late:
            return f"max_seconds={self.max_seconds:g} was exceeded"
        return None

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return self.max_seconds is not None and time.monotonic() - self.started > self.max_seconds
