"""Orders to fail, written as text: ``PENSTOCK_FAILPOINTS`` of a process that is tested from outside.

Orders are separated by ``;``, the parts of one order by ``:``. The first part names the operation of the file
system seam (``flush``, ``write``, ``rename``, …; ``flush`` covers directory syncs too), the others are::

    error=EIO      fail with that error (any name of the errno module)
    delay=15ms     wait before the operation (ms or s)
    kill           end the process with SIGKILL instead of doing it
    after=5        let the first five matching operations pass
    count=2        strike only twice; without it, from then on every time
    path=orders-0  only paths that contain this text

Example: ``flush:error=EIO:after=5:path=orders-0;write:error=ENOSPC:after=100;flush:delay=15ms``.
"""

import errno
import itertools
import re
from dataclasses import dataclass, field
from typing import Final

from penstock.model.errors import UsageError

FAILPOINTS_VARIABLE: Final = "PENSTOCK_FAILPOINTS"
OPERATIONS: Final = frozenset(
    {
        "open",
        "read",
        "write",
        "truncate",
        "preallocate",
        "flush",
        "make_directory",
        "remove_directory",
        "rename",
        "unlink",
    }
)

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s)")
_ALWAYS = 1 << 62


@dataclass(slots=True, kw_only=True)
class Failpoint:
    """One order; it counts the operations it matched."""

    operation: str
    path_part: str = ""
    error_number: int | None = None
    delay_seconds: float = 0.0
    kills: bool = False
    after: int = 0
    count: int = _ALWAYS
    _matches: "itertools.count[int]" = field(default_factory=itertools.count, repr=False, compare=False)

    def strikes(self, operation: str, path: str) -> bool:
        """Whether it is this operation's turn to suffer. Threads may ask at once: counting is one step."""
        if operation != self.operation or self.path_part not in path:
            return False
        return self.after <= next(self._matches) < self.after + self.count


def parse_failpoints(text: str) -> list[Failpoint]:
    """The orders in ``text``; one that makes no sense raises ``UsageError``."""
    return [_parse_order(order) for order in text.split(";") if order.strip()]


def _parse_order(order: str) -> Failpoint:
    operation, *parts = order.strip().split(":")
    if operation not in OPERATIONS:
        known = ", ".join(sorted(OPERATIONS))
        raise UsageError(f"{order!r} in {FAILPOINTS_VARIABLE}: {operation!r} is none of {known}")
    failpoint = Failpoint(operation=operation)
    for part in parts:
        try:
            _add_part(failpoint, part)
        except (KeyError, ValueError) as error:
            raise UsageError(f"{order!r} in {FAILPOINTS_VARIABLE}: {part!r} makes no sense") from error
    return failpoint


def _add_part(failpoint: Failpoint, part: str) -> None:
    name, _, value = part.partition("=")
    match name:
        case "error":
            failpoint.error_number = _ERROR_NUMBERS[value]
        case "delay":
            failpoint.delay_seconds = _seconds(value)
        case "kill":
            failpoint.kills = True
        case "after":
            failpoint.after = int(value)
        case "count":
            failpoint.count = int(value)
        case "path":
            failpoint.path_part = value
        case _:
            raise ValueError(name)


def _seconds(text: str) -> float:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return float(match[1]) / (1000 if match[2] == "ms" else 1)


_ERROR_NUMBERS = {name: number for number, name in errno.errorcode.items()}
