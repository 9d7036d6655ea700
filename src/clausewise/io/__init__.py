"""Rule sets as JSON files, and files that are written whole or not at all."""

from clausewise.io.json import dumps, load, load_any, load_numbers, loads, loads_any, loads_numbers, save
from clausewise.io.values import RuleFileError

__all__ = [
    "RuleFileError",
    "dumps",
    "load",
    "load_any",
    "load_numbers",
    "loads",
    "loads_any",
    "loads_numbers",
    "save",
]
