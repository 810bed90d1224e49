"""Records of ``__consumer_offsets`` against bytes put together by hand from Kafka's definitions."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.groups import records
from penstock.groups.consumer_records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentRecord,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataRecord,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataRecord,
    ConsumerGroupMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataRecord,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionRecord,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberRecord,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataRecord,
    ConsumerGroupTargetAssignmentMetadataValue,
    CurrentTopicPartitions,
    PartitionMetadataTopic,
    PartitionRacks,
    TargetTopicPartitions,
)
from penstock.groups.records import (
    GroupMetadataKey,
    GroupMetadataMember,
    GroupMetadataRecord,
    GroupMetadataValue,
    GroupRecord,
    OffsetCommitKey,
    OffsetCommitRecord,
    OffsetCommitValue,
    decode,
    encode,
)
from penstock.model.errors import CorruptLogError, InvariantError
from penstock.model.ids import TopicId
from penstock.model.limits import ARRAY_ELEMENTS_MAX, TAGGED_FIELD_BYTES_MAX
from penstock.wire.primitives import Kind
from penstock.wire.schema import Field, Struct

TOPIC_ID = TopicId(bytes(range(16)))
ID_HEX = bytes(TOPIC_ID).hex()

OFFSET_KEY = OffsetCommitKey(group_id="g", topic="to", partition=7)
OFFSET_KEY_HEX = "0001" + "000167" + "0002746f" + "00000007"
MEMBER = GroupMetadataMember(
    member_id="m",
    group_instance_id="i",
    client_id="c",
    client_host="/h",
    rebalance_timeout=60_000,
    session_timeout=10_000,
    subscription=b"sub",
    assignment=b"",
)
OWNED = CurrentTopicPartitions(topic_id=TOPIC_ID, partitions=(0, 2), assignment_epochs=(3, 5))
OWNED_HEX = ID_HEX + "03" + "00000000" + "00000002" + "01" + "00" + "09" + "03" + "00000003" + "00000005"

WRITTEN = [
    pytest.param(
        OffsetCommitRecord(
            key=OFFSET_KEY,
            value=OffsetCommitValue(offset=258, leader_epoch=3, metadata="me", commit_timestamp=1000),
        ),
        OFFSET_KEY_HEX,
        "0004" + "0000000000000102" + "00000003" + "036d65" + "00000000000003e8" + "00",
        id="offset",
    ),
    pytest.param(
        OffsetCommitRecord(key=OFFSET_KEY, value=OffsetCommitValue(offset=1, topic_id=TOPIC_ID)),
        OFFSET_KEY_HEX,
        "0004" + "0000000000000001" + "ffffffff" + "01" + "0000000000000000" + "01" + "0010" + ID_HEX,
        id="offset-with-topic-id",
    ),
    pytest.param(
        OffsetCommitRecord(
            key=OFFSET_KEY,
            value=OffsetCommitValue(offset=1, metadata="me", commit_timestamp=2, expire_timestamp=3),
        ),
        OFFSET_KEY_HEX,
        "0001" + "0000000000000001" + "00026d65" + "0000000000000002" + "0000000000000003",
        id="offset-with-expiry",
    ),
    pytest.param(OffsetCommitRecord(key=OFFSET_KEY, value=None), OFFSET_KEY_HEX, None, id="no-offset"),
    pytest.param(
        GroupMetadataRecord(
            key=GroupMetadataKey(group_id="g"),
            value=GroupMetadataValue(
                protocol_type="consumer",
                generation=4,
                protocol="range",
                leader="m",
                current_state_timestamp=9,
                members=(MEMBER,),
            ),
        ),
        "0002" + "000167",
        "0003" + "0008636f6e73756d6572" + "00000004" + "000572616e6765" + "00016d" + "0000000000000009"
        "00000001" + "00016d" + "000169" + "000163" + "00022f68" + "0000ea60" + "00002710"
        "00000003737562" + "00000000",
        id="classic-group",
    ),
    pytest.param(
        GroupMetadataRecord(key=GroupMetadataKey(group_id="g"), value=GroupMetadataValue()),
        "0002" + "000167",
        "0003" + "0000" + "00000000" + "ffff" + "ffff" + "ffffffffffffffff" + "00000000",
        id="empty-classic-group",
    ),
    pytest.param(
        ConsumerGroupMetadataRecord(
            key=ConsumerGroupMetadataKey(group_id="g"), value=ConsumerGroupMetadataValue(epoch=6)
        ),
        "0003" + "000167",
        "0000" + "00000006" + "00",
        id="consumer-group",
    ),
    pytest.param(
        ConsumerGroupMetadataRecord(
            key=ConsumerGroupMetadataKey(group_id="g"),
            value=ConsumerGroupMetadataValue(epoch=6, metadata_hash=-2),
        ),
        "0003" + "000167",
        "0000" + "00000006" + "01" + "0008" + "fffffffffffffffe",
        id="consumer-group-with-hash",
    ),
    pytest.param(
        ConsumerGroupMemberMetadataRecord(
            key=ConsumerGroupMemberMetadataKey(group_id="g", member_id="m"),
            value=ConsumerGroupMemberMetadataValue(
                rack_id="r",
                client_id="c",
                client_host="/h",
                subscribed_topic_names=("a", "bc"),
                rebalance_timeout_ms=1000,
                server_assignor="u",
            ),
        ),
        "0005" + "000167" + "00016d",
        "0000"
        + "00"
        + "0272"
        + "0263"
        + "032f68"
        + "03"
        + "0261"
        + "036263"
        + "00"
        + "000003e8"
        + "0275"
        + "01000100",
        id="member",
    ),
    pytest.param(
        ConsumerGroupMemberMetadataRecord(
            key=ConsumerGroupMemberMetadataKey(group_id="g", member_id="m"),
            value=ConsumerGroupMemberMetadataValue(
                instance_id="i",
                subscribed_topic_regex="x.*",
                classic_member_metadata=ClassicMemberMetadata(
                    session_timeout_ms=10_000,
                    supported_protocols=(ClassicProtocol(name="range", metadata=b"\1"),),
                ),
            ),
        ),
        "0005" + "000167" + "00016d",
        "0000" + "0269" + "00" + "01" + "01" + "01" + "04782e2a" + "ffffffff" + "00"
        "01" + "0010" + "01" + "00002710" + "02" + "0672616e6765" + "0201" + "00" + "00",
        id="classic-member",
    ),
    pytest.param(
        ConsumerGroupTargetAssignmentMetadataRecord(
            key=ConsumerGroupTargetAssignmentMetadataKey(group_id="g"),
            value=ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=5, assignment_timestamp=8),
        ),
        "0006" + "000167",
        "0000" + "00000005" + "01" + "0008" + "0000000000000008",
        id="target",
    ),
    pytest.param(
        ConsumerGroupTargetAssignmentMemberRecord(
            key=ConsumerGroupTargetAssignmentMemberKey(group_id="g", member_id="m"),
            value=ConsumerGroupTargetAssignmentMemberValue(
                topic_partitions=(TargetTopicPartitions(topic_id=TOPIC_ID, partitions=(0, 1)),)
            ),
        ),
        "0007" + "000167" + "00016d",
        "0000" + "02" + ID_HEX + "03" + "00000000" + "00000001" + "00" + "00",
        id="member-target",
    ),
    pytest.param(
        ConsumerGroupCurrentMemberAssignmentRecord(
            key=ConsumerGroupCurrentMemberAssignmentKey(group_id="g", member_id="m"),
            value=ConsumerGroupCurrentMemberAssignmentValue(
                member_epoch=5,
                previous_member_epoch=4,
                state=1,
                assigned_partitions=(OWNED,),
                partitions_pending_revocation=(CurrentTopicPartitions(topic_id=TOPIC_ID, partitions=(9,)),),
            ),
        ),
        "0008" + "000167" + "00016d",
        "0000"
        + "00000005"
        + "00000004"
        + "01"
        + "02"
        + OWNED_HEX
        + "02"
        + ID_HEX
        + "02"
        + "00000009"
        + "00"
        + "00",
        id="member-assignment",
    ),
    pytest.param(
        ConsumerGroupPartitionMetadataRecord(
            key=ConsumerGroupPartitionMetadataKey(group_id="g"),
            value=ConsumerGroupPartitionMetadataValue(
                topics=(
                    PartitionMetadataTopic(
                        topic_id=TOPIC_ID,
                        topic_name="to",
                        num_partitions=2,
                        partition_metadata=(PartitionRacks(partition=1, racks=("r",)),),
                    ),
                )
            ),
        ),
        "0004" + "000167",
        "0000" + "02" + ID_HEX + "03746f" + "00000002" + "02" + "00000001" + "020272" + "00" + "00" + "00",
        id="partition-metadata",
    ),
    pytest.param(
        ConsumerGroupRegularExpressionRecord(
            key=ConsumerGroupRegularExpressionKey(group_id="g", regular_expression="x.*"),
            value=ConsumerGroupRegularExpressionValue(topics=("xa",), version=3, timestamp=4),
        ),
        "0010" + "000167" + "0003782e2a",
        "0000" + "02" + "037861" + "0000000000000003" + "0000000000000004" + "00",
        id="regular-expression",
    ),
]

# Type, value version, and the record that old bytes mean.
OLD = [
    pytest.param(
        "0000" + OFFSET_KEY_HEX[4:],
        "0000" + "0000000000000001" + "00026d65" + "0000000000000002",
        OffsetCommitRecord(
            key=OFFSET_KEY, value=OffsetCommitValue(offset=1, metadata="me", commit_timestamp=2)
        ),
        id="offset-of-type-0",
    ),
    pytest.param(
        "0000" + OFFSET_KEY_HEX[4:],
        None,
        OffsetCommitRecord(key=OFFSET_KEY, value=None),
        id="no-offset-of-type-0",
    ),
    pytest.param(
        OFFSET_KEY_HEX,
        "0002" + "0000000000000001" + "00026d65" + "0000000000000002",
        OffsetCommitRecord(
            key=OFFSET_KEY, value=OffsetCommitValue(offset=1, metadata="me", commit_timestamp=2)
        ),
        id="offset-2",
    ),
    pytest.param(
        OFFSET_KEY_HEX,
        "0003" + "0000000000000001" + "00000005" + "00026d65" + "0000000000000002",
        OffsetCommitRecord(
            key=OFFSET_KEY,
            value=OffsetCommitValue(offset=1, leader_epoch=5, metadata="me", commit_timestamp=2),
        ),
        id="offset-3",
    ),
    pytest.param(
        "0002" + "000167",
        "0000" + "000163" + "00000004" + "000172" + "00016d" + "00000001"
        "00016d" + "000163" + "00022f68" + "00002710" + "0000000173" + "0000000161",
        GroupMetadataRecord(
            key=GroupMetadataKey(group_id="g"),
            value=GroupMetadataValue(
                protocol_type="c",
                generation=4,
                protocol="r",
                leader="m",
                members=(
                    GroupMetadataMember(
                        member_id="m",
                        client_id="c",
                        client_host="/h",
                        session_timeout=10_000,
                        subscription=b"s",
                        assignment=b"a",
                    ),
                ),
            ),
        ),
        id="classic-group-0",
    ),
    pytest.param(
        "0002" + "000167",
        "0004" + "0263" + "00000004" + "00" + "00" + "0000000000000009" + "01" + "00",
        GroupMetadataRecord(
            key=GroupMetadataKey(group_id="g"),
            value=GroupMetadataValue(protocol_type="c", generation=4, current_state_timestamp=9),
        ),
        id="classic-group-4",
    ),
    pytest.param(
        "0003" + "000167",
        "0000" + "00000006" + "02" + "05" + "0178" + "09" + "00",
        ConsumerGroupMetadataRecord(
            key=ConsumerGroupMetadataKey(group_id="g"), value=ConsumerGroupMetadataValue(epoch=6)
        ),
        id="tags-of-the-future",
    ),
]


@pytest.mark.parametrize(("record", "key", "value"), WRITTEN)
def test_record_has_the_bytes_of_kafka(record: GroupRecord, key: str, value: str | None) -> None:
    expected = bytes.fromhex(key), None if value is None else bytes.fromhex(value)
    assert encode(record) == expected
    assert decode(*expected) == record


@pytest.mark.parametrize(("key", "value", "record"), OLD)
def test_record_of_another_version_is_read(key: str, value: str | None, record: GroupRecord) -> None:
    assert decode(bytes.fromhex(key), None if value is None else bytes.fromhex(value)) == record


@pytest.mark.parametrize("number", [9, *range(10, 16), 17, 23, 24, -1, 32767])
@pytest.mark.parametrize("value", [None, b"\x00\x00anything"])
def test_record_of_a_type_that_is_not_ours_is_passed_over(number: int, value: bytes | None) -> None:
    assert decode(number.to_bytes(2, signed=True) + b"\x00\x01g", value) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("", None, id="no-type"),
        pytest.param("00", None, id="half-a-type"),
        pytest.param("0002", None, id="no-key"),
        pytest.param("0002" + "00016700", None, id="key-too-long"),
        pytest.param("0002" + "000167", "", id="no-version"),
        pytest.param("0002" + "000167", "0003", id="no-value"),
        pytest.param("0003" + "000167", "0000" + "00000006" + "0000", id="value-too-long"),
    ],
)
def test_damaged_record_is_corruption(key: str, value: str | None) -> None:
    with pytest.raises(CorruptLogError, match="cannot be read"):
        decode(bytes.fromhex(key), None if value is None else bytes.fromhex(value))


@pytest.mark.parametrize(
    ("key", "value"), [("0001", "0005"), ("0002", "0005"), ("0003", "0001"), ("0003", "ffff")]
)
def test_value_of_the_future_is_refused_not_guessed(key: str, value: str) -> None:
    rest = OFFSET_KEY_HEX[4:] if key == "0001" else "000167"
    with pytest.raises(CorruptLogError, match="newer"):
        decode(bytes.fromhex(key + rest), bytes.fromhex(value + "00" * 40))


def test_member_with_many_topics_is_read_again() -> None:
    topics = tuple(
        CurrentTopicPartitions(
            topic_id=TopicId(bytes([i]) * 16), partitions=tuple(range(9_000)), assignment_epochs=(1,) * 9_000
        )
        for i in range(ARRAY_ELEMENTS_MAX // 10_000)
    )
    record = ConsumerGroupCurrentMemberAssignmentRecord(
        key=ConsumerGroupCurrentMemberAssignmentKey(group_id="g", member_id="m"),
        value=ConsumerGroupCurrentMemberAssignmentValue(assigned_partitions=topics),
    )
    assert decode(*encode(record)) == record


def test_classic_member_with_a_large_subscription_is_read_again() -> None:
    protocol = ClassicProtocol(name="range", metadata=bytes(4 * TAGGED_FIELD_BYTES_MAX))
    record = ConsumerGroupMemberMetadataRecord(
        key=ConsumerGroupMemberMetadataKey(group_id="g", member_id="m"),
        value=ConsumerGroupMemberMetadataValue(
            classic_member_metadata=ClassicMemberMetadata(supported_protocols=(protocol,))
        ),
    )
    assert decode(*encode(record)) == record


def test_group_id_that_fits_no_key_is_our_bug() -> None:
    with pytest.raises(InvariantError):
        encode(GroupMetadataRecord(key=GroupMetadataKey(group_id="g" * 40_000), value=None))


INTEGERS = {"b": 8, "i": 32, "q": 64}


def values(kind: "Kind[Any] | type[Struct]", version: int) -> st.SearchStrategy[Any]:
    if not isinstance(kind, Kind):
        return structs(kind, version)
    if kind.name == "string":
        return st.text(max_size=20)
    if kind.name == "uuid":
        return st.binary(min_size=16, max_size=16)
    if kind.is_fixed:
        bits = INTEGERS[kind.code]
        return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return st.binary(max_size=20)


def field_values(field: Field, version: int) -> st.SearchStrategy[Any]:
    strategy = values(field.kind, version)
    if field.is_array:
        strategy = st.lists(strategy, max_size=3).map(tuple)
    return st.none() | strategy if field.nulls.include(version) else strategy


def structs(kind: type[Struct], version: int) -> st.SearchStrategy[Any]:
    present = {name: f for name, f in kind.fields.items() if f.versions.include(version)}
    return st.builds(kind, **{name: field_values(field, version) for name, field in present.items()})


@pytest.mark.parametrize("row", records._TYPES, ids=lambda row: row.record.__name__)
@given(data=st.data())
def test_any_record_is_read_as_written(row: Any, data: st.DataObject) -> None:
    value = data.draw(st.none() | structs(row.value, row.written), label="value")
    record = row.record(key=data.draw(structs(row.key, 0), label="key"), value=value)
    encoded_key, encoded_value = encode(record)
    assert decode(encoded_key, encoded_value) == record
    assert encoded_value is None or int.from_bytes(encoded_value[:2]) == row.written


@given(
    key=st.binary(max_size=40), value=st.none() | st.binary(max_size=60), number=st.sampled_from(range(18))
)
def test_noise_is_a_record_or_corruption(key: bytes, value: bytes | None, number: int) -> None:
    try:
        decode(number.to_bytes(2) + key, value)
    except CorruptLogError:
        return
