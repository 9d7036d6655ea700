"""Given rules as premises from which a search starts."""

from typing import Any

from clausewise.compact.bins import Bins
from clausewise.compact.model import Member
from clausewise.rules.display import describe_premise
from clausewise.rules.rule import Origin
from clausewise.rules.stored import StoredRules


def seed_members(rules: StoredRules[Any], bins: Bins) -> list[Member]:
    """Return the premises of rules, each once, in the bins of a table."""
    boxes = bins.boxes_of(rules)
    rows, costs = bins.covered(boxes), bins.reading_costs(boxes).tolist()
    seen = set()
    seeds = []
    for number, box in enumerate(boxes):
        if box and box not in seen:
            seen.add(box)
            seeds.append(Member(box, rows[number], _origin(rules, number), costs[number]))
    return seeds


def _origin(rules: StoredRules[Any], number: int) -> Origin:
    """Return the origin of a seed; a rule without an origin is its own."""
    origin = rules.columns.origins[number]
    if origin is not None:
        return origin
    return Origin("rule", describe_premise(rules.columns, number, rules.features))
