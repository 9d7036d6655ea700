"""`clausewise doctor`: a check of the installation."""

import typer
from rich.text import Text

from clausewise.cli import options
from clausewise.cli.errors import reporting_errors
from clausewise.cli.installation import installed, self_test
from clausewise.cli.printing import console, print_json, print_pairs


@reporting_errors
def doctor(as_json: options.AsJson = False, debug: options.Debug = False) -> None:
    """Print versions, optional dependencies and threads, and test the installation on small data."""
    found = installed()
    if not as_json:
        to = console()
        for heading in ("versions", "optional dependencies"):
            to.print(Text(heading))
            print_pairs({f"  {name}": value or "not installed" for name, value in found[heading].items()}, to)
        to.print(Text(f"threads  {found['threads']}"))
    outcomes = self_test()
    if as_json:
        print_json(found | {"self-test": outcomes})
    else:
        for name, outcome in outcomes.items():
            print(f"ok   {name}" if outcome == "ok" else f"FAIL {name}: {outcome}")
    if any(outcome != "ok" for outcome in outcomes.values()):
        raise typer.Exit(1)
