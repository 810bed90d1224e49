"""The checks that every story of a group ends with see what they must see."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.interop.group_members import check_nothing_committed_is_processed_again, check_story


@dataclass
class Told:
    """A member that is only what it said."""

    events: list[dict[str, Any]] = field(default_factory=list)

    def processed(self, generation: int, *offsets: int) -> "Told":
        records = [("t", 0, offset, f"v{offset}") for offset in offsets]
        self.events.append({"event": "processed", "generation": generation, "records": records})
        return self

    def committed(self, generation: int, offset: int) -> "Told":
        self.events.append({"event": "committed", "generation": generation, "offsets": [("t", 0, offset)]})
        return self


def test_partition_that_moves_with_the_generation_passes() -> None:
    """The second repeats what the first had not committed."""
    first = Told().processed(1, 0, 1).committed(1, 2).processed(1, 2, 3)
    check_story([first, Told().processed(2, 2, 3, 4)])


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ([Told().processed(1, 0), Told().processed(1, 1)], "more than one member"),
        ([Told().processed(1, 1, 0)], "out of order"),
        ([Told().processed(1, 0, 1).committed(1, 2), Told().processed(2, 1)], "began again at 1"),
    ],
)
def test_broken_promise_is_seen(members: list[Told], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_story(members)


def test_step_behind_a_commit_is_seen_within_a_generation() -> None:
    honest = Told().processed(1, 0, 1).committed(1, 2).processed(1, 2)
    check_nothing_committed_is_processed_again([honest])
    with pytest.raises(AssertionError, match="went back to 1"):
        check_nothing_committed_is_processed_again([honest.processed(1, 1)])
