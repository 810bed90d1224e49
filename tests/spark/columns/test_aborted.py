"""Committed records only: what an aborted transaction wrote is left out, and nothing else."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spark.columns.rows import batch_at, compacted, decode_all, fetched_of, offsets_of

from penstock.records.batch import stamp
from penstock.records.builder import build_batch
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.records.record import NewRecord
from penstock.spark.columns.errors import UnreadableRecordsError
from penstock.wire.messages.fetch import AbortedTransaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A batch, or the end of a transaction."""

    producer_id: int
    kind: str
    count: int = 1


events = st.lists(
    st.builds(
        Event,
        producer_id=st.integers(1, 3),
        kind=st.sampled_from(["records", "records", "commit", "abort", "idempotent", "plain"]),
        count=st.integers(1, 3),
    ),
    max_size=20,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a log of events is, and what a reader of committed records should see of it."""

    batches: list[tuple[int, bytearray]]
    aborted: list[tuple[int, AbortedTransaction]]
    """With the offset of the marker that ended it."""
    committed: list[int]

    def aborted_from(self, offset: int) -> list[AbortedTransaction]:
        """What a broker says of a fetch from ``offset``: what had not ended before."""
        return [transaction for end, transaction in self.aborted if end >= offset]


def tell(history: list[Event]) -> Told:
    """Every transaction is judged by the marker that ends it."""
    batches: list[tuple[int, bytearray]] = []
    committed: list[int] = []
    open_offsets: dict[int, list[int]] = {}
    aborted: list[tuple[int, AbortedTransaction]] = []
    offset = 0
    for event in history:
        count = event.count if event.kind in ("records", "idempotent", "plain") else 1
        offsets = list(range(offset, offset + count))
        batches.append((offset, batch_of(event, offset)))
        offset += count
        if event.kind == "records":
            open_offsets.setdefault(event.producer_id, []).extend(offsets)
        elif event.kind in ("idempotent", "plain"):
            committed += offsets
        else:
            ended = open_offsets.pop(event.producer_id, [])
            if event.kind == "commit":
                committed += ended
            elif ended:
                dropped = AbortedTransaction(producer_id=event.producer_id, first_offset=ended[0])
                aborted.append((offset - 1, dropped))
    for unfinished in open_offsets.values():
        committed += unfinished
    return Told(batches=batches, aborted=aborted, committed=sorted(committed))


def batch_of(event: Event, offset: int) -> bytearray:
    if event.kind in ("commit", "abort"):
        return marker(event.producer_id, offset, is_commit=event.kind == "commit")
    if event.kind == "plain":
        return batch_at(offset, event.count)
    return batch_at(
        offset,
        event.count,
        producer_id=event.producer_id,
        producer_epoch=0,
        base_sequence=0,
        transactional=event.kind == "records",
    )


def marker(producer_id: int, offset: int, *, is_commit: bool) -> bytearray:
    told = TransactionMarker(
        is_commit=is_commit, coordinator_epoch=0, producer_id=producer_id, producer_epoch=0
    )
    batch = build_transaction_marker(told, timestamp=1)
    stamp(batch, offset, 0)
    return batch


@given(events)
def test_readers_see_what_was_committed(history: list[Event]) -> None:
    """In whichever order the aborted transactions are told; a batch that is in none is not judged by one."""
    told = tell(history)
    fetched = fetched_of([batch for _, batch in told.batches])
    assert offsets_of(decode_all(fetched, aborted=told.aborted_from(0))) == told.committed
    assert offsets_of(decode_all(fetched, aborted=told.aborted_from(0)[::-1])) == told.committed


@given(events, st.integers(0, 20))
def test_fetch_that_begins_within_a_transaction_sees_the_rest(history: list[Event], skipped: int) -> None:
    told = tell(history)
    rest = told.batches[skipped:]
    first = rest[0][0] if rest else 10**6
    fetched = fetched_of([batch for _, batch in rest])
    decoded = decode_all(fetched, aborted=told.aborted_from(first), first_offset=first)
    assert offsets_of(decoded) == [offset for offset in told.committed if offset >= first]


def test_reader_of_everything_sees_aborted_records_too() -> None:
    history = [Event(producer_id=1, kind="records", count=3), Event(producer_id=1, kind="abort")]
    told = tell(history)
    decoded = decode_all(fetched_of([batch for _, batch in told.batches]))
    assert (offsets_of(decoded), decoded.next_offset) == ([0, 1, 2], 4)


def test_fetch_of_nothing_but_aborted_records_moves_on() -> None:
    history = [Event(producer_id=1, kind="records", count=3), Event(producer_id=1, kind="abort")]
    told = tell(history)
    decoded = decode_all(fetched_of([batch for _, batch in told.batches]), aborted=told.aborted_from(0))
    assert (decoded.batch.num_rows, decoded.next_offset) == (0, 4)


def test_marker_that_compaction_has_emptied_ends_nothing() -> None:
    """Kafka keeps a marker as long as records of its transaction are there; an empty batch says nothing."""
    records = batch_of(Event(producer_id=1, kind="records", count=2), 0)
    again = batch_of(Event(producer_id=1, kind="records", count=2), 3)
    emptied = compacted(marker(1, 2, is_commit=False), ())
    aborted = [AbortedTransaction(producer_id=1, first_offset=0)]
    decoded = decode_all(fetched_of([records, emptied, again]), aborted=aborted)
    assert (offsets_of(decoded), decoded.next_offset) == ([], 5)


def test_marker_that_cannot_be_read_is_an_error() -> None:
    records = [NewRecord(key=b"\0", value=b"")]
    broken = build_batch(
        records, base_offset=1, producer_id=1, producer_epoch=0, transactional=True, control=True
    )
    aborted = [AbortedTransaction(producer_id=1, first_offset=0)]
    with pytest.raises(UnreadableRecordsError, match="offset 1: A control record's key"):
        decode_all(bytes(broken), aborted=aborted)
