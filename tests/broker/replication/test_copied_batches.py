"""Batches as a leader sent them: taken as they are, or not at all."""

import pytest

from penstock.broker.replication.copied_batches import COPY_BYTES_MAX, copied_batches
from penstock.model.ids import LeaderEpoch
from penstock.records.batch import CorruptBatchError, stamp
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.replication.follower_events import FetchFrom


def batch(offset: int, count: int = 1, *, epoch: int = 3, size: int = 10) -> bytearray:
    made = build_batch([NewRecord(value=bytes(size)) for _ in range(count)])
    stamp(made, offset, epoch)
    return made


def asked(offset: int = 0, *, epoch: int = 3, last_epoch: int = -1) -> FetchFrom:
    return FetchFrom(
        offset=offset,
        last_fetched_epoch=last_epoch,
        current_leader_epoch=LeaderEpoch(epoch),
        log_start_offset=0,
    )


def test_batches_in_order_are_taken_with_their_bytes() -> None:
    first, second = batch(4, 2), batch(6, 3)
    found = copied_batches(first + second, asked(4))
    assert [bytes(each.batch) for each in found] == [bytes(first), bytes(second)]
    assert [each.header.next_offset for each in found] == [6, 9]


def test_batches_with_gaps_are_taken_as_compaction_leaves_them() -> None:
    found = copied_batches(batch(4) + batch(9), asked(2))
    assert [each.header.base_offset for each in found] == [4, 9]


def test_nothing_is_no_batch() -> None:
    assert copied_batches(b"", asked()) == []


def test_batch_that_the_log_has_is_left_out_and_one_that_it_has_in_part_is_not() -> None:
    found = copied_batches(batch(0, 2) + batch(2, 3) + batch(5), asked(3))
    assert [each.header.base_offset for each in found] == [2, 5]


def test_tail_that_is_cut_off_is_left_out() -> None:
    found = copied_batches(batch(0) + batch(1)[:-1], asked())
    assert len(found) == 1


def test_small_records_are_copied_out_of_the_answer_and_large_ones_are_not() -> None:
    small, large = batch(0), batch(0, size=COPY_BYTES_MAX)
    for records, is_copied in ((small, True), (large, False)):
        (found,) = copied_batches(memoryview(records), asked())
        records[-1] ^= 1
        assert (bytes(found.batch) != bytes(records)) is is_copied


def spoiled() -> bytearray:
    records = batch(0) + batch(1)
    records[-1] ^= 1
    return records


@pytest.mark.parametrize(
    "records",
    [
        spoiled(),
        batch(3) + batch(3),
        batch(0, epoch=4),
        batch(0, epoch=2) + batch(1, epoch=1),
        batch(0)[:-1],
        b"\x00" * 100,
    ],
    ids=[
        "wrong checksum",
        "the same place twice",
        "of an epoch to come",
        "epochs that go back",
        "half a batch",
        "no batch at all",
    ],
)
def test_batches_that_cannot_be_are_refused(records: bytes) -> None:
    with pytest.raises(CorruptBatchError):
        copied_batches(records, asked())


def test_batch_of_an_older_epoch_than_the_log_ends_with_is_refused() -> None:
    with pytest.raises(CorruptBatchError, match="epoch 1"):
        copied_batches(batch(5, epoch=1), asked(5, last_epoch=2))
