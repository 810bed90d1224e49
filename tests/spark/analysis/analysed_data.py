"""Records of all kinds in a data directory, and what the analysis without Spark tells of them."""

import json
from pathlib import Path
from typing import Any

from tests.analysis.analysis_testing import write_segment

from penstock.analysis.key_counts import KEYS_MAX
from penstock.analysis.partition_analysis import analyse_partition, sum_up
from penstock.analysis.stored_partition import find_partitions
from penstock.records.batch import stamp
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.records.record import NewRecord
from penstock.storage.read_only_filesystem import ReadOnlyFileSystem

MONDAY_MS = 1_769_990_400_000 - 5 * 24 * 3_600_000
HOUR_MS = 3_600_000
PROTOBUF = b"\x08\xac\x02\x12\x02\xc3\x28"
"""Two fields; no UTF-8."""

VALUES = (
    b'{"type": "created", "amount": 12.5}',
    b'{"event_type": "paid"}',
    b'["a", "list"]',
    b"plain text",
    b"\x00\x00\x00\x00\x07avro",
    PROTOBUF,
    b"",
    None,
)
KINDS = ("json", "json", "json", "text", "registry", "binary", "empty", "tombstone")


def records(count: int, *, start: int = 0) -> list[NewRecord]:
    return [
        NewRecord(
            key=None if number % 10 == 9 else b"key-%d" % (number % 7),
            value=VALUES[number % len(VALUES)],
            timestamp=MONDAY_MS + (number % 50) * HOUR_MS + number,
            headers=(("trace", b"%d" % number),) if number % 3 == 0 else (),
        )
        for number in range(start, start + count)
    ]


def fill(directory: Path) -> None:
    """Two topics: one of three partitions, of which one is empty, and one with long values."""
    few = [records(50, start=number * 50) for number in range(6)]
    write_segment(directory / "orders-0", few[:3], codec=Codec.ZSTD)
    write_segment(directory / "orders-0", few[3:5], base_offset=150)
    path = write_segment(directory / "orders-1", few[5:], codec=Codec.GZIP)
    path.write_bytes(path.read_bytes() + _transaction(base_offset=50))
    (directory / "orders-2").mkdir()
    (directory / "orders-2" / f"{0:020d}.log").write_bytes(b"")
    long = json.dumps({"kind": "long", "text": "x" * 5_000}).encode()
    write_segment(directory / "payments-0", [[NewRecord(value=long, key=b"k" * 100)] * 20])


def _transaction(*, base_offset: int) -> bytes:
    made = build_batch(
        records(10),
        base_offset=base_offset,
        producer_id=5,
        producer_epoch=0,
        base_sequence=0,
        transactional=True,
        leader_epoch=0,
    )
    marker = build_transaction_marker(
        TransactionMarker(is_commit=True, coordinator_epoch=0, producer_id=5, producer_epoch=0),
        timestamp=MONDAY_MS,
    )
    stamp(marker, base_offset + 10, 0)
    return bytes(made + marker)


def plain_analysis(directory: Path, *, top_max: int) -> list[dict[str, Any]]:
    """What ``penstock.analysis`` tells of the same files."""
    files = ReadOnlyFileSystem()
    found = [
        analyse_partition(files, stored, keys_max=KEYS_MAX, progress=lambda done: None)
        for stored in find_partitions(files, str(directory))
    ]
    topics = sorted({each.partition.topic for each in found})
    return [
        sum_up(topic, [each for each in found if each.partition.topic == topic]).as_json(top_max=top_max)
        for topic in topics
    ]
