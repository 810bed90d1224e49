"""What commands print: JSON for programs, aligned tables for people.

Text goes through ``rich`` only when there is a table to draw. Without a terminal a table is never wrapped or
cut to a width, so that ``grep`` and ``awk`` see whole lines.
"""

import json
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_UNWRAPPED_COLUMNS = 10_000


def print_json(value: Any) -> None:
    """One JSON document on standard output, indented: a result that is read whole."""
    print(json.dumps(value, indent=2))


def print_json_line(value: Any) -> None:
    """One JSON document on one line: an element of a stream."""
    print(json.dumps(value))


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: Collection[int] = ()
) -> None:
    """A table with a header line; the columns at the positions ``numbers`` are aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD if sys.stdout.isatty() else None, pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    _console().print(table)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that something goes on; nothing where standard error is a file or a pipe."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def _console() -> "Console":
    """A console on standard output that wraps only for people."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _UNWRAPPED_COLUMNS
    return Console(width=width, highlight=False, markup=False, emoji=False)
