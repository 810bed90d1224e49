"""Reading fetched batches as consumers of committed records do."""

from penstock.records.builder import build_batch
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.records.record import NewRecord
from penstock.sim.workloads.fetching import _read
from penstock.sim.workloads.history import COMMITTED, UNCOMMITTED
from penstock.wire.messages.fetch import AbortedTransaction, PartitionData


def batch(offset: int, value: bytes, producer_id: int = -1) -> bytes:
    record = NewRecord(value=value, timestamp=1)
    return bytes(
        build_batch(
            [record],
            base_offset=offset,
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            base_sequence=0 if producer_id >= 0 else -1,
            transactional=producer_id >= 0,
        )
    )


def marker(offset: int, producer_id: int, *, is_commit: bool) -> bytes:
    built = build_transaction_marker(
        TransactionMarker(
            is_commit=is_commit, coordinator_epoch=0, producer_id=producer_id, producer_epoch=0
        ),
        timestamp=1,
    )
    built[:8] = offset.to_bytes(8, "big")
    return bytes(built)


def answer(records: bytes, *aborted: tuple[int, int]) -> PartitionData:
    return PartitionData(
        high_watermark=99,
        aborted_transactions=tuple(
            AbortedTransaction(producer_id=producer_id, first_offset=offset)
            for producer_id, offset in aborted
        ),
        records=records,
    )


def test_aborted_batches_are_left_out_and_the_next_transaction_is_not() -> None:
    records = (
        batch(0, b"plain")
        + batch(1, b"aborted", 7)
        + marker(2, 7, is_commit=False)
        + batch(3, b"committed", 7)
        + marker(4, 7, is_commit=True)
    )
    found = _read(answer(records, (7, 1)), 0, COMMITTED)
    assert found.records == ((0, "plain"), (3, "committed"))
    assert found.next_offset == 5


def test_transaction_that_began_before_what_was_fetched_ends_at_its_marker() -> None:
    """Its batches are not here; only its marker is, and it must not reach into the next transaction."""
    records = marker(2, 7, is_commit=False) + batch(3, b"committed", 7)
    assert _read(answer(records, (7, 1)), 2, COMMITTED).records == ((3, "committed"),)


def test_reader_of_everything_gets_everything_from_its_offset_on() -> None:
    two = bytes(build_batch([NewRecord(value=b"a", timestamp=1), NewRecord(value=b"b", timestamp=1)]))
    found = _read(answer(two + batch(2, b"aborted", 7), (7, 2)), 1, UNCOMMITTED)
    assert found.records == ((1, "b"), (2, "aborted"))


def test_empty_answer_stays_where_it_is() -> None:
    found = _read(answer(b""), 5, COMMITTED)
    assert found.next_offset == 5
    assert found.high_watermark == 99
