"""Arrow columns to record batches: every record of a batch laid out by one call of Arrow.

A record is a head (its length, two deltas, the key's length), the key, the value's length, the value and a
tail (its headers). Heads are columns of bytes made with numpy; joining the five columns writes the records
one after another, which is already what stands in a batch.
"""

from dataclasses import dataclass
from typing import Any

from penstock.model.errors import UsageError
from penstock.records.batch import (
    CRC_START,
    HEADER_BYTES,
    LOG_OVERHEAD,
    MAGIC,
    SEQUENCE_MAX,
    TRANSACTIONAL_BIT,
    BatchHeader,
    pack_header,
)
from penstock.records.checksum import crc32c
from penstock.records.compression import CODEC_NAMES, Codec, compress
from penstock.spark.columns.fields import read_fields
from penstock.spark.columns.layout import Layout, Span, lay_out

_CRC_AT = 17


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerStamp:
    """Who writes: what a broker needs to refuse what it has already."""

    producer_id: int
    producer_epoch: int
    base_sequence: int
    """Of the first row; those of the following batches go on from it."""
    is_transactional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedBatch:
    """One record batch as it goes into a produce request."""

    data: bytes
    record_count: int
    first_row: int
    """The place of its first record among the rows given."""
    base_sequence: int
    """-1 without a producer."""


def encode(
    rows: Any,
    *,
    compression: str = "none",
    producer: ProducerStamp | None = None,
    batch_bytes_max: int = 1_000_000,
    now_ms: int,
) -> list[EncodedBatch]:
    """The ``rows`` of a ``pyarrow.RecordBatch`` as batches of at most ``batch_bytes_max`` bytes.

    The columns are ``value``, and if there are any ``key``, ``headers`` and ``timestamp_ms``; a row without
    a timestamp is of ``now_ms``. A record that is larger than ``batch_bytes_max`` makes a batch of its own.
    """
    if compression not in CODEC_NAMES:
        raise UsageError(f"compression={compression!r} is not one of {', '.join(CODEC_NAMES)}.")
    codec = CODEC_NAMES[compression]
    fields = read_fields(rows, now_ms)
    return [
        _batch(layout, span, codec=codec, producer=producer)
        for layout in lay_out(fields, batch_bytes_max - HEADER_BYTES)
        for span in layout.spans
    ]


def next_sequence(base_sequence: int, record_count: int) -> int:
    """The sequence behind ``record_count`` records from ``base_sequence``: 0 follows 2^31-1."""
    return (base_sequence + record_count) & SEQUENCE_MAX


def _batch(layout: Layout, span: Span, *, codec: Codec, producer: ProducerStamp | None) -> EncodedBatch:
    body: Any = layout.body(span)
    if codec and len(compressed := compress(codec, body)) < len(body):
        body = compressed
    else:
        codec = Codec.NONE
    sequence = -1 if producer is None else next_sequence(producer.base_sequence, span.first_row)
    header = BatchHeader(
        base_offset=0,
        batch_length=HEADER_BYTES - LOG_OVERHEAD + len(body),
        leader_epoch=-1,
        magic=MAGIC,
        crc=0,
        attributes=codec | (TRANSACTIONAL_BIT if producer is not None and producer.is_transactional else 0),
        last_offset_delta=span.record_count - 1,
        base_timestamp=span.base_timestamp,
        max_timestamp=span.max_timestamp,
        producer_id=-1 if producer is None else producer.producer_id,
        producer_epoch=-1 if producer is None else producer.producer_epoch,
        base_sequence=sequence,
        record_count=span.record_count,
    )
    return EncodedBatch(
        data=_with_header(header, body),
        record_count=span.record_count,
        first_row=span.first_row,
        base_sequence=sequence,
    )


def _with_header(header: BatchHeader, body: Any) -> bytes:
    packed = bytearray(HEADER_BYTES)
    pack_header(packed, header)
    crc = crc32c(body, crc32c(memoryview(packed)[CRC_START:]))
    packed[_CRC_AT:CRC_START] = crc.to_bytes(4, "big")
    return b"".join((packed, body))
