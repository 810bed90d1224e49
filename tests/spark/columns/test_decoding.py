"""Batches to columns: every field of every row, against the plain reader."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.spark.columns.rows import new_records, plain_records, row_of

from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord
from penstock.spark.columns.decoding import Decoded, decode
from penstock.spark.columns.schema import COLUMNS

OFFSET_MAX = 2**62


def decode_all(fetched: bytes | bytearray, **changes: Any) -> Decoded:
    options: dict[str, Any] = {
        "topic": "t",
        "partition": 3,
        "wanted": COLUMNS,
        "first_offset": 0,
        "end_offset": OFFSET_MAX,
    }
    return decode(fetched, **(options | changes))


@given(st.lists(st.tuples(st.lists(new_records, min_size=1, max_size=8), st.sampled_from(Codec)), max_size=4))
def test_rows_are_those_of_the_plain_reader(batches: list[tuple[list[NewRecord], Codec]]) -> None:
    fetched, offset = bytearray(), 5
    for records, codec in batches:
        fetched += build_batch(records, base_offset=offset, codec=codec)
        offset += len(records)
    decoded = decode_all(fetched, first_offset=5)
    decoded.batch.validate(full=True)
    assert decoded.batch.to_pylist() == [
        row_of(one, topic="t", partition=3) for one in plain_records(fetched)
    ]
    assert decoded.next_offset == offset
