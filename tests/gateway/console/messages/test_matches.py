"""Records of several partitions merged by time, and what a round of a search keeps of them."""

from penstock.gateway.console.messages.matches import Matches
from penstock.gateway.console.messages.merging import NEWEST_FIRST, OLDEST_FIRST, merged
from penstock.records.record import Record
from penstock.wire_client.fetching import OffsetRange


def record(offset: int, timestamp: int, size: int = 1) -> Record:
    return Record(offset=offset, timestamp=timestamp, key=None, value=b"x" * size)


def test_records_are_merged_by_time_and_keep_the_order_of_their_partition() -> None:
    lists = {0: [record(2, 5), record(1, 30)], 1: [record(9, 20)]}
    newest = merged(lists, count=9, direction=NEWEST_FIRST)
    assert [(number, each.offset) for number, each in newest] == [(1, 9), (0, 2), (0, 1)]


def test_merging_stops_where_the_next_record_is_not_known() -> None:
    lists = {0: [record(1, 10)], 1: [record(1, 20), record(2, 30)]}
    taken = merged(lists, count=9, direction=OLDEST_FIRST, unfinished=[0])
    assert [(number, each.offset) for number, each in taken] == [(0, 1)]
    assert merged({0: [], 1: [record(1, 1)]}, count=9, direction=OLDEST_FIRST, unfinished=[0]) == []


def test_matches_keep_the_newest_and_remember_where_to_go_on() -> None:
    matches = Matches([0, 1], count_max=2)
    for offset in range(5):
        matches.add(0, record(offset, offset))
    matches.add(1, record(7, 100))
    told = matches.newest()
    assert [(number, each.offset) for number, each in told] == [(1, 7), (0, 4)]
    assert matches.place(0, told, OffsetRange(0, 5)) == 4
    assert matches.place(1, told, OffsetRange(0, 8)) == 0


def test_matches_hold_a_bounded_number_of_bytes() -> None:
    matches = Matches([0], count_max=100, bytes_max=1_000)
    for offset in range(100):
        matches.add(0, record(offset, offset, size=100))
    told = matches.newest()
    assert len(told) == 10
    assert matches.place(0, told, OffsetRange(0, 100)) == 90


def test_a_partition_of_which_nothing_was_told_is_looked_at_again() -> None:
    matches = Matches([0, 1], count_max=1)
    matches.add(0, record(3, 10))
    matches.add(1, record(4, 20))
    told = matches.newest()
    assert matches.place(0, told, OffsetRange(0, 9)) == 9
