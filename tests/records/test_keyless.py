"""Records without a key are found where decoding finds them, and what is no record is refused likewise."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.limits import DECOMPRESSED_BYTES_MAX
from penstock.records.batch import HEADER_BYTES, pack_header, read_header, write_crc
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.errors import CorruptBatchError
from penstock.records.keyless import keyless_records
from penstock.records.record import NewRecord, decode_records
from penstock.records.varint import encode_varint

payloads = st.none() | st.binary(max_size=150)
headers = st.lists(st.tuples(st.text(max_size=80), payloads), max_size=3).map(tuple)
new_records = st.builds(
    NewRecord, key=payloads, value=payloads, headers=headers, timestamp=st.integers(0, 2**41)
)


def with_payload(payload: bytes, **fields: int) -> bytearray:
    """A batch with a right checksum round whatever ``payload`` is."""
    header = read_header(build_batch([NewRecord(value=b"")]))
    batch = bytearray(HEADER_BYTES) + payload
    pack_header(batch, header._replace(batch_length=len(batch) - 12, **fields))
    write_crc(batch, len(batch))
    return batch


def walked(batch: bytearray) -> list[int] | None:
    """The places of records without a key; None if the batch is refused."""
    try:
        return list(keyless_records(batch, read_header(batch), decompressed_bytes_max=DECOMPRESSED_BYTES_MAX))
    except CorruptBatchError:
        return None


def decoded(batch: bytearray) -> list[int] | None:
    """The same from whole records."""
    try:
        return [index for index, record in enumerate(decode_records(batch)) if record.key is None]
    except CorruptBatchError:
        return None


@given(st.lists(new_records, min_size=1, max_size=20), st.sampled_from(Codec))
def test_keyless_records_are_those_that_decode_without_a_key(records: list[NewRecord], codec: Codec) -> None:
    batch = build_batch(records, codec=codec)
    assert walked(batch) == [index for index, record in enumerate(records) if record.key is None]


@pytest.mark.parametrize("count", [1, 64, 65, 8_192, 8_193, 8_200])
def test_keyless_records_are_found_behind_many_others(count: int) -> None:
    records = [NewRecord(key=b"k", value=None)] * (count - 1) + [NewRecord(value=None)]
    assert walked(build_batch(records)) == [count - 1]


@given(st.binary(max_size=80), st.integers(-2, 12), st.integers(-2, 12), st.integers(0, 7))
def test_any_payload_is_judged_as_decoding_judges_it(
    payload: bytes, count: int, last_delta: int, codec: int
) -> None:
    batch = with_payload(payload, record_count=count, last_offset_delta=last_delta, attributes=codec)
    assert walked(batch) == decoded(batch)


def one_record(**fields: bytes) -> bytes:
    """A record of encoded ``fields``, in their order, some of them replaced."""
    parts = {
        "attributes": b"\0",
        "timestamp": b"\0",
        "delta": b"\0",
        "key": b"\x02k",
        "value": b"\x02v",
        "headers": b"\x02\x02h\x02x",
    }
    body = b"".join((parts | fields).values())
    return encode_varint(len(body)) + body


@pytest.mark.parametrize("name", ["timestamp", "delta", "key", "value", "headers"])
@pytest.mark.parametrize(
    "encoded",
    [
        b"",
        b"\0",
        b"\1",
        b"\2",
        b"\3",
        b"\x80\0",
        b"\x81\0",
        b"\x83\0",
        b"\x82\0k",
        b"\x80\x80\0",
        b"\x81\x80\0",
        b"\xff\xff\xff\xff\x0f",
        b"\xfe\xff\xff\xff\x0f",
        b"\xff\xff\xff\xff\x1f",
        b"\x80\x80\x80\x80\x80\0",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03",
        b"\x02\x01\x02",
        b"\x02\x02h\x03",
        b"\x02\x02h\x01",
        b"\x02\x82\0h\x81\0",
        b"\x7e",
    ],
)
def test_oddly_encoded_fields_are_judged_as_decoding_judges_them(name: str, encoded: bytes) -> None:
    record = one_record(**{name: encoded})
    for payload in (record, record[:-1], record + b"\0"):
        batch = with_payload(payload)
        assert walked(batch) == decoded(batch)


def test_mutated_batches_are_judged_as_decoding_judges_them() -> None:
    draw = random.Random("mutated records")
    records = [NewRecord(key=b"k", value=b"v" * 20, headers=(("h", b"x"),), timestamp=5) for _ in range(5)]
    good = build_batch(records)
    verdicts = set()
    for _ in range(5_000):
        batch = bytearray(good)
        batch[draw.randrange(HEADER_BYTES, len(batch))] = draw.choice((0, 1, 2, 3, 0x80, draw.randrange(256)))
        write_crc(batch, len(batch))
        assert walked(batch) == decoded(batch)
        verdicts.add(walked(batch) is None)
    assert verdicts == {True, False}


def test_records_that_decompress_beyond_the_limit_are_refused() -> None:
    batch = build_batch([NewRecord(value=bytes(10_000))], codec=Codec.GZIP)
    with pytest.raises(CorruptBatchError, match="more than 9000 bytes"):
        list(keyless_records(batch, read_header(batch), decompressed_bytes_max=9_000))
