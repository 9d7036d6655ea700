"""Counts in sentences: `1 row`, `1,204 rows`."""


def count_of(n: int, noun: str) -> str:
    """Return a number and a noun, in the plural unless the number is 1."""
    return f"1 {noun}" if n == 1 else f"{n:,} {noun}s"
