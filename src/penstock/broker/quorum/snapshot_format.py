"""A snapshot of the metadata as bytes, in Kafka's format, and back.

Record batches like those of the log: a control record that begins it, the quorum's version and its voters,
then the records that make an empty image into this one, and a control record that ends it. Offsets count from
0 inside the file, and the leader epoch is the snapshot's. Whatever is missing or bad makes all of it
unreadable: half an image would drop topics.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penstock.metadata.image import ClusterImage
from penstock.metadata.records import MetadataRecord, decode_record, encode_record
from penstock.metadata.snapshot import snapshot_records
from penstock.model.errors import CorruptLogError, DecodeError
from penstock.raft.control_records import ControlBatches, read_voters
from penstock.raft.entry import SnapshotId
from penstock.raft.voters import VoterSet
from penstock.records.batch import BatchHeader, Buffer, split_batches, stamp
from penstock.records.builder import build_batch
from penstock.records.control import ControlType, build_control_batch, decode_control_record
from penstock.records.errors import CorruptBatchError
from penstock.records.record import NewRecord, decode_records
from penstock.wire.compiler import encode_struct
from penstock.wire.primitives import INT16, INT64
from penstock.wire.schema import Struct, field

BATCH_RECORDS_MAX = 1_000
_VERSION = 0
_QUORUM_VERSION = 1
"""Kafka's ``kraft.version`` in which voters are in the log (KIP-853)."""


class SnapshotHeaderRecord(Struct):
    """The first record."""

    version: int = field(INT16)
    last_contained_log_timestamp: int = field(INT64)


class SnapshotFooterRecord(Struct):
    """The last record: nothing is missing."""

    version: int = field(INT16)


class QuorumVersionRecord(Struct):
    """Which version of the quorum's protocol is in use; Kafka's ``KRaftVersionRecord``."""

    version: int = field(INT16)
    level: int = field(INT16)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotContent:
    """What a snapshot says."""

    voters: VoterSet
    image: ClusterImage


def encode_snapshot(
    content: SnapshotContent, snapshot_id: SnapshotId, *, timestamp: int = 0
) -> Iterator[bytearray]:
    """The batches of a snapshot, in order; ``timestamp`` is that of the last record it stands for."""
    offset = 0
    for batch, record_count in _batches(content, timestamp):
        stamp(batch, offset, snapshot_id.term)
        offset += record_count
        yield batch


def decode_snapshot(data: Buffer) -> SnapshotContent:
    """What the bytes say; ``CorruptLogError`` unless they are a whole snapshot."""
    try:
        return _decode(memoryview(data))
    except (CorruptBatchError, DecodeError) as error:
        raise CorruptLogError(f"a snapshot cannot be read: {error}") from error


def _batches(content: SnapshotContent, timestamp: int) -> Iterator[tuple[bytearray, int]]:
    header = SnapshotHeaderRecord(version=_VERSION, last_contained_log_timestamp=timestamp)
    yield _control(ControlType.SNAPSHOT_HEADER, header, timestamp), 1
    version = QuorumVersionRecord(version=_VERSION, level=_QUORUM_VERSION)
    yield _control(ControlType.KRAFT_VERSION, version, timestamp), 1
    yield bytearray(ControlBatches().voters(content.voters)), 1
    for records in _in_portions(snapshot_records(content.image)):
        batch = build_batch([NewRecord(value=encode_record(each), timestamp=timestamp) for each in records])
        yield batch, len(records)
    yield _control(ControlType.SNAPSHOT_FOOTER, SnapshotFooterRecord(version=_VERSION), timestamp), 1


def _control(control_type: ControlType, record: Struct, timestamp: int) -> bytearray:
    value = encode_struct(record, version=_VERSION, flexible=True)
    return build_control_batch(control_type, value, timestamp=timestamp)


def _in_portions(records: Iterable[MetadataRecord]) -> Iterator[list[MetadataRecord]]:
    portion: list[MetadataRecord] = []
    for record in records:
        portion.append(record)
        if len(portion) == BATCH_RECORDS_MAX:
            yield portion
            portion = []
    if portion:
        yield portion


def _decode(data: memoryview) -> SnapshotContent:
    batches = list(split_batches(data))
    _check_continuity(data, batches)
    voters: VoterSet | None = None
    kinds: list[ControlType | None] = []
    for position, header in batches:
        if header.is_control:
            control_type, record = decode_control_record(data, position)
            kinds.append(control_type)
            if control_type is ControlType.KRAFT_VOTERS:
                voters = read_voters(record.value or b"")
    is_whole = len(kinds) > 1 and (kinds[0], kinds[-1]) == (
        ControlType.SNAPSHOT_HEADER,
        ControlType.SNAPSHOT_FOOTER,
    )
    if voters is None or not is_whole or not batches[-1][1].is_control:
        raise CorruptBatchError("its beginning, its voters or its end are missing.")
    return SnapshotContent(voters=voters, image=ClusterImage().apply(_records(data, batches)))


def _check_continuity(data: memoryview, batches: list[tuple[int, BatchHeader]]) -> None:
    offset = end = 0
    for position, header in batches:
        if header.base_offset != offset:
            raise CorruptBatchError(f"offset {header.base_offset} follows where {offset} should.")
        offset, end = header.next_offset, position + header.size_bytes
    if end != len(data):
        raise CorruptBatchError(f"{len(data) - end} bytes follow the last complete batch.")


def _records(data: memoryview, batches: list[tuple[int, BatchHeader]]) -> Iterator[MetadataRecord]:
    for position, header in batches:
        if not header.is_control:
            for record in decode_records(data, header, position):
                yield decode_record(record.value or b"")
