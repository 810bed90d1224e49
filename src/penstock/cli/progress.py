"""Bars on a terminal: for what the cluster does by itself, and for what a command does."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

Unit = Literal["bytes", "things"]
"""What is counted, and so how it is written."""

POLL_SECONDS = 0.25
"""Between one look and the next."""


def watch(title: str, left: Callable[[], int | None], *, total: int, seconds_max: float) -> int | None:
    """Look until there is nothing left to do, for a limited time.

    ``left`` tells how much of ``total`` is still to be done, or None once all is over. Returns the last it
    told: None, unless the time was too short.
    """
    deadline = time.monotonic() + seconds_max
    with _bar(title, total) as show:
        while (remaining := left()) is not None and time.monotonic() < deadline:
            show(total - min(remaining, total))
            time.sleep(POLL_SECONDS)
    return remaining


@contextmanager
def advancing(title: str, total: int, *, unit: Unit = "things") -> Iterator[Callable[[int], None]]:
    """A bar for work of our own: takes how much was done since the last time."""
    done = 0
    with _bar(title, total, unit=unit) as show:

        def advance(count: int) -> None:
            nonlocal done
            done += count
            show(done)

        yield advance


@contextmanager
def _bar(title: str, total: int, *, unit: Unit = "things") -> Iterator[Callable[[int], None]]:
    """Takes how much is done; shows nothing where standard error is a file or a pipe."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    amounts = DownloadColumn(binary_units=True) if unit == "bytes" else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amounts, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(title, total=total)
        yield lambda done: bars.update(bar, completed=done)
