"""Bytes that lie: one kind of error with topic, partition and offset, and never anything else."""

import random
from struct import Struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spark.columns.rows import (
    batch_at,
    decode_all,
    fetched_of,
    new_records,
    plain_rows,
    rows_of,
    with_payload,
)

from penstock.model.errors import OperatingError, UsageError
from penstock.records.batch import HEADER_BYTES, pack_header, read_header, split_batches, stamp, write_crc
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.errors import CorruptBatchError
from penstock.records.record import NewRecord
from penstock.records.varint import encode_varint
from penstock.spark.columns import bodies as bodies_module
from penstock.spark.columns import decoding as decoding_module
from penstock.spark.columns.encoding import encode
from penstock.spark.columns.errors import UnreadableRecordsError
from penstock.spark.columns.schema import COLUMNS

_BASE_OFFSET = Struct(">q")
records_of_a_batch = st.lists(new_records, min_size=1, max_size=6)


def assert_same_judgement(fetched: bytes | bytearray, **options: Any) -> None:
    """Whatever the plain reader refuses is refused; everything else is the same rows."""
    try:
        expected = plain_rows(fetched)
    except CorruptBatchError:
        with pytest.raises(UnreadableRecordsError):
            decode_all(fetched, **options)
        return
    assert rows_of(decode_all(fetched, **options)) == expected


def assert_rows_or_the_one_error(fetched: bytes) -> None:
    refused = None
    try:
        rows_of(decode_all(fetched, check_crc=False))
    except UnreadableRecordsError as error:
        refused = error
    assert refused is None or (refused.topic, refused.partition) == ("t", 3)


@given(records_of_a_batch, st.data())
def test_one_changed_byte_of_records_is_judged_as_by_the_plain_reader(
    records: list[NewRecord], data: st.DataObject
) -> None:
    batch = build_batch(records, base_offset=4)
    place = data.draw(st.integers(HEADER_BYTES, len(batch) - 1))
    batch[place] ^= data.draw(st.integers(1, 255))
    write_crc(batch, len(batch))
    assert_same_judgement(batch)


@given(records_of_a_batch, st.binary(max_size=12), st.data())
def test_inserted_bytes_are_judged_as_by_the_plain_reader(
    records: list[NewRecord], inserted: bytes, data: st.DataObject
) -> None:
    batch = build_batch(records)
    place, gone = data.draw(st.tuples(st.integers(HEADER_BYTES, len(batch)), st.integers(0, 12)))
    payload = bytes(batch[HEADER_BYTES:place] + inserted + batch[place + gone :])
    assert_same_judgement(with_payload(payload, read_header(batch)))


@given(records_of_a_batch, st.integers(-2, 9), st.integers(-2, 9))
def test_wrong_counts_are_judged_as_by_the_plain_reader(
    records: list[NewRecord], record_count: int, last_offset_delta: int
) -> None:
    batch = build_batch(records)
    header = read_header(batch)
    wrong = with_payload(
        bytes(batch[HEADER_BYTES:]), header, record_count=record_count, last_offset_delta=last_offset_delta
    )
    if record_count == 0:
        # A batch that compaction has emptied: nobody looks for records in it.
        assert decode_all(wrong).batch.num_rows == 0 if last_offset_delta >= 0 else True
        return
    assert_same_judgement(wrong)


@given(st.lists(records_of_a_batch, min_size=1, max_size=3), st.sampled_from(Codec), st.data())
def test_changed_bytes_anywhere_end_in_rows_or_in_the_one_error(
    batches: list[list[NewRecord]], codec: Codec, data: st.DataObject
) -> None:
    fetched, offset = bytearray(), 0
    for records in batches:
        fetched += build_batch(records, base_offset=offset, codec=codec)
        offset += len(records)
    for _ in range(data.draw(st.integers(1, 3))):
        fetched[data.draw(st.integers(0, len(fetched) - 1))] = data.draw(st.integers(0, 255))
    assert_rows_or_the_one_error(bytes(fetched))


@given(st.binary(max_size=300))
def test_any_bytes_end_in_rows_or_in_the_one_error(fetched: bytes) -> None:
    assert_rows_or_the_one_error(fetched)


