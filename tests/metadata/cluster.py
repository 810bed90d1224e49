"""A cluster to decide on: live brokers 1, 2 and 3, each in its own rack, with topic ``orders`` on all."""

from collections.abc import Sequence

from penstock.metadata.image import ClusterImage
from penstock.metadata.records import (
    BrokerEndpoint,
    BrokerFeature,
    ConfigRecord,
    MetadataRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    TopicRecord,
)
from penstock.metadata.resources import ResourceType
from penstock.metadata.topic_image import PartitionImage
from penstock.model.ids import NodeId, TopicId

ORDERS = TopicId(b"orders" + bytes(10))
ONE, TWO, THREE, FOUR, FIVE = map(NodeId, range(1, 6))


def directory_of(node_id: int) -> bytes:
    return bytes([node_id]) * 16


def make_broker(
    node_id: int,
    *,
    rack: str | None = "own",
    fenced: bool = False,
    stopping: bool = False,
    cordoned: bool = False,
) -> RegisterBrokerRecord:
    """A broker, by default in a rack of its own; its epoch is ten more than its id."""
    return RegisterBrokerRecord(
        broker_id=node_id,
        incarnation_id=bytes([100 + node_id]) * 16,
        broker_epoch=10 + node_id,
        end_points=(BrokerEndpoint(name="PLAINTEXT", host=f"host{node_id}", port=9000 + node_id),),
        features=(BrokerFeature(name="metadata.version", min_supported_version=7, max_supported_version=7),),
        rack=f"rack{node_id}" if rack == "own" else rack,
        fenced=fenced,
        in_controlled_shutdown=stopping,
        log_dirs=(directory_of(node_id),),
        cordoned_log_dirs=(directory_of(node_id),) if cordoned else None,
    )


def make_partition(
    replicas: Sequence[int] = (1, 2, 3),
    *,
    isr: Sequence[int] | None = None,
    leader: int | None = None,
    elr: Sequence[int] = (),
    last: Sequence[int] = (),
    adding: Sequence[int] = (),
    removing: Sequence[int] = (),
    recovery_state: int = 0,
) -> PartitionRecord:
    """A partition of ``orders``; everybody is in sync and the first leads unless said otherwise."""
    in_sync = tuple(replicas if isr is None else isr)
    return PartitionRecord(
        partition_id=0,
        topic_id=ORDERS,
        replicas=tuple(replicas),
        isr=in_sync,
        leader=(in_sync[0] if in_sync else -1) if leader is None else leader,
        leader_epoch=4,
        partition_epoch=7,
        adding_replicas=tuple(adding),
        removing_replicas=tuple(removing),
        leader_recovery_state=recovery_state,
        eligible_leader_replicas=tuple(elr) or None,
        last_known_elr=tuple(last) or None,
        directories=tuple(map(directory_of, replicas)),
    )


def make_image(
    *partitions: PartitionRecord,
    brokers: Sequence[RegisterBrokerRecord] | None = None,
    configs: dict[str, str] | None = None,
) -> ClusterImage:
    """Brokers and ``orders`` with these partitions (one with everybody in sync, if none is named)."""
    records: list[MetadataRecord] = list(brokers if brokers is not None else map(make_broker, (1, 2, 3)))
    records += topic_records("orders", ORDERS, partitions or (make_partition(),), configs=configs)
    return ClusterImage().apply(records)


def topic_records(
    name: str,
    topic_id: TopicId,
    partitions: Sequence[PartitionRecord],
    *,
    configs: dict[str, str] | None = None,
) -> list[MetadataRecord]:
    """The records of one topic."""
    records: list[MetadataRecord] = [TopicRecord(name=name, topic_id=topic_id)]
    records += topic_configs(name, configs or {})
    for index, each in enumerate(partitions):
        values = {field: getattr(each, field) for field in type(each).fields}
        records.append(PartitionRecord(**values | {"partition_id": index, "topic_id": topic_id}))
    return records


def topic_configs(name: str, configs: dict[str, str]) -> list[MetadataRecord]:
    return [
        ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=name, name=key, value=value)
        for key, value in configs.items()
    ]


def changed(image: ClusterImage, **what: object) -> ClusterImage:
    """The image after a change of the first partition of ``orders``."""
    values = {"partition_id": 0, "topic_id": ORDERS} | what
    return image.apply([PartitionChangeRecord(**values)])  # type: ignore[arg-type]  # names of its fields


def only(image: ClusterImage) -> PartitionImage:
    """The first partition of ``orders``."""
    return image.topics["orders"].partitions[0]
