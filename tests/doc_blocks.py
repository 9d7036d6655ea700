"""The fenced blocks of a page of documentation, and running its examples."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Block(NamedTuple):
    language: str
    text: str
    follows_directly: bool  # nothing but blank lines between it and the block before


def blocks(page: str) -> list[Block]:
    """All fenced blocks of a page of the repository, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found, end = [], 0
    for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        found.append(Block(match[1], match[2], not text[end : match.start()].strip()))
        end = match.end()
    return found


def first_block(page: str, language: str) -> str:
    return next(block.text for block in blocks(page) if block.language == language)


def run_examples(page: str, capsys) -> int:
    """Run the Python blocks of a page, one after the other in one namespace; the number of them.

    A block without a language that follows directly shows what is printed.
    """
    listed = blocks(page)
    namespace: dict = {}
    n_run = 0
    for block, following in zip(listed, [*listed[1:], None], strict=True):
        if block.language != "python":
            continue
        exec(compile(block.text, f"{page}, Python block {n_run}", "exec"), namespace)
        n_run += 1
        printed = capsys.readouterr().out
        if following is not None and following.language == "" and following.follows_directly:
            assert printed == following.text
    return n_run
