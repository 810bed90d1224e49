"""Records whose timestamps are out of range are found where decoding finds them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.records.test_keyless import with_payload

from penstock.model.limits import DECOMPRESSED_BYTES_MAX, RECORDS_SEARCHED_FOR_ERRORS_MAX
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.errors import CorruptBatchError
from penstock.records.mistimed import mistimed_records
from penstock.records.record import NewRecord

ALLOWED = range(1_000, 2_000)


def mistimed(batch: bytearray) -> list[tuple[int, int]]:
    header = read_header(batch)
    return list(mistimed_records(batch, header, ALLOWED, decompressed_bytes_max=DECOMPRESSED_BYTES_MAX))


@given(
    st.lists(st.tuples(st.integers(-1, 2**41), st.binary(max_size=150)), min_size=1, max_size=20),
    st.sampled_from(Codec),
)
def test_mistimed_records_are_those_outside_but_for_those_without_a_time(
    rows: list[tuple[int, bytes]], codec: Codec
) -> None:
    batch = build_batch([NewRecord(value=value, timestamp=time) for time, value in rows], codec=codec)
    expected = [(index, time) for index, (time, _) in enumerate(rows) if time not in ALLOWED and time != -1]
    assert mistimed(batch) == expected


def test_mistimed_record_behind_very_many_others_is_not_sought() -> None:
    good, late = NewRecord(value=None, timestamp=1_500), NewRecord(value=None, timestamp=5_000)
    records = [*[good] * (RECORDS_SEARCHED_FOR_ERRORS_MAX - 1), late, late]
    assert mistimed(build_batch(records)) == [(RECORDS_SEARCHED_FOR_ERRORS_MAX - 1, 5_000)]


@given(st.binary(max_size=80), st.integers(-2, 12))
def test_any_payload_is_walked_or_refused(payload: bytes, count: int) -> None:
    try:
        found = mistimed(with_payload(payload, record_count=count))
    except CorruptBatchError:
        return
    assert len(found) <= max(count, 0)


@pytest.mark.parametrize("payload", [b"\x01" + bytes(9), b"\x20" + bytes(9)])
def test_record_of_an_impossible_length_is_refused(payload: bytes) -> None:
    with pytest.raises(CorruptBatchError):
        mistimed(with_payload(payload, record_count=2 if payload[0] == 0x20 else 1))
