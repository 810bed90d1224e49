"""Many seeds on many cores: each in a process of its own, told in the order of the seeds.

Runs share nothing, so how many there are at a time changes nothing but how long it takes.
"""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def in_order(
    function: Callable[[Argument], Result], arguments: Iterable[Argument], *, jobs: int
) -> Iterator[Result]:
    """What the function makes of each argument, as soon as it and all before it are there."""
    if jobs == 1:
        yield from map(function, arguments)
        return
    with multiprocessing.get_context("forkserver").Pool(jobs) as pool:
        yield from pool.imap(function, arguments)
