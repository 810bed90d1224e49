"""Built batches carry in their header what was asked for."""

import pytest

from penstock.model.errors import UsageError
from penstock.records.batch import crc_matches, read_header
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord


def test_batch_header_has_everything_that_was_given() -> None:
    records = [NewRecord(value=b"a", timestamp=30), NewRecord(value=b"b", timestamp=10)]
    batch = build_batch(
        records,
        base_offset=5,
        codec=Codec.LZ4,
        producer_id=8,
        producer_epoch=2,
        base_sequence=40,
        transactional=True,
        leader_epoch=6,
    )
    header = read_header(batch)
    assert crc_matches(batch, header)
    assert header.size_bytes == len(batch)
    assert (header.base_offset, header.leader_epoch, header.codec) == (5, 6, Codec.LZ4)
    assert (header.base_timestamp, header.max_timestamp) == (30, 30)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (8, 2, 40)
    assert (header.record_count, header.last_offset_delta) == (2, 1)
    assert header.is_transactional
    assert not header.is_control


def test_batch_without_options_belongs_to_nobody() -> None:
    header = read_header(build_batch([NewRecord(value=b"a")]))
    assert (header.base_offset, header.leader_epoch, header.attributes) == (0, -1, 0)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert (header.base_timestamp, header.max_timestamp) == (-1, -1)


def test_batch_of_no_records_is_a_callers_mistake() -> None:
    with pytest.raises(UsageError, match="at least one"):
        build_batch([])
