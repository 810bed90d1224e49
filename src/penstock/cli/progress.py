"""Watching something that the cluster does by itself, under a bar on a terminal."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
def _bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Takes how much is done; shows nothing where standard error is a file or a pipe."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(title, total=total)
        yield lambda done: bars.update(bar, completed=done)
