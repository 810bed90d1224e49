"""Making batches: for what the broker itself writes, for tools, benchmarks and tests."""

from collections.abc import Sequence
from typing import Protocol

from penstock.model.errors import UsageError
from penstock.records.batch import (
    CONTROL_BIT,
    HEADER_BYTES,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD,
    MAGIC,
    TRANSACTIONAL_BIT,
    BatchHeader,
    pack_header,
    write_crc,
)
from penstock.records.compression import Codec, compress
from penstock.records.record import Headers
from penstock.records.varint import encode_varint


class Appendable(Protocol):
    """What a batch takes from a record; ``NewRecord`` and ``Record`` both are."""

    @property
    def key(self) -> bytes | None:
        """What partitioning and compaction go by."""

    @property
    def value(self) -> bytes | None:
        """The content; None is a tombstone."""

    @property
    def headers(self) -> Headers:
        """Names and values beside the content; a name may stand twice."""

    @property
    def timestamp(self) -> int:
        """Milliseconds, -1 for none."""


def build_batch(  # noqa: PLR0913 - the fields of a batch header, all optional and all by name.
    records: Sequence[Appendable],
    *,
    base_offset: int = 0,
    codec: Codec = Codec.NONE,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    transactional: bool = False,
    control: bool = False,
    leader_epoch: int = -1,
    log_append_time: bool = False,
) -> bytearray:
    """One batch of ``records``, with offsets that follow each other from ``base_offset``."""
    if not records:
        raise UsageError("A batch needs at least one record.")
    base_timestamp = records[0].timestamp
    payload = _encode_all(records, base_timestamp)
    if codec:
        payload = compress(codec, payload)
    batch = bytearray(HEADER_BYTES + len(payload))
    batch[HEADER_BYTES:] = payload
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=len(batch) - LOG_OVERHEAD,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=(
            codec
            | (LOG_APPEND_TIME_BIT if log_append_time else 0)
            | (TRANSACTIONAL_BIT if transactional else 0)
            | (CONTROL_BIT if control else 0)
        ),
        last_offset_delta=len(records) - 1,
        base_timestamp=base_timestamp,
        max_timestamp=max(record.timestamp for record in records),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    pack_header(batch, header)
    write_crc(batch, len(batch))
    return batch


def _encode_all(records: Sequence[Appendable], base_timestamp: int) -> bytes:
    pieces: list[bytes] = []
    for delta, record in enumerate(records):
        body = _encode_one(record, delta, record.timestamp - base_timestamp)
        pieces.append(encode_varint(len(body)))
        pieces.append(body)
    return b"".join(pieces)


def _encode_one(record: Appendable, offset_delta: int, timestamp_delta: int) -> bytes:
    pieces = [b"\0", encode_varint(timestamp_delta), encode_varint(offset_delta)]
    _encode_bytes(pieces, record.key)
    _encode_bytes(pieces, record.value)
    pieces.append(encode_varint(len(record.headers)))
    for key, value in record.headers:
        _encode_bytes(pieces, key.encode("utf-8", "surrogateescape"))
        _encode_bytes(pieces, value)
    return b"".join(pieces)


def _encode_bytes(pieces: list[bytes], content: bytes | None) -> None:
    if content is None:
        pieces.append(_NULL)
        return
    pieces.append(encode_varint(len(content)))
    pieces.append(content)


_NULL = encode_varint(-1)
