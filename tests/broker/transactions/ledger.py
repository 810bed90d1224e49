"""What producers of transactions were promised, to be compared with what readers see."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

Place = tuple[str, int]
"""A topic and a partition."""


class Ending(Enum):
    """How a transaction ended, as its producer knows."""

    COMMITTED = auto()
    ABORTED = auto()
    UNKNOWN = auto()
    """A commit was asked for and never answered."""


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One transaction: its values by partition, in order."""

    values: dict[Place, list[bytes]] = field(default_factory=dict)
    #: Nothing counts before its producer has asked for a commit.
    ending: Ending = Ending.ABORTED

    def add(self, place: Place, value: bytes) -> None:
        """A value that was acknowledged."""
        self.values.setdefault(place, []).append(value)


def check(attempts: Sequence[Attempt], seen: Mapping[Place, Sequence[bytes | None]]) -> None:
    """Every transaction is there as a whole and once, or not at all, as its producer was told."""
    counts = Counter(value for values in seen.values() for value in values)
    twice = [value for value, count in counts.items() if count > 1]
    assert not twice, f"seen more than once: {twice}"
    known = {value for attempt in attempts for values in attempt.values.values() for value in values}
    assert counts.keys() <= known, f"nobody wrote {counts.keys() - known}"
    for attempt in attempts:
        _check_one(attempt, seen)


def _check_one(attempt: Attempt, seen: Mapping[Place, Sequence[bytes | None]]) -> None:
    there = {
        place: [value for value in seen[place] if value in set(values)]
        for place, values in attempt.values.items()
    }
    is_whole = there == attempt.values
    is_absent = not any(there.values())
    match attempt.ending:
        case Ending.COMMITTED:
            assert is_whole, f"committed {attempt.values}, seen {there}"
        case Ending.ABORTED:
            assert is_absent, f"aborted {attempt.values}, seen {there}"
        case Ending.UNKNOWN:
            assert is_whole or is_absent, f"torn: {attempt.values}, seen {there}"
