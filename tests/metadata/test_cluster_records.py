"""Records that only a cluster of several brokers needs: their bytes, and what the image makes of them."""

import pytest
from tests.metadata.cluster import ORDERS, make_image

from penstock.metadata.records import (
    FENCE,
    UNFENCE,
    BrokerRegistrationChangeRecord,
    FeatureLevelRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    UnregisterBrokerRecord,
    decode_record,
    encode_record,
)
from penstock.model.errors import CorruptLogError, InvariantError
from penstock.model.ids import NodeId, TopicId

TOPIC_ID = TopicId(bytes(range(16)))
PLACE = "00000003" + bytes(TOPIC_ID).hex()
BROKER = "00000003" + "0000000000000009"
DIRECTORY = b"d" * 16

EXAMPLES: list[tuple[MetadataRecord, str]] = [
    (UnregisterBrokerRecord(broker_id=3, broker_epoch=9), "010100" + BROKER + "00"),
    (
        BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=9, fenced=UNFENCE),
        "011100" + BROKER + "01" + "0001" + "ff",
    ),
    (
        BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=9, in_controlled_shutdown=1),
        "011101" + BROKER + "01" + "0101" + "01",
    ),
    (
        BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=9, log_dirs=(DIRECTORY,)),
        "011102" + BROKER + "01" + "0211" + "02" + DIRECTORY.hex(),
    ),
    (
        BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=9, cordoned_log_dirs=()),
        "011103" + BROKER + "01" + "0301" + "01",
    ),
    (
        PartitionChangeRecord(partition_id=3, topic_id=TOPIC_ID, directories=(DIRECTORY,)),
        "010501" + PLACE + "01" + "0811" + "02" + DIRECTORY.hex(),
    ),
    (
        PartitionChangeRecord(
            partition_id=3, topic_id=TOPIC_ID, eligible_leader_replicas=(2,), last_known_elr=()
        ),
        "010502" + PLACE + "02" + "0605" + "0200000002" + "0701" + "01",
    ),
    (
        PartitionRecord(partition_id=3, topic_id=TOPIC_ID, eligible_leader_replicas=(2,)),
        "010302" + PLACE + "01" * 4 + "ffffffff" * 3 + "01" + "01" + "0105" + "0200000002",
    ),
]


@pytest.mark.parametrize(("record", "frame"), EXAMPLES)
def test_record_has_the_bytes_of_kafkas_schema(record: MetadataRecord, frame: str) -> None:
    assert encode_record(record).hex() == frame
    assert decode_record(bytes.fromhex(frame)) == record


def test_registration_is_written_at_the_version_it_needs() -> None:
    plain = RegisterBrokerRecord(broker_id=3, log_dirs=(DIRECTORY,))
    cordoned = RegisterBrokerRecord(broker_id=3, log_dirs=(DIRECTORY,), cordoned_log_dirs=(DIRECTORY,))
    assert encode_record(plain)[2] == 3
    assert encode_record(cordoned)[2] == 4
    assert decode_record(encode_record(cordoned)) == cordoned


def test_record_of_a_higher_version_is_refused() -> None:
    with pytest.raises(CorruptLogError, match="type 17, version 4"):
        decode_record(b"\x01\x11\x04" + bytes(20))


def change(**what: object) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(broker_id=3, broker_epoch=13, **what)  # type: ignore[arg-type]  # field names


def test_broker_is_fenced_let_in_again_and_about_to_stop() -> None:
    image = make_image()
    fenced = image.apply([change(fenced=FENCE)])
    assert fenced.brokers[NodeId(3)].is_fenced
    back = fenced.apply([change(fenced=UNFENCE)])
    assert back.brokers[NodeId(3)].is_active
    stopping = back.apply([change(in_controlled_shutdown=1)])
    assert not stopping.brokers[NodeId(3)].is_active
    assert not stopping.brokers[NodeId(3)].is_fenced


def test_broker_all_of_whose_directories_are_cordoned_is_cordoned() -> None:
    image = make_image()
    assert not image.brokers[NodeId(3)].is_cordoned
    directories = image.brokers[NodeId(3)].directories
    cordoned = image.apply([change(cordoned_log_dirs=directories)])
    assert cordoned.brokers[NodeId(3)].is_cordoned
    assert cordoned.apply([change(fenced=FENCE)]).brokers[NodeId(3)].is_cordoned
    assert not cordoned.apply([change(cordoned_log_dirs=())]).brokers[NodeId(3)].is_cordoned


def test_broker_with_new_directories_has_those() -> None:
    image = make_image().apply([change(log_dirs=(DIRECTORY,))])
    assert image.brokers[NodeId(3)].directories == (DIRECTORY,)


def test_broker_unregistered_is_gone() -> None:
    image = make_image().apply([UnregisterBrokerRecord(broker_id=3, broker_epoch=13)])
    assert NodeId(3) not in image.brokers


@pytest.mark.parametrize(
    "record", [UnregisterBrokerRecord(broker_id=3, broker_epoch=9), change(fenced=FENCE)]
)
def test_change_of_a_broker_that_is_not_registered_so_is_a_bug(record: MetadataRecord) -> None:
    image = make_image().apply([UnregisterBrokerRecord(broker_id=3, broker_epoch=13)])
    with pytest.raises(InvariantError, match="broker 3 of epoch"):
        image.apply([record])


def test_partition_remembers_who_is_eligible_and_where_it_lies() -> None:
    change = PartitionChangeRecord(
        partition_id=0,
        topic_id=ORDERS,
        isr=(1,),
        eligible_leader_replicas=(2,),
        last_known_elr=(3,),
        directories=(DIRECTORY,) * 3,
    )
    before = make_image().topics["orders"].partitions[0]
    partition = make_image().apply([change]).topics["orders"].partitions[0]
    assert partition.eligible_leader_replicas == (2,)
    assert partition.last_known_elr == (3,)
    assert partition.directories == (DIRECTORY,) * 3
    assert partition.leader_epoch == before.leader_epoch
    assert partition.partition_epoch == before.partition_epoch + 1


def test_feature_set_to_zero_is_gone() -> None:
    image = make_image().apply([FeatureLevelRecord(name="f", feature_level=2)])
    assert image.features["f"] == 2
    assert "f" not in image.apply([FeatureLevelRecord(name="f", feature_level=0)]).features
