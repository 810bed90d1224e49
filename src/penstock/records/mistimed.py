"""Which records of a batch have a timestamp that is out of range, found without making records.

The batch is refused already, and whoever sent it is told where to look. So nothing but lengths and timestamps
is read, and of a batch that claims millions of records only the beginning.
"""

from collections.abc import Iterator

from penstock.model.limits import RECORDS_SEARCHED_FOR_ERRORS_MAX
from penstock.records.batch import BatchHeader, Buffer
from penstock.records.errors import CorruptBatchError
from penstock.records.record import NO_TIMESTAMP, open_payload
from penstock.records.varint import read_varint, read_varlong


def mistimed_records(
    batch: Buffer, header: BatchHeader, allowed: range, *, decompressed_bytes_max: int
) -> Iterator[tuple[int, int]]:
    """Place, counted from 0, and timestamp of each; CorruptBatchError when the bytes are no records."""
    data = open_payload(batch, header, decompressed_bytes_max=decompressed_bytes_max)
    try:
        yield from _walk(data, header, allowed)
    except IndexError as error:
        raise CorruptBatchError("A record ends beyond its batch.") from error


def _walk(data: bytes, header: BatchHeader, allowed: range) -> Iterator[tuple[int, int]]:
    position, base_timestamp = 0, header.base_timestamp
    for index in range(min(header.record_count, RECORDS_SEARCHED_FOR_ERRORS_MAX)):
        length, position = read_varint(data, position)
        if length < 0:
            raise CorruptBatchError(f"Record {index} claims {length} bytes.")
        delta, _ = read_varlong(data, position + 1)  # behind the attributes
        timestamp = base_timestamp + delta
        if timestamp not in allowed and timestamp != NO_TIMESTAMP:
            yield index, timestamp
        position += length