def many_rows(seed: int) -> bytearray:
    """A fetch of so many rows that chains are walked in lanes; some values look like records."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 60, 4000)
    values = [rng.integers(0, 14, size, np.uint8).tobytes() for size in sizes.tolist()]
    rows = pa.record_batch({"value": pa.array(values, pa.binary())})
    fetched = bytearray()
    for batch in encode(rows, batch_bytes_max=int(rng.choice([2000, 200_000])), now_ms=5):
        stamped = bytearray(batch.data)
        stamp(stamped, batch.first_row, 0)
        fetched += stamped
    return fetched


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_changed_bytes_among_thousands_of_rows_are_judged_as_by_the_plain_reader(seed: int) -> None:
    fetched = many_rows(seed % 5)
    assert rows_of(decode_all(fetched)) == plain_rows(fetched)
    places = [(position, header.size_bytes) for position, header in split_batches(fetched)]
    rng = random.Random(seed)
    for _ in range(6):
        changed = bytearray(fetched)
        position, size = rng.choice(places)
        changed[rng.randrange(position + HEADER_BYTES, position + size)] ^= rng.randrange(1, 256)
        write_crc(memoryview(changed)[position:], size)
        assert_same_judgement(changed)


def test_wrong_checksum_is_an_error_unless_nobody_asks() -> None:
    batch = build_batch([NewRecord(value=b"abc")], base_offset=6)
    batch[-2] ^= 1
    with pytest.raises(UnreadableRecordsError) as caught:
        decode_all(batch)
    assert str(caught.value) == "Topic 't', partition 3, batch at offset 6: The batch fails its checksum."
    assert rows_of(decode_all(batch, check_crc=False))[0]["value"] == b"ab\x62"


def test_error_names_the_batch_that_lies() -> None:
    batch = batch_at(2, 4)
    broken = with_payload(bytes(batch[HEADER_BYTES:-1]) + b"\x02", read_header(batch))
    with pytest.raises(UnreadableRecordsError, match="partition 3, batch at offset 2: A record") as caught:
        decode_all(fetched_of([batch_at(0, 2), broken, batch_at(6, 1)]))
    assert isinstance(caught.value, OperatingError)
    assert caught.value.offset == 2


def test_error_names_the_batch_also_behind_the_windows_start() -> None:
    batch = batch_at(2, 4)
    broken = with_payload(bytes(batch[HEADER_BYTES:-1]) + b"\x02", read_header(batch))
    with pytest.raises(UnreadableRecordsError, match="batch at offset 2: A record"):
        decode_all(fetched_of([batch_at(0, 2), broken]), first_offset=4)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("size", [26, 34, 80])
def test_old_formats_are_refused_with_their_place(magic: int, size: int) -> None:
    """As a message set of Kafka 0.10 has them: offset, size, checksum, magic."""
    message = _BASE_OFFSET.pack(7) + (size - 12).to_bytes(4, "big") + bytes(4) + bytes([magic])
    with pytest.raises(UnreadableRecordsError, match=f"batch at offset 7: .* magic {magic}.* only 2 is read"):
        decode_all(message.ljust(size, b"\0"))


def test_unknown_magic_is_refused() -> None:
    batch = batch_at(7, 1)
    batch[16] = 3
    with pytest.raises(UnreadableRecordsError, match="offset 7: There is no magic 3"):
        decode_all(batch)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_length": 10}, "Batch length is 10"),
        ({"batch_length": -1}, "Batch length is -1"),
        ({"base_offset": -1}, "behind offset"),
        ({"base_offset": 2**63 - 1}, "last offset delta"),
        ({"last_offset_delta": -1}, "last offset delta is -1"),
        ({"record_count": -1}, "claims -1 records"),
        ({"record_count": 2**31 - 1, "last_offset_delta": 2**31 - 1}, "claims 2147483647 records"),
        ({"record_count": 1_000_000, "last_offset_delta": 2**31 - 1}, "claims 1000000 records in 24 bytes"),
        ({"attributes": 5}, "codec 5 does not exist"),
    ],
)
def test_header_that_lies_is_refused(changes: dict[str, int], message: str) -> None:
    batch = batch_at(0, 3)
    pack_header(batch, read_header(batch)._replace(**changes))
    if "batch_length" not in changes:
        write_crc(batch, len(batch))
    with pytest.raises(UnreadableRecordsError, match=message):
        decode_all(batch)


def test_batches_that_go_back_are_refused() -> None:
    with pytest.raises(UnreadableRecordsError, match="batch at offset 1: It stands behind offset 2"):
        decode_all(fetched_of([batch_at(0, 3), batch_at(1, 3)]))


def record(*fields: int | bytes, length: int | None = None) -> bytes:
    body = b"".join(encode_varint(one) if isinstance(one, int) else one for one in fields)
    return encode_varint(len(body) if length is None else length) + body


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        pytest.param(record(b"\0", 0, 0, -2, -1, 0, b"...."), "less than -1", id="key-below-null"),
        pytest.param(record(b"\0", 0, 0, 50, b"x", -1, 0), "beyond", id="key-too-long"),
        pytest.param(record(b"\0", 0, 0, 2**31 - 1, -1, 0), "beyond", id="key-huge"),
        pytest.param(record(b"\0", 0, 0, -1, 50, b"x", 0), "beyond", id="value-too-long"),
        pytest.param(record(b"\0", 0, 0, -1, -1, -1), "-1 headers", id="headers-below-none"),
        pytest.param(record(b"\0", 0, 0, -1, -1, 2**30), "headers in", id="headers-huge"),
        pytest.param(record(b"\0", 0, 0, -1, -1, 1, -1, -1), "no name", id="header-without-name"),
        pytest.param(record(b"\0", 0, 0, -1, -1, 1, 0, -2), "no name", id="header-value-below-null"),
        pytest.param(record(b"\0", 0, 0, -1, -1, 1, 9, -1), "beyond its record", id="header-name-too-long"),
        pytest.param(record(b"\0", 0, 0, -1, -1, 0, b"more"), "not as long as", id="bytes-behind-headers"),
        pytest.param(record(b"\0", 0, 1, -1, -1, 0), "offset delta 1", id="delta-beyond-last"),
        pytest.param(record(b"\0", 0, -1, -1, -1, 0), "offset delta -1", id="delta-negative"),
        pytest.param(record(b"\0" + b"\xff" * 10, 0, -1, -1, 0), "does not fit", id="varlong-too-long"),
        pytest.param(record(b"\0", 0, b"\xff" * 5, -1, -1, 0), "does not fit", id="varint-too-long"),
        pytest.param(record(b"\0", 0, 0, -1, b"\xff\xff\xff\xff\x1f", 0), "does not fit", id="33-bits"),
        pytest.param(b"\xff" * 10, "records|fit", id="length-too-long"),
        pytest.param(
            record(b"\0", 0, 0, -1, -1, 0, length=-6), "last of its 1 records", id="length-negative"
        ),
        pytest.param(
            record(b"\0", 0, 0, -1, -1, 0, length=9), "last of its 1 records", id="length-too-large"
        ),
        pytest.param(record(b"\0", 0, 0, -1, b"\xff\xff"), "too early", id="ends-within-a-number"),
    ],
)
def test_record_that_lies_is_refused(payload: bytes, message: str) -> None:
    header = read_header(build_batch([NewRecord(value=b"")], base_offset=12))
    batch = with_payload(payload, header)
    with pytest.raises(CorruptBatchError):
        plain_rows(batch)
    with pytest.raises(UnreadableRecordsError, match=f"batch at offset 12: .*{message}"):
        decode_all(batch)


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ((1, -1, -1), "no name"),
        ((1, 0, -2), "less than -1"),
        ((1, 9, -1), "beyond its record"),
        ((1, 0, -1, b"more"), "not as long as"),
    ],
)
def test_header_that_lies_among_many_is_refused(headers: tuple[int | bytes, ...], message: str) -> None:
    """So many records that their headers are read as columns; the others have one each."""
    good = [record(b"\0", 0, delta, -1, -1, 1, 0, -1) for delta in range(19)]
    bad = record(b"\0", 0, 19, -1, -1, *headers)
    header = read_header(build_batch([NewRecord(value=b"")] * 20, base_offset=12))
    batch = with_payload(b"".join([*good, bad]), header)
    with pytest.raises(CorruptBatchError):
        plain_rows(batch)
    with pytest.raises(UnreadableRecordsError, match=f"batch at offset 12: .*{message}"):
        decode_all(batch)


@pytest.mark.parametrize("wanted", [[name] for name in COLUMNS])
def test_field_beyond_its_record_is_refused_for_every_column_that_needs_it(wanted: list[str]) -> None:
    """What is not wanted need not be read; but nothing may be read beyond the buffer."""
    header = read_header(build_batch([NewRecord(value=b"")]))
    batch = with_payload(record(b"\0", 0, 0, -1, 2**31 - 1, b"."), header)
    if wanted[0] in ("value", "headers"):
        with pytest.raises(UnreadableRecordsError, match="beyond"):
            decode_all(batch, wanted=wanted)
    else:
        assert decode_all(batch, wanted=wanted).batch.num_rows == 1


def test_compressed_batch_of_more_than_it_may_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies_module, "BATCH_BYTES_MAX", 1000)
    bomb = build_batch([NewRecord(value=bytes(100_000))], base_offset=3, codec=Codec.ZSTD)
    with pytest.raises(UnreadableRecordsError, match="offset 3: zstd data is more than 1000 bytes"):
        decode_all(bomb)


def test_more_bytes_than_arrow_can_count_are_the_callers_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding_module, "BUFFER_BYTES_MAX", 100)
    with pytest.raises(UsageError, match="101 bytes are too many to decode at once, the limit is 100"):
        decode_all(bytes(101))
