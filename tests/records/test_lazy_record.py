"""Records read lazily are the same as those read at once, and bad ones raise our error and no other."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.records.batch import HEADER_BYTES, read_header, write_crc
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.errors import CorruptBatchError
from penstock.records.lazy_record import lazy_records
from penstock.records.record import NewRecord, decode_records

payloads = st.none() | st.binary(max_size=300)
headers = st.lists(st.tuples(st.text(max_size=8), payloads), max_size=3).map(tuple)
new_records = st.builds(
    NewRecord, key=payloads, value=payloads, headers=headers, timestamp=st.integers(0, 2**41)
)


@given(
    records=st.lists(new_records, min_size=1, max_size=8),
    codec=st.sampled_from(Codec),
    log_append_time=st.booleans(),
)
def test_lazy_records_are_those_that_are_read_at_once(
    records: list[NewRecord], codec: Codec, log_append_time: bool
) -> None:
    batch = build_batch(records, base_offset=7, codec=codec, log_append_time=log_append_time)
    header = read_header(batch)
    lazy = lazy_records(batch, header)
    assert [each.record for each in lazy] == decode_records(batch, header)
    assert all(value is None or value in each.header_bytes for each in lazy for _, value in each.headers)


@given(records=st.lists(new_records, min_size=1, max_size=4), data=st.data())
def test_damaged_batches_raise_our_error_and_no_other(records: list[NewRecord], data: st.DataObject) -> None:
    batch = build_batch(records)
    place = data.draw(st.integers(HEADER_BYTES, len(batch) - 1))
    batch[place] = data.draw(st.integers(0, 255))
    write_crc(batch, len(batch))
    with contextlib.suppress(CorruptBatchError):
        for each in lazy_records(batch, read_header(batch)):
            assert each.headers is not None


def test_a_batch_that_fails_its_checksum_is_refused() -> None:
    batch = build_batch([NewRecord(value=b"x", timestamp=0)])
    batch[-1] ^= 1
    with pytest.raises(CorruptBatchError, match="checksum"):
        lazy_records(batch, read_header(batch))


def test_a_batch_with_fewer_records_than_it_claims_is_refused() -> None:
    batch = build_batch([NewRecord(value=b"x" * 40, timestamp=0)])
    batch[57:61] = (2).to_bytes(4, "big")
    write_crc(batch, len(batch))
    with pytest.raises(CorruptBatchError):
        lazy_records(batch, read_header(batch))
