"""Words in messages."""


def counted(n: int, thing: str, plural: str | None = None) -> str:
    """Return a number with its noun: `1 rule`, `2,000 rules`; `plural` if that is not the noun and an s."""
    return f"{n:,} {thing if n == 1 else plural or f'{thing}s'}"
