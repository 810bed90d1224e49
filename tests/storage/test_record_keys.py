import pytest
from hypothesis import given
from hypothesis.strategies import binary, builds, integers, just, lists, none, sampled_from, tuples

from penstock.records.batch import HEADER_BYTES, read_header
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.errors import CorruptBatchError
from penstock.records.record import NewRecord
from penstock.storage.record_keys import batch_payload, read_keys, record_starts

records = builds(
    NewRecord,
    key=none() | binary(max_size=200),
    value=none() | binary(max_size=200),
    headers=just(()) | just((("name", b"value"), ("other", None))),
    timestamp=integers(0, 2**45),
)


@given(lists(records, min_size=1, max_size=20), sampled_from(list(Codec)))
def test_columns_are_those_of_the_records(made: list[NewRecord], codec: Codec) -> None:
    batch = build_batch(made, codec=codec)
    header = read_header(batch)
    payload = batch_payload(memoryview(batch), header)
    found = read_keys(payload, header.record_count)
    assert found.keys == [record.key for record in made]
    assert list(found.tombstones) == [record.value is None for record in made]
    assert found.starts == record_starts(payload, header.record_count)
    plain = build_batch(made)[HEADER_BYTES:]
    assert payload == plain
    assert found.starts[-1] == len(plain)


PAYLOAD = bytes(
    build_batch([NewRecord(key=b"key", value=b"v" * 100), NewRecord(key=b"k", value=b"v")])[HEADER_BYTES:]
)


@pytest.mark.parametrize("count", [1, 3])
def test_wrong_count_is_noticed(count: int) -> None:
    for read in (read_keys, record_starts):
        with pytest.raises(CorruptBatchError):
            read(PAYLOAD, count)


@given(tuples(integers(0, len(PAYLOAD) - 1), integers(0, 255)), integers(0, len(PAYLOAD)))
def test_rubbish_is_read_or_refused(change: tuple[int, int], length: int) -> None:
    """Checksums were compared before; this only has to end."""
    position, byte = change
    rubbish = bytearray(PAYLOAD)
    rubbish[position] = byte
    for read in (read_keys, record_starts):
        for data in (bytes(rubbish), PAYLOAD[:length]):
            try:
                read(data, 2)
            except CorruptBatchError:
                continue
