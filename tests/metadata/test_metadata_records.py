import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.metadata.records import (
    BrokerEndpoint,
    ConfigRecord,
    FeatureLevelRecord,
    MetadataRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    TopicRecord,
    decode_record,
    encode_record,
)
from penstock.model.errors import CorruptLogError
from penstock.model.ids import TopicId

TOPIC_ID = TopicId(bytes(range(16)))
ID_HEX = bytes(TOPIC_ID).hex()

EXAMPLES: list[tuple[MetadataRecord, str]] = [
    (TopicRecord(name="ab", topic_id=TOPIC_ID), "010200" + "036162" + ID_HEX + "00"),
    (RemoveTopicRecord(topic_id=TOPIC_ID), "010900" + ID_HEX + "00"),
    (
        ConfigRecord(resource_type=2, resource_name="t", name="a", value=None),
        "010400" + "02" + "0274" + "0261" + "00" + "00",
    ),
    (FeatureLevelRecord(name="f", feature_level=7), "010c00" + "0266" + "0007" + "00"),
    (
        ProducerIdsRecord(broker_id=1, broker_epoch=2, next_producer_id=1000),
        "010f00" + "00000001" + "0000000000000002" + "00000000000003e8" + "00",
    ),
    (NoOpRecord(), "011400" + "00"),
    (
        PartitionRecord(
            partition_id=3,
            topic_id=TOPIC_ID,
            replicas=(1, 2),
            isr=(1,),
            leader=1,
            leader_epoch=0,
            partition_epoch=0,
            directories=(b"d" * 16, b"e" * 16),
        ),
        "010301" + "00000003" + ID_HEX + "030000000100000002" + "0200000001" + "01" + "01" + "00000001"
        "00000000" + "00000000" + "03" + "64" * 16 + "65" * 16 + "00",
    ),
    (
        PartitionChangeRecord(partition_id=3, topic_id=TOPIC_ID, isr=(1,), leader=-1),
        "010500" + "00000003" + ID_HEX + "02" + "00" + "05" + "0200000001" + "01" + "04" + "ffffffff",
    ),
    (
        RegisterBrokerRecord(
            broker_id=1,
            incarnation_id=b"i" * 16,
            broker_epoch=5,
            end_points=(BrokerEndpoint(name="P", host="h", port=65535),),
            fenced=False,
            log_dirs=(b"d" * 16,),
        ),
        "010003"
        + "00000001"
        + "00"
        + "69" * 16
        + "0000000000000005"
        + "02"
        + "0250"
        + "0268"
        + "ffff"
        + "0000"
        "00" + "01" + "00" + "00" + "00" + "01" + "00" + "11" + "02" + "64" * 16,
    ),
]


@pytest.mark.parametrize(("record", "encoded"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_record_has_kafkas_bytes(record: MetadataRecord, encoded: str) -> None:
    assert encode_record(record).hex() == encoded
    assert decode_record(bytes.fromhex(encoded)) == record


@pytest.mark.parametrize(("record", "encoded"), EXAMPLES, ids=lambda value: type(value).__name__)
def test_record_cut_short_is_corruption(record: MetadataRecord, encoded: str) -> None:
    frame = bytes.fromhex(encoded)
    for length in range(len(frame)):
        with pytest.raises(CorruptLogError):
            decode_record(frame[:length])


@pytest.mark.parametrize("frame", ["020200", "016300", "010201", "ffffffffff01"])
def test_record_from_the_future_is_refused(frame: str) -> None:
    with pytest.raises(CorruptLogError):
        decode_record(bytes.fromhex(frame))


def test_unknown_record_says_what_to_think_of() -> None:
    with pytest.raises(CorruptLogError, match=r"type 99, version 0.*newer one\?"):
        decode_record(bytes.fromhex("016300"))


INTS = st.lists(st.integers(-1, 2**31 - 1), max_size=5).map(tuple)


@given(
    partition_id=st.integers(0, 2**31 - 1),
    isr=st.none() | INTS,
    replicas=st.none() | INTS,
    removing=st.none() | INTS,
    adding=st.none() | INTS,
    leader=st.integers(-2, 2**31 - 1),
    recovery=st.integers(-1, 1),
)
def test_partition_change_survives_the_log(
    partition_id: int,
    isr: tuple[int, ...] | None,
    replicas: tuple[int, ...] | None,
    removing: tuple[int, ...] | None,
    adding: tuple[int, ...] | None,
    leader: int,
    recovery: int,
) -> None:
    record = PartitionChangeRecord(
        partition_id=partition_id,
        topic_id=TOPIC_ID,
        isr=isr,
        replicas=replicas,
        removing_replicas=removing,
        adding_replicas=adding,
        leader=leader,
        leader_recovery_state=recovery,
    )
    assert decode_record(encode_record(record)) == record


@given(st.binary(max_size=80))
def test_any_bytes_are_a_record_or_corruption(frame: bytes) -> None:
    try:
        record = decode_record(frame)
    except CorruptLogError:
        return
    assert decode_record(encode_record(record)) == record
