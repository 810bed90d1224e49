"""The records of batches without their compression: one buffer for all batches of a fetch.

Batches that are not compressed stay where they are, in the fetched bytes; if any is, all are put one after
another.
"""

from typing import NamedTuple

from penstock.records.batch import HEADER_BYTES, Buffer
from penstock.records.compression import decompress
from penstock.records.errors import CorruptBatchError
from penstock.records.record import RECORD_BYTES_MIN
from penstock.spark.columns.batches import FoundBatch
from penstock.spark.columns.errors import Origin

BATCH_BYTES_MAX = 512 * 1024 * 1024
"""Of one batch without its compression: what a thousand bytes claim to be must not fill the memory."""

FETCH_BYTES_MAX = 1024 * 1024 * 1024
"""Of all batches that are read together; the next ones are left to the next fetch. Arrow ends at 2 GiB."""


class Body(NamedTuple):
    """The records of one batch: ``record_count`` of them from ``start`` to ``end`` of a buffer."""

    start: int
    end: int
    record_count: int


def uncompressed(records: Buffer, batches: list[FoundBatch], origin: Origin) -> tuple[Buffer, list[Body]]:
    """One buffer with the records of ``batches``, and where in it each has them.

    There are fewer bodies than batches if all of them are too large together.
    """
    if any(batch.header.codec for batch in batches):
        return _put_together(records, batches, origin)
    return records, [_body(batch, batch.position + HEADER_BYTES, _end(batch), origin) for batch in batches]


def _put_together(records: Buffer, batches: list[FoundBatch], origin: Origin) -> tuple[Buffer, list[Body]]:
    contents: list[Buffer] = []
    bodies: list[Body] = []
    start = 0
    for batch in batches:
        content = _content(records, batch, origin)
        end = start + len(content)
        if contents and end > FETCH_BYTES_MAX:
            break
        contents.append(content)
        bodies.append(_body(batch, start, end, origin))
        start = end
    return contents[0] if len(contents) == 1 else b"".join(contents), bodies


def _content(records: Buffer, batch: FoundBatch, origin: Origin) -> Buffer:
    content = memoryview(records)[batch.position + HEADER_BYTES : _end(batch)]
    if not batch.header.codec:
        return content
    try:
        return decompress(batch.header.codec, content, BATCH_BYTES_MAX)
    except CorruptBatchError as error:
        raise origin.unreadable(batch.header.base_offset, error.message) from error


def _body(batch: FoundBatch, start: int, end: int, origin: Origin) -> Body:
    count = batch.header.record_count
    if count * RECORD_BYTES_MIN > end - start:
        raise origin.unreadable(
            batch.header.base_offset, f"It claims {count} records in {end - start} bytes."
        )
    return Body(start=start, end=end, record_count=count)


def _end(batch: FoundBatch) -> int:
    return batch.position + batch.header.size_bytes
