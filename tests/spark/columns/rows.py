"""Records as tests make them, and the rows they should become, read by the project's own plain reader."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from penstock.records.batch import split_batches
from penstock.records.record import NewRecord, Record, decode_records

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

texts = st.text(max_size=10, alphabet=st.characters(exclude_categories=["Cs"]))
contents = (
    st.none() | st.binary(max_size=20) | st.integers(60, 70).map(bytes) | st.integers(8180, 8200).map(bytes)
)
headers = st.lists(st.tuples(texts, st.none() | st.binary(max_size=10)), max_size=4).map(tuple)
new_records = st.builds(
    NewRecord, key=contents, value=contents, headers=headers, timestamp=st.integers(-1, 2**45)
)


def plain_records(fetched: bytes | bytearray) -> list[Record]:
    """All records of all batches, control batches too."""
    return [
        record
        for position, header in split_batches(fetched)
        for record in decode_records(fetched, header, position)
    ]


def row_of(record: Record, *, topic: str, partition: int, timestamp_type: int = 0) -> dict[str, Any]:
    """The row that a record should become."""
    return {
        "key": record.key,
        "value": record.value,
        "topic": topic,
        "partition": partition,
        "offset": record.offset,
        "timestamp": EPOCH + timedelta(milliseconds=record.timestamp),
        "timestampType": timestamp_type,
        "headers": [{"key": name, "value": value} for name, value in record.headers] or None,
    }
