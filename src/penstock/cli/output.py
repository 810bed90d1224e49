"""What commands print: JSON for programs, aligned tables for people.

Only a terminal gets a table drawn by ``rich``, which fits it to the width there is. Into a file or a pipe go
whole lines, never wrapped or cut, so that ``grep`` and ``awk`` see all of them, and ten thousand at once.
"""

import json
import os
import select
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def print_json(value: Any) -> None:
    """One JSON document on standard output, indented: a result that is read whole."""
    print(json.dumps(value, indent=2))


def print_json_line(value: Any) -> None:
    """One JSON document on one line: an element of a stream."""
    print(json.dumps(value))


def tell_json_line(value: Any) -> None:
    """As ``print_json_line``, but at once: somebody waits for it, and a pipe would keep it to the end."""
    print(json.dumps(value), flush=True)


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, numbers: Collection[int] = ()
) -> None:
    """A table with a header line; the columns at the positions ``numbers`` are aligned to the right."""
    texts = [[str(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _draw(columns, texts, numbers)
    else:
        print("\n".join(_lines([columns, *texts], numbers)))


def discard_output() -> None:
    """Let go of a pipe whose reader has gone, as ``head`` does: what is still to be printed goes nowhere.

    Otherwise Python would try once more at exit, and complain.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


@contextmanager
def until_reader_leaves() -> Iterator[None]:
    """For what only shows: its reader alone knows how much it wants, so to leave is an end as Ctrl-C is."""
    try:
        yield
    except BrokenPipeError:
        discard_output()


def check_for_reader() -> None:
    """Raise ``BrokenPipeError`` if nobody reads standard output any more, which writing alone would tell.

    For those that follow: ``head`` must not wait for a record that may never come.
    """
    try:
        descriptor = sys.stdout.fileno()
    except OSError:  # Somebody has put another stream in its place.
        return
    watch = select.poll()
    watch.register(descriptor, 0)
    if any(state & select.POLLERR for _, state in watch.poll(0)):
        raise BrokenPipeError


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on a terminal that something goes on; nothing where standard error is a file or a pipe."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def _lines(rows: Sequence[Sequence[str]], numbers: Collection[int]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if position in numbers else cell.ljust(width)
            for position, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _draw(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[int]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, markup=False, emoji=False).print(table)
