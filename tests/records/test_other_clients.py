"""Batches of kafka-python and aiokafka decode with ours, and ours with theirs."""

import warnings
from typing import Any

import pytest
from aiokafka.record import default_records as aiokafka_records

from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord, decode_records
from penstock.records.validation import ProduceRules, validate_produced

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # It reads its own files in an outdated way.
    from kafka.record import default_records as kafka_records

NOW = 1_700_000_000_000
RECORDS = [
    NewRecord(
        key=None if index % 3 == 0 else b"key %d" % index,
        value=None if index % 7 == 0 else b"value " * (index % 50),
        headers=(("trace", b"%d" % index), ("empty", b"")) if index % 2 else (),
        timestamp=NOW + index * 3 - (index % 5) * 7,
    )
    for index in range(400)
]
CASES = [
    pytest.param(module, codec, id=f"{module.__name__.split('.')[0]}-{codec.name.lower()}")
    for module in (kafka_records, aiokafka_records)
    for codec in Codec
]


def their_batch(module: Any, codec: Codec) -> bytes:
    builder = module.DefaultRecordBatchBuilder(
        magic=2,
        compression_type=int(codec),
        is_transactional=0,
        producer_id=77,
        producer_epoch=1,
        base_sequence=5,
        batch_size=1_000_000,
    )
    for index, record in enumerate(RECORDS):
        headers = list(record.headers)
        assert builder.append(
            index, timestamp=record.timestamp, key=record.key, value=record.value, headers=headers
        )
    return bytes(builder.build())


@pytest.mark.parametrize(("module", "codec"), CASES)
def test_their_batch_decodes_with_ours(module: Any, codec: Codec) -> None:
    batch = their_batch(module, codec)
    header = validate_produced(batch, ProduceRules(), NOW)
    assert (header.codec, header.producer_id, header.base_sequence) == (codec, 77, 5)
    decoded = [
        NewRecord(key=r.key, value=r.value, headers=r.headers, timestamp=r.timestamp)
        for r in decode_records(batch)
    ]
    assert decoded == RECORDS


@pytest.mark.parametrize(("module", "codec"), CASES)
def test_our_batch_decodes_with_theirs(module: Any, codec: Codec) -> None:
    batch = build_batch(
        RECORDS, codec=codec, base_offset=1000, producer_id=77, producer_epoch=1, base_sequence=5
    )
    theirs = module.DefaultRecordBatch(bytes(batch))
    assert theirs.validate_crc()
    assert (theirs.base_offset, theirs.producer_id, theirs.crc) == (1000, 77, read_header(batch).crc)
    found = [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in theirs]
    expected = [(1000 + index, r.timestamp, r.key, r.value, r.headers) for index, r in enumerate(RECORDS)]
    assert found == expected


def test_uncompressed_batches_are_equal_byte_for_byte() -> None:
    ours = build_batch(RECORDS, producer_id=77, producer_epoch=1, base_sequence=5)
    for module in (kafka_records, aiokafka_records):
        theirs = bytearray(their_batch(module, Codec.NONE))
        theirs[12:16] = ours[12:16]  # The leader epoch means nothing before a broker sets it.
        assert theirs == ours
