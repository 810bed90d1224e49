"""What ``penstock topic describe`` knows of a topic, gathered from several admin calls."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from penstock.cli.librdkafka import ANSWER_SECONDS_MAX, ask, result_of
from penstock.cli.output import print_table

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDescription:
    """One partition: who holds it, and from which to which offset."""

    partition: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    start_offset: int
    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDescription:
    """A topic with its partitions in order and its settings by name."""

    topic: str
    topic_id: str
    partitions: tuple[PartitionDescription, ...]
    configs: dict[str, str | None]

    def as_json(self) -> dict[str, Any]:
        """The description as plain dictionaries and lists."""
        return asdict(self)


def existing_topics(admin: "AdminClient") -> dict[str, int]:
    """Every topic's name with its number of partitions, sorted by name."""
    metadata = ask(lambda: admin.list_topics(timeout=ANSWER_SECONDS_MAX), doing="list topics")
    return {name: len(topic.partitions) for name, topic in sorted(metadata.topics.items())}


def describe_topics(
    admin: "AdminClient", names: Sequence[str], *, all_configs: bool
) -> list[TopicDescription]:
    """Describe each topic of ``names``, in that order; a missing one fails the command."""
    if not names:
        return []
    configs = topic_configs(admin, names, all_configs=all_configs)
    described = _descriptions(admin, names)
    offsets = _offsets(admin, described)
    return [
        TopicDescription(
            topic=topic.name,
            topic_id=_url_safe(str(topic.topic_id)),
            partitions=tuple(_partition(topic.name, partition, offsets) for partition in topic.partitions),
            configs=configs[topic.name],
        )
        for topic in described
    ]


def topic_configs(
    admin: "AdminClient", names: Sequence[str], *, all_configs: bool
) -> dict[str, dict[str, str | None]]:
    """The settings of each topic: all there are, or those that were changed."""
    from confluent_kafka.admin import ConfigResource, ConfigSource, ResourceType

    changed = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    found: dict[str, dict[str, str | None]] = {}
    for resource, future in admin.describe_configs(resources).items():
        entries = result_of(future, doing=f"describe topic {resource.name!r}")
        found[resource.name] = {
            entry.name: entry.value for entry in entries.values() if all_configs or entry.source == changed
        }
    return found


def print_description(topic: TopicDescription) -> None:
    """A headline, the changed settings, and one line for each partition."""
    print(f"{topic.topic}  id {topic.topic_id}  partitions {len(topic.partitions)}")
    for key, value in sorted(topic.configs.items()):
        print(f"  {key}={'' if value is None else value}")
    print_table(
        ("PARTITION", "LEADER", "REPLICAS", "ISR", "START", "END"),
        [
            (
                partition.partition,
                partition.leader,
                _joined(partition.replicas),
                _joined(partition.isr),
                partition.start_offset,
                partition.end_offset,
            )
            for partition in topic.partitions
        ],
        numbers=(0, 1, 4, 5),
    )


def _descriptions(admin: "AdminClient", names: Sequence[str]) -> list[Any]:
    from confluent_kafka import TopicCollection

    futures = admin.describe_topics(TopicCollection(list(names)))
    return [result_of(future, doing=f"describe topic {name!r}") for name, future in futures.items()]


def _offsets(admin: "AdminClient", topics: Iterable[Any]) -> dict[tuple[str, int], tuple[int, int]]:
    """Start and end offset of every partition that has a leader."""
    from confluent_kafka import TopicPartition
    from confluent_kafka.admin import OffsetSpec

    partitions = [
        TopicPartition(topic.name, partition.id)
        for topic in topics
        for partition in topic.partitions
        if partition.leader is not None
    ]
    if not partitions:
        return {}
    start, end = (
        {
            (key.topic, key.partition): result_of(future, doing="look up offsets").offset
            for key, future in admin.list_offsets(dict.fromkeys(partitions, spec)).items()
        }
        for spec in (OffsetSpec.earliest(), OffsetSpec.latest())
    )
    return {key: (start[key], end[key]) for key in start}


def _partition(
    topic: str, partition: Any, offsets: dict[tuple[str, int], tuple[int, int]]
) -> PartitionDescription:
    start_offset, end_offset = offsets.get((topic, partition.id), (-1, -1))
    return PartitionDescription(
        partition=partition.id,
        leader=-1 if partition.leader is None else partition.leader.id,
        replicas=tuple(node.id for node in partition.replicas),
        isr=tuple(node.id for node in partition.isr),
        start_offset=start_offset,
        end_offset=end_offset,
    )


def _url_safe(topic_id: str) -> str:
    """Kafka's text form of an id; librdkafka uses the other base64 alphabet."""
    return topic_id.replace("+", "-").replace("/", "_")


def _joined(nodes: Iterable[int]) -> str:
    return ",".join(map(str, nodes))
