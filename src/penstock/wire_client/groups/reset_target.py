"""Where a reset moves a group to, and what that means in one partition.

Pure arithmetic: the log's range and what the group committed come as numbers. A new offset always lies within
the log; where that is not what was asked for, the note says so.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Reference(StrEnum):
    """What the number of a ``Target`` is."""

    EARLIEST = "earliest"
    LATEST = "latest"
    CURRENT = "current"
    TIMESTAMP = "timestamp"
    SHIFT = "shift"
    OFFSET = "offset"


class Target(NamedTuple):
    """Where to; ``number`` is a timestamp in milliseconds, how far to shift, or an offset."""

    reference: Reference
    number: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A partition as it is: the range of its log, the group's offset, and the offset at the target's time.

    ``at_time`` is None when no record is so young; ``committed`` when the group has no offset here.
    """

    start: int
    end: int
    committed: int | None = None
    at_time: int | None = None


class NewOffset(NamedTuple):
    """The offset to commit, None to leave the partition alone, and what is worth saying about it."""

    offset: int | None
    note: str = ""


def new_offset(target: Target, situation: Situation) -> NewOffset:
    """What ``target`` means for a partition in this ``situation``."""
    match target.reference:
        case Reference.EARLIEST:
            return NewOffset(situation.start)
        case Reference.LATEST:
            return NewOffset(situation.end)
        case Reference.CURRENT:
            otherwise = NewOffset(situation.end, "nothing committed: moved to the end")
            return _shifted(situation, 0, otherwise=otherwise)
        case Reference.SHIFT:
            otherwise = NewOffset(None, "nothing committed: left alone")
            return _shifted(situation, target.number, otherwise=otherwise)
        case Reference.OFFSET:
            return _clamped(target.number, situation)
        case Reference.TIMESTAMP:
            if situation.at_time is None:
                return NewOffset(situation.end, "no record is that young: moved to the end")
            return NewOffset(situation.at_time)


def _shifted(situation: Situation, by: int, *, otherwise: NewOffset) -> NewOffset:
    """So far from what was committed, or ``otherwise`` when nothing was."""
    return otherwise if situation.committed is None else _clamped(situation.committed + by, situation)


def _clamped(offset: int, situation: Situation) -> NewOffset:
    if offset < situation.start:
        return NewOffset(situation.start, f"{offset} lies before the log: moved to its start")
    if offset > situation.end:
        return NewOffset(situation.end, f"{offset} lies beyond the log: moved to its end")
    return NewOffset(offset)
