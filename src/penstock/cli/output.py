"""What commands print: JSON for programs, aligned tables for people.

Text goes through ``rich`` only when there is a table to draw. Without a terminal a table is never wrapped or
cut to a width, so that ``grep`` and ``awk`` see whole lines.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any

_UNWRAPPED_COLUMNS = 10_000


def print_json(value: Any) -> None:
    """One JSON document on standard output, indented: a result that is read whole."""
    print(json.dumps(value, indent=2))


def print_json_line(value: Any) -> None:
    """One JSON document on one line: an element of a stream."""
    print(json.dumps(value))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table with a header line; a column of integers is aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD if sys.stdout.isatty() else None, pad_edge=False)
    for position, column in enumerate(columns):
        is_number = bool(rows) and all(isinstance(row[position], int) for row in rows)
        table.add_column(column, justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    console().print(table)


def console() -> Any:
    """A console on standard output that wraps only for people."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _UNWRAPPED_COLUMNS
    return Console(width=width, highlight=False, markup=False, emoji=False)
