"""Lines of the result and the three forms they are shown in: a terminal's, JSON and Markdown."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One figure of one subject; ``ratio`` is how often it is as good as its target."""

    key: str
    title: str
    subject: str
    value: float
    unit: str
    target: str = ""
    ratio: float | None = None
    #: Everything else that was measured.
    details: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The value as people read it."""
        precision = 0 if self.value >= 1_000 else 1 if self.value >= 100 else 2 if self.value >= 1 else 3
        return f"{self.value:,.{precision}f} {self.unit}"


WIDTH = 200
"""Of the table where there is no terminal to ask."""

HEADER = ("what", "who", "measured", "asked", "times as good as asked")


def cells(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    """A row of text for every line; what is repeated from the line above is left out."""
    rows: list[tuple[str, ...]] = []
    before = ""
    for line in lines:
        rows.append(
            (
                "" if line.title == before else line.title,
                line.subject,
                line.text,
                line.target,
                "" if line.ratio is None else f"{line.ratio:.2f}",
            )
        )
        before = line.title
    return rows


def print_lines(lines: Sequence[Line]) -> None:
    """A table on standard output."""
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for column in HEADER:
        table.add_column(column)
    for row in cells(lines):
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else WIDTH).print(table)


def as_json(lines: Sequence[Line], facts: dict[str, str]) -> dict[str, Any]:
    """The whole run."""
    return {**facts, "results": [asdict(line) for line in lines]}


def as_markdown(lines: Sequence[Line], facts: dict[str, str]) -> str:
    """A table to paste into a page, under the facts of the run."""
    rows = [HEADER, tuple("---" for _ in HEADER), *cells(lines)]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    head = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    return f"{head}\n\n{table}\n"
