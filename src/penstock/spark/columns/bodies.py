"""The records of batches without their compression: one buffer for all batches of a fetch.

Batches that are not compressed stay where they are, in the fetched bytes; if any is, all are put one after
another.
"""

from dataclasses import dataclass

from penstock.records.batch import HEADER_BYTES, Buffer
from penstock.records.compression import decompress
from penstock.records.errors import CorruptBatchError
from penstock.records.record import RECORD_BYTES_MIN
from penstock.spark.columns.batches import FoundBatch
from penstock.spark.columns.errors import Origin

DECOMPRESSED_BYTES_MAX = 512 * 1024 * 1024
"""Of one batch: what a thousand bytes claim to be must not fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The records of one batch: ``count`` of them from ``start`` to ``end`` of a buffer."""

    start: int
    end: int
    count: int


def uncompressed(records: Buffer, batches: list[FoundBatch], origin: Origin) -> tuple[Buffer, list[Body]]:
    """One buffer with the records of all ``batches``, and where in it each has them."""
    if any(batch.header.codec for batch in batches):
        return _put_together([_content(records, batch, origin) for batch in batches], batches, origin)
    return records, [_body(batch, batch.position + HEADER_BYTES, _end(batch), origin) for batch in batches]


def _put_together(
    contents: list[Buffer], batches: list[FoundBatch], origin: Origin
) -> tuple[Buffer, list[Body]]:
    bodies, start = [], 0
    for content, batch in zip(contents, batches, strict=True):
        bodies.append(_body(batch, start, start + len(content), origin))
        start += len(content)
    return contents[0] if len(contents) == 1 else b"".join(contents), bodies


def _content(records: Buffer, batch: FoundBatch, origin: Origin) -> Buffer:
    content = memoryview(records)[batch.position + HEADER_BYTES : _end(batch)]
    if not batch.header.codec:
        return content
    try:
        return decompress(batch.header.codec, content, DECOMPRESSED_BYTES_MAX)
    except CorruptBatchError as error:
        raise origin.unreadable(batch.header.base_offset, error.message) from error


def _body(batch: FoundBatch, start: int, end: int, origin: Origin) -> Body:
    count = batch.header.record_count
    if count * RECORD_BYTES_MIN > end - start:
        raise origin.unreadable(
            batch.header.base_offset, f"It claims {count} records in {end - start} bytes."
        )
    return Body(start=start, end=end, count=count)


def _end(batch: FoundBatch) -> int:
    return batch.position + batch.header.size_bytes
