import pytest

from penstock.groups.offsets import Offsets
from penstock.groups.records import OffsetCommitKey, OffsetCommitValue
from penstock.model.errors import InvariantError
from penstock.model.ids import ZERO_TOPIC_ID, TopicId, TopicPartition

GROUP = "readers"
FIRST, SECOND = TopicPartition("orders", 0), TopicPartition("orders", 1)
FORMER, LATER = TopicId(b"former" + bytes(10)), TopicId(b"later" + bytes(11))


def replay(
    offsets: Offsets,
    partition: TopicPartition,
    committed: int | None,
    *,
    at: int,
    producer_id: int = -1,
    topic_id: TopicId = ZERO_TOPIC_ID,
) -> None:
    key = OffsetCommitKey(group_id=GROUP, topic=partition.topic, partition=partition.partition)
    value = None if committed is None else OffsetCommitValue(offset=committed, topic_id=topic_id)
    offsets.replay(key, value, offset=at, producer_id=producer_id)
    offsets.validate()


def committed(offsets: Offsets, partition: TopicPartition) -> int | None:
    found = offsets.get(GROUP, partition)
    return None if found is None else found.value.offset


def test_last_record_wins() -> None:
    offsets = Offsets()
    replay(offsets, FIRST, 5, at=0)
    replay(offsets, FIRST, 3, at=1)
    assert committed(offsets, FIRST) == 3
    assert committed(offsets, SECOND) is None


def test_pending_offset_counts_when_its_transaction_commits() -> None:
    offsets = Offsets()
    replay(offsets, FIRST, 5, at=0, producer_id=7)
    assert committed(offsets, FIRST) is None
    assert offsets.is_unstable(GROUP, FIRST)
    assert not offsets.is_unstable(GROUP, SECOND)
    assert offsets.complete_transaction(7, is_commit=True) == (GROUP,)
    assert committed(offsets, FIRST) == 5
    assert not offsets.is_unstable(GROUP, FIRST)


def test_end_of_an_unknown_transaction_means_nothing() -> None:
    assert Offsets().complete_transaction(7, is_commit=True) == ()


def test_newest_is_what_stands_last_in_the_log() -> None:
    offsets = Offsets()
    replay(offsets, FIRST, 5, at=0, producer_id=7)
    replay(offsets, FIRST, 9, at=1)
    offsets.complete_transaction(7, is_commit=True)
    assert committed(offsets, FIRST) == 9


def test_tombstone_takes_back_what_open_transactions_wrote_before_it() -> None:
    offsets = Offsets()
    replay(offsets, FIRST, 5, at=0, producer_id=7)
    replay(offsets, SECOND, 6, at=1, producer_id=7)
    replay(offsets, FIRST, 7, at=2, producer_id=8)
    replay(offsets, FIRST, None, at=3)
    assert offsets.partitions_of(GROUP) == (SECOND,)
    offsets.complete_transaction(8, is_commit=True)
    offsets.complete_transaction(7, is_commit=True)
    assert committed(offsets, FIRST) is None
    assert committed(offsets, SECOND) == 6


def test_offset_written_after_a_tombstone_in_the_same_transaction_counts() -> None:
    offsets = Offsets()
    replay(offsets, FIRST, 5, at=0, producer_id=7)
    replay(offsets, FIRST, None, at=1)
    assert not offsets.has_any(GROUP)
    replay(offsets, FIRST, 6, at=2, producer_id=7)
    offsets.complete_transaction(7, is_commit=True)
    assert committed(offsets, FIRST) == 6


def test_partitions_are_listed_once_and_in_order() -> None:
    offsets = Offsets()
    replay(offsets, SECOND, 5, at=0)
    replay(offsets, FIRST, 5, at=1, producer_id=7)
    replay(offsets, SECOND, 6, at=2, producer_id=8)
    assert offsets.partitions_of(GROUP) == (FIRST, SECOND)
    assert list(offsets.of_group(GROUP)) == [SECOND]
    assert offsets.group_ids() == {GROUP}
    assert offsets.has_open_transaction(GROUP)


def test_topics_are_told_apart_by_their_ids_whether_offsets_are_committed_or_wait() -> None:
    offsets = Offsets()
    assert offsets.topics() == set()
    assert offsets.topic_ids(GROUP, FIRST) == set()
    replay(offsets, FIRST, 5, at=0, topic_id=FORMER)
    replay(offsets, FIRST, 5, at=1, producer_id=7, topic_id=LATER)
    replay(offsets, SECOND, 5, at=2, producer_id=7)
    assert offsets.topic_ids(GROUP, FIRST) == {FORMER, LATER}
    assert offsets.topic_ids(GROUP, SECOND) == {ZERO_TOPIC_ID}
    assert offsets.topics() == {("orders", FORMER), ("orders", LATER), ("orders", ZERO_TOPIC_ID)}


def test_validation_notices_a_wrong_index() -> None:
    offsets = Offsets()
    replay(offsets, FIRST, 5, at=0, producer_id=7)
    offsets._open.clear()
    with pytest.raises(InvariantError, match="open transactions"):
        offsets.validate()


def test_validation_notices_an_empty_table() -> None:
    offsets = Offsets()
    offsets._committed[GROUP] = {}
    with pytest.raises(InvariantError, match="empty table"):
        offsets.validate()
