from tests.storage.compaction_testing import keyed_batch, marker

from penstock.records.batch import BatchHeader, read_header
from penstock.storage.cleaned_transactions import AbortedRanges, CleanedTransactions
from penstock.storage.transaction_index import AbortedTransaction


def batch(offset: int, producer_id: int = 7, *, transactional: bool = True) -> BatchHeader:
    made = keyed_batch((b"a", b"1"), producer=(producer_id, 0, 0), transactional=transactional)
    return read_header(made)._replace(base_offset=offset)


def end(offset: int, producer_id: int = 7) -> BatchHeader:
    return read_header(marker(producer_id, is_commit=False))._replace(base_offset=offset)


def aborted(first: int, last: int, producer_id: int = 7) -> AbortedTransaction:
    return AbortedTransaction(producer_id, first, last, last + 1)


def test_batches_of_aborted_transactions_are_found_and_no_others() -> None:
    ranges = AbortedRanges([aborted(30, 40), aborted(10, 20), aborted(12, 13, producer_id=8)])
    found = [
        ranges.cover(header)
        for header in (
            batch(5),
            batch(10),
            batch(11, transactional=False),
            batch(12, producer_id=8),
            batch(13, producer_id=9),
            batch(19),
            batch(25),
            batch(30),
            batch(45),
        )
    ]
    assert found == [False, True, False, True, False, True, False, True, False]


def test_marker_knows_whether_a_batch_of_its_transaction_was_met() -> None:
    met = CleanedTransactions([])
    assert not met.meet_batch(batch(1))
    assert met.meet_marker(end(2))
    assert not met.meet_marker(end(3))
    met.meet_batch(batch(4, producer_id=8))
    met.meet_batch(batch(5, transactional=False))
    assert not met.meet_marker(end(6))
    assert met.meet_marker(end(7, producer_id=8))


def test_abort_marker_finds_its_index_entry() -> None:
    met = CleanedTransactions([aborted(10, 20)])
    assert met.aborted_at(end(20)) == aborted(10, 20)
    assert met.aborted_at(end(21)) is None
    assert met.meet_batch(batch(15))
