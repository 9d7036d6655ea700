"""Examples at the end of `clausewise COMMAND --help`; the tests run them."""

from collections.abc import Mapping
from typing import Final

# At most 76 characters each, so that a terminal with 80 columns does not break them.
EXAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "demo": ("clausewise demo", "clausewise demo somewhere/else"),
    "extract": (
        "clausewise extract model.skops rows.csv -o rules.json --target decision",
        "clausewise extract model.skops rows.csv -o small.json --max-conditions 20",
    ),
    "evaluate": (
        "clausewise evaluate rules.json rows.csv --target decision",
        "clausewise evaluate rules.json rows.csv --model model.skops --json",
    ),
    "predict": (
        "clausewise predict rules.json rows.csv -o decided.parquet --keep --proba",
        "clausewise predict rules.json - < rows.csv > decided.csv",
    ),
    "explain": (
        "clausewise explain rules.json rows.csv --row 3 --row 8",
        "clausewise explain rules.json rows.csv --counterfactuals --fixed age",
    ),
    "compact": (
        "clausewise compact rules.json rows.csv --target decision -o small.json",
        "clausewise compact rules.json rows.csv --model model.skops --max-rules 4",
    ),
    "simplify": (
        "clausewise simplify rules.json -o shorter.json",
        "clausewise simplify rules.json rows.csv --tolerance 0.02 -o rough.txt",
    ),
    "compare": (
        "clausewise compare rules.json small.json",
        "clausewise compare rules.json small.json rows.csv",
    ),
    "validate": (
        "clausewise validate rules.json model.skops fresh.csv -o validation.html",
        "clausewise validate rules.json model.skops rows.csv --overlap drop",
    ),
    "export": (
        "clausewise export rules.json --to sql --table patients --dialect duckdb",
        "clausewise export rules.json --to python -o rules.py",
    ),
    "report": (
        "clausewise report rules.json -o report.html",
        "clausewise report rules.json rows.csv --model model.skops --title Advice",
    ),
    "explore": (
        "clausewise explore rules.json",
        "clausewise explore rules.json --data rows.csv --model model.skops",
    ),
    "doctor": ("clausewise doctor", "clausewise doctor --json"),
}


def help_ending(command: str) -> str:
    """Return the text that ends the help of a command."""
    # A paragraph that begins with \b keeps its lines, with rich and without it.
    return "\b\n" + "\n".join(["Examples:", *(f"  {line}" for line in EXAMPLES[command])])
