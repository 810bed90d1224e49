"""Snapshots as bytes: whole or not at all."""

import pytest

from penstock.broker.quorum.snapshot_format import SnapshotContent, decode_snapshot, encode_snapshot
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import FeatureLevelRecord, PartitionRecord, TopicRecord
from penstock.metadata.snapshot import image_fingerprint
from penstock.model.errors import CorruptLogError
from penstock.model.ids import NodeId, TopicId
from penstock.raft.entry import SnapshotId
from penstock.raft.replica import Endpoint, ReplicaKey, Voter
from penstock.raft.voters import VoterSet
from penstock.records.batch import read_header, split_batches, stamp
from penstock.records.control import ControlType, decode_control_record

SNAPSHOT = SnapshotId(5_000, 7)
TOPIC = TopicId(bytes(15) + b"\x09")


def content(partitions: int = 3) -> SnapshotContent:
    voter = Voter(
        key=ReplicaKey(NodeId(1), b"d" * 16), endpoints=(Endpoint(name="PLAINTEXT", host="a", port=9092),)
    )
    image = ClusterImage().apply(
        [
            FeatureLevelRecord(name="metadata.version", feature_level=7),
            TopicRecord(name="orders", topic_id=TOPIC),
            *(
                PartitionRecord(
                    partition_id=index,
                    topic_id=TOPIC,
                    replicas=(1,),
                    isr=(1,),
                    leader=1,
                    leader_epoch=0,
                    partition_epoch=0,
                )
                for index in range(partitions)
            ),
        ]
    )
    return SnapshotContent(voters=VoterSet((voter,)), image=image)


def encoded(partitions: int = 3) -> bytes:
    return b"".join(encode_snapshot(content(partitions), SNAPSHOT, timestamp=12))


@pytest.mark.parametrize("partitions", [0, 3, 2_500])
def test_snapshot_comes_back_as_it_was(partitions: int) -> None:
    read = decode_snapshot(encoded(partitions))
    assert read.voters == content().voters
    assert image_fingerprint(read.image) == image_fingerprint(content(partitions).image)


def test_snapshot_has_the_format_of_kafka() -> None:
    data = encoded(2_500)
    batches = list(split_batches(data))
    kinds = [decode_control_record(data, position)[0] for position, header in batches if header.is_control]
    assert kinds == [
        ControlType.SNAPSHOT_HEADER,
        ControlType.KRAFT_VERSION,
        ControlType.KRAFT_VOTERS,
        ControlType.SNAPSHOT_FOOTER,
    ]
    assert {header.leader_epoch for _, header in batches} == {7}
    assert [header.base_offset for _, header in batches][:3] == [0, 1, 2]
    assert len(batches) == 4 + 3


def test_any_part_of_a_snapshot_is_none() -> None:
    data = encoded()
    ends = [position for position, _ in split_batches(data)]
    for end in (*ends, *range(1, len(data), 37)):
        with pytest.raises(CorruptLogError):
            decode_snapshot(data[:end])


def test_snapshot_with_a_changed_byte_is_none() -> None:
    data = encoded()
    for position in range(16, len(data), 11):
        spoilt = bytearray(data)
        spoilt[position] ^= 0x55
        if spoilt[:16] == data[:16] and _is_epoch(data, position):
            continue  # outside of what is checksummed, and of no consequence
        with pytest.raises(CorruptLogError):
            decode_snapshot(spoilt)


def _is_epoch(data: bytes, position: int) -> bool:
    return any(12 <= position - start < 16 for start, _ in split_batches(data))


def test_snapshot_that_lacks_a_batch_is_none() -> None:
    batches = list(encode_snapshot(content(), SNAPSHOT))
    for missing in range(len(batches)):
        with pytest.raises(CorruptLogError):
            decode_snapshot(b"".join(batch for place, batch in enumerate(batches) if place != missing))


def test_snapshot_without_voters_is_none() -> None:
    batches = list(encode_snapshot(content(0), SNAPSHOT))
    kept = [batch for place, batch in enumerate(batches) if place != 2]
    offset = 0
    for batch in kept:
        stamp(batch, offset, 7)
        offset += read_header(batch).last_offset_delta + 1
    with pytest.raises(CorruptLogError):
        decode_snapshot(b"".join(kept))
