"""Control records: transaction markers and the rest."""

import pytest

from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.control import (
    ControlType,
    TransactionMarker,
    build_control_batch,
    build_transaction_marker,
    decode_control_key,
    decode_control_record,
    decode_transaction_marker,
    encode_control_key,
)
from penstock.records.errors import CorruptBatchError
from penstock.records.record import NewRecord


@pytest.mark.parametrize("is_commit", [True, False])
def test_transaction_marker_reads_back(is_commit: bool) -> None:
    marker = TransactionMarker(is_commit=is_commit, coordinator_epoch=3, producer_id=70, producer_epoch=4)
    batch = build_transaction_marker(marker, timestamp=99)
    assert decode_transaction_marker(batch) == marker
    header = read_header(batch)
    assert header.is_control
    assert header.is_transactional
    assert (header.base_sequence, header.record_count, header.max_timestamp) == (-1, 1, 99)


def test_transaction_marker_has_kafkas_bytes() -> None:
    marker = TransactionMarker(is_commit=True, coordinator_epoch=5, producer_id=1, producer_epoch=0)
    _, record = decode_control_record(build_transaction_marker(marker, timestamp=0))
    assert record.key == b"\x00\x00\x00\x01"
    assert record.value == b"\x00\x00\x00\x00\x00\x05"


@pytest.mark.parametrize("control_type", list(ControlType))
def test_control_key_of_each_type_reads_back(control_type: ControlType) -> None:
    assert decode_control_key(encode_control_key(control_type)) is control_type


def test_control_batch_of_another_type_is_no_marker() -> None:
    batch = build_control_batch(
        ControlType.LEADER_CHANGE, b"body", timestamp=1, base_offset=8, leader_epoch=2
    )
    control_type, record = decode_control_record(batch)
    assert control_type is ControlType.LEADER_CHANGE
    assert (record.offset, record.value) == (8, b"body")
    assert decode_transaction_marker(batch) is None


def test_control_key_of_a_newer_type_is_unknown_not_an_error() -> None:
    assert decode_control_key(b"\x00\x00\x00\x63") is None


@pytest.mark.parametrize("key", [None, b"", b"\x00\x00\x00", b"\xff\xff\x00\x00"])
def test_control_key_that_is_none_is_refused(key: bytes | None) -> None:
    with pytest.raises(CorruptBatchError):
        decode_control_key(key)


def test_plain_batch_is_no_control_batch() -> None:
    with pytest.raises(CorruptBatchError, match="no control batch"):
        decode_control_record(build_batch([NewRecord(value=b"")]))


def test_control_batch_of_two_records_is_refused() -> None:
    record = NewRecord(key=encode_control_key(ControlType.ABORT), value=b"")
    with pytest.raises(CorruptBatchError, match="one record"):
        decode_control_record(build_batch([record, record], control=True))


@pytest.mark.parametrize("value", [None, b"\x00\x00\x00"])
def test_transaction_marker_without_a_whole_value_is_refused(value: bytes | None) -> None:
    record = NewRecord(key=encode_control_key(ControlType.ABORT), value=value)
    with pytest.raises(CorruptBatchError, match="Transaction marker"):
        decode_transaction_marker(build_batch([record], control=True))
