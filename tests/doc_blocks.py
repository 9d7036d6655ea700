"""Read the fenced blocks of a documentation page, and run its examples and commands."""

import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from typer.testing import CliRunner

from clausewise.cli.app import app

ROOT = Path(__file__).parents[1]


class Block(NamedTuple):
    language: str
    text: str
    follows_directly: bool  # only blank lines separate it from the previous block


def blocks(page: str) -> list[Block]:
    """Return all fenced blocks of a page in the repository, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found, end = [], 0
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        found.append(Block(match[1], match[2], not text[end : match.start()].strip()))
        end = match.end()
    return found


def first_block(page: str, language: str) -> str:
    return next(block.text for block in blocks(page) if block.language == language)


def run_examples(page: str, capsys, namespace: dict | None = None) -> int:
    """Run the Python blocks of a page in order and in one namespace; return how many were run.

    A block without a language that directly follows a Python block shows what that block prints.
    """
    namespace = {} if namespace is None else namespace
    n_run = 0
    for block, following in pairwise([*blocks(page), None]):
        if block.language != "python":
            continue
        exec(compile(block.text, f"{page}, Python block {n_run}", "exec"), namespace)
        n_run += 1
        printed = capsys.readouterr().out
        if following is not None and following.language == "" and following.follows_directly:
            assert printed == following.text
    return n_run


def run_command(line: str) -> str:
    """Run `clausewise …` in this process, with `< file` and `> file` as in a shell; return what it prints."""
    program, *arguments = shlex.split(line)
    assert program == "clausewise"
    files = {}
    for symbol in ("<", ">"):
        if symbol in arguments:
            place = arguments.index(symbol)
            files[symbol] = Path(arguments[place + 1])
            del arguments[place : place + 2]
    result = CliRunner().invoke(app, arguments, input=files["<"].read_bytes() if "<" in files else None)
    assert result.exit_code == 0, (line, result.output)
    if ">" in files:
        files[">"].write_bytes(result.stdout_bytes)
        return ""
    return result.stdout
