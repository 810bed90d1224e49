"""What a batch in the log does to the state derived from it; one way for restarts, followers and rewinds."""

from collections.abc import Callable
from functools import partial

from penstock.records.batch import BatchHeader, Buffer
from penstock.records.control import decode_transaction_marker
from penstock.storage.batch_scan import Located
from penstock.storage.producer_state import CompletedTransaction, ProducerStates
from penstock.storage.segment import Segment
from penstock.storage.segment_end import SegmentEnd
from penstock.storage.transaction_index import AbortedTransaction


def replay_producer(
    producers: ProducerStates, header: BatchHeader, read_batch: Callable[[], Buffer]
) -> AbortedTransaction | None:
    """Apply a stored batch to the producers; answers the transaction it aborted, if it did.

    ``read_batch`` is called only for control batches, whose content matters.
    """
    if header[9] < 0:
        return None
    if not header.is_control:
        producers.apply(header, header[0])
        return None
    if header.record_count == 0:
        return None  # What Kafka's compaction leaves of a marker says nothing.
    marker = decode_transaction_marker(read_batch())
    if marker is None:
        return None
    completed = producers.apply_marker(marker, offset=header.base_offset, timestamp=header.max_timestamp)
    return None if completed is None else aborted_by(completed, producers)


def aborted_by(completed: CompletedTransaction, producers: ProducerStates) -> AbortedTransaction | None:
    """The index entry of a transaction that just ended; None if it was committed."""
    if not completed.is_aborted:
        return None
    return AbortedTransaction(
        completed.producer_id,
        completed.first_offset,
        completed.last_offset,
        producers.last_stable_offset_after(completed),
    )


def replay_segment(segment: Segment, producers: ProducerStates, start: SegmentEnd, end_position: int) -> None:
    """Apply the batches of a segment from one border to another to the producers."""
    for located in segment.walk(start.position, start.next_offset, end_position):
        if located.header[9] >= 0:
            replay_producer(producers, located.header, partial(read_batch, segment, located))


def read_batch(segment: Segment, located: Located) -> bytes:
    """The bytes of a batch."""
    return segment.file.read(located.position, located.end - located.position)
