"""Words of the command line that every command reads and shows alike, with or without Typer."""

from penstock.model.errors import UsageError


def example_text(*lines: str) -> str:
    """The end of a help text: commands to copy, one a line."""
    return "Examples:\n" + "\n".join(f"  {line}" for line in lines)


def counted(count: int, noun: str) -> str:
    """``1 row``, ``2,000 rows``, ``3 batches``, ``4 entries``."""
    return f"{count:,} {noun if count == 1 else _plural(noun)}"


def key_values(pairs: list[str] | None, *, option: str) -> dict[str, str]:
    """``["a=1", "b=2"]`` as a mapping; anything without ``=`` is refused, naming the option."""
    parsed: dict[str, str] = {}
    for pair in pairs or []:
        key, separator, value = pair.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"{option} {pair!r} is not of the form KEY=VALUE.")
        parsed[key.strip()] = value
    return parsed


def _plural(noun: str) -> str:
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"
