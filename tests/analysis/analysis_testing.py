"""Batches and data directories for the tests of analyses."""

from collections.abc import Sequence
from pathlib import Path

from penstock.analysis.stored_partition import StoredPartition, find_partitions
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord
from penstock.storage.read_only_filesystem import ReadOnlyFileSystem

TIME_MS = 1_700_000_000_000


def keyed(*keys: str | None, value: bytes | None = b"value") -> list[NewRecord]:
    """A record for each key, a millisecond apart."""
    return [
        NewRecord(key=None if key is None else key.encode(), value=value, timestamp=TIME_MS + number)
        for number, key in enumerate(keys)
    ]


def write_segment(
    directory: Path,
    batches: Sequence[Sequence[NewRecord]],
    *,
    base_offset: int = 0,
    codec: Codec = Codec.NONE,
    leader_epoch: int = 0,
) -> Path:
    """A ``.log`` file of these batches, offsets following each other from ``base_offset``."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{base_offset:020d}.log"
    offset, data = base_offset, b""
    for records in batches:
        data += build_batch(records, base_offset=offset, codec=codec, leader_epoch=leader_epoch)
        offset += len(records)
    path.write_bytes(data)
    return path


def stored(data_directory: Path) -> StoredPartition:
    """The only partition in a data directory."""
    (found,) = find_partitions(ReadOnlyFileSystem(), str(data_directory))
    return found
