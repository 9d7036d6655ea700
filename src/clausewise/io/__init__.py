"""Rule sets as JSON files, and files that are written whole or not at all."""

from clausewise.io.json import RuleFileError, dumps, load, loads, save

__all__ = ["RuleFileError", "dumps", "load", "loads", "save"]
