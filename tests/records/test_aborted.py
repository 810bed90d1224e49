"""Batches of aborted transactions, told from the others in the order of a log."""

from penstock.records.aborted import AbortedFilter
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.records.record import NewRecord
from penstock.wire.messages.fetch import AbortedTransaction


def batch(offset: int, *, producer_id: int = -1) -> bytearray:
    is_transactional = producer_id >= 0
    return build_batch(
        [NewRecord(value=b"v", timestamp=0)],
        base_offset=offset,
        producer_id=producer_id,
        producer_epoch=0 if is_transactional else -1,
        base_sequence=0 if is_transactional else -1,
        transactional=is_transactional,
    )


def marker(producer_id: int, *, is_commit: bool) -> bytearray:
    told = TransactionMarker(
        is_commit=is_commit, coordinator_epoch=0, producer_id=producer_id, producer_epoch=0
    )
    return build_transaction_marker(told, timestamp=0)


def verdicts(aborted: list[AbortedTransaction], batches: list[bytearray]) -> list[bool]:
    filtering = AbortedFilter(aborted)
    return [filtering.is_aborted(each, read_header(each), 0) for each in batches]


def test_batches_are_dropped_from_the_first_of_the_transaction_to_its_abort_marker() -> None:
    log = [batch(0, producer_id=7), batch(1), batch(2, producer_id=8), marker(7, is_commit=False)]
    log.append(batch(4, producer_id=7))
    aborted = [AbortedTransaction(producer_id=7, first_offset=0)]
    assert verdicts(aborted, log) == [True, False, False, False, False]


def test_a_commit_marker_of_the_same_producer_does_not_end_the_dropping() -> None:
    log = [batch(0, producer_id=7), marker(7, is_commit=True), batch(2, producer_id=7)]
    assert verdicts([AbortedTransaction(producer_id=7, first_offset=0)], log) == [True, False, True]


def test_nothing_is_dropped_before_the_transaction_began() -> None:
    log = [batch(0, producer_id=7), batch(5, producer_id=7)]
    assert verdicts([AbortedTransaction(producer_id=7, first_offset=5)], log) == [False, True]
