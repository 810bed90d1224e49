"""Files that have what is asked for, and only those."""

import pytest
from tests.spark.archive.some_files import HOUR_MS, NOON_MS, a_batch, a_file

from penstock.model.errors import UsageError
from penstock.model.ids import TopicPartition
from penstock.spark.archive.intervals import Interval
from penstock.spark.archive.selection import Selection, select_files
from penstock.spark.archive.state import ArchiveState, apply

EARLY = a_file("a-early", first=0, last=9)
LATE = a_file("b-late", first=10, last=19, timestamps_ms=(NOON_MS + HOUR_MS, NOON_MS + 2 * HOUR_MS - 1))
OTHER = a_file("c-other", directory="topic=payments/date=2026-01-31/hour=12", partition=1)
ANEW = a_file("d-anew", first=0, last=4, incarnation=1)
STATE = apply(ArchiveState(), a_batch(0, EARLY, LATE, OTHER, ANEW))
BOUNDARY_MS = NOON_MS + HOUR_MS


def names(selection: Selection) -> str:
    return "".join(sorted(file.path.rpartition("/")[2][0] for file in select_files(STATE, selection)))


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), "abcd"),
        (Selection(topics=("orders",)), "abd"),
        (Selection(topics=("payments", "orders")), "abcd"),
        (Selection(topics=()), ""),
        (Selection(since_ms=BOUNDARY_MS), "b"),
        (Selection(since_ms=BOUNDARY_MS - 1), "abcd"),
        (Selection(until_ms=BOUNDARY_MS), "acd"),
        (Selection(until_ms=BOUNDARY_MS + 1), "abcd"),
        (Selection(until_ms=NOON_MS), ""),
        (Selection(offsets={TopicPartition("orders", 0): Interval(10, 11)}), "b"),
        (Selection(offsets={TopicPartition("orders", 0): Interval(5, 11)}), "ab"),
        (Selection(offsets={TopicPartition("orders", 0): Interval(4, 5)}), "ad"),
        (Selection(offsets={TopicPartition("orders", 1): Interval(0, 99)}), ""),
        (Selection(incarnation=1), "d"),
        (Selection(topics=("orders",), incarnation=0, until_ms=BOUNDARY_MS), "a"),
    ],
)
def test_files_that_may_have_something_are_chosen(selection: Selection, expected: str) -> None:
    assert names(selection) == expected


def test_topic_that_was_never_archived_is_refused() -> None:
    with pytest.raises(UsageError, match="'clicks' is not in the archive; it has orders, payments"):
        select_files(STATE, Selection(topics=("clicks",)))


def test_times_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(UsageError, match="name a later end"):
        Selection(since_ms=5, until_ms=5)
