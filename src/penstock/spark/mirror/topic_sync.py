"""Topics at the target as they are at the source: there, with as many partitions, with the same settings."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.client import Admin, TopicPartition
from penstock.spark.mirror.clusters import Clusters
from penstock.spark.mirror.config_difference import carried, difference
from penstock.spark.mirror.errors import MirrorError
from penstock.spark.mirror.naming import Renaming, Selection
from penstock.spark.mirror.offset_map import MirroredPartition, read_map

_SET_ON_TOPIC = "DYNAMIC_TOPIC_CONFIG"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicChange:
    """What was done to a topic at the target."""

    topic: str
    is_new: bool = False
    partitions: int | None = None
    """How many it has now, if they became more."""
    configs: Mapping[str, str | None] | None = None
    """Settings that were changed; None for those that went back to their default."""

    def __str__(self) -> str:
        if self.is_new:
            return f"topic {self.topic} was created, partitions: {self.partitions}"
        if self.partitions is not None:
            return f"topic {self.topic} has more partitions now: {self.partitions}"
        texts = (f"{name}={value}" if value is not None else f"no {name}" for name, value in self._sorted())
        return f"topic {self.topic} has other settings now: {', '.join(texts)}"

    def _sorted(self) -> list[tuple[str, str | None]]:
        return sorted((self.configs or {}).items())


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSync:
    """Keeps topics in step."""

    clusters: Clusters
    selection: Selection
    renaming: Renaming
    has_configs: bool = True

    def topics(self) -> list[str]:
        """Those to mirror, at the source.

        What came from the target under another name is left out: it would come back under a third one, and
        so on.
        """
        names = self.clusters.source.admin.list_topics()
        missing = sorted(set(self.selection.topics) - set(names))
        if missing:
            raise MirrorError(
                f"There is no topic {missing[0]!r} at {self.clusters.source.access.bootstrap_servers}."
            )
        returned = {
            each.copy
            for each in read_map(self.clusters.source.access)
            if each.source_id == self.clusters.target.cluster_id and each.copy != each.topic
        }
        return [name for name in self.selection.topics_of(names) if name not in returned]

    def bring_in_step(self, topics: Iterable[str]) -> list[TopicChange]:
        """Make what is missing, and change what differs; what was done."""
        source, target = self.clusters.source.admin, self.clusters.target.admin
        counts = Counter(partition.topic for partition in source.partitions_of(topics))
        present = set(target.list_topics())
        changes: list[TopicChange] = []
        for topic, count in sorted(counts.items()):
            copy = self.renaming.copy_of(topic)
            if copy in present:
                changes += self._align(topic, copy, count)
            else:
                config = carried(_configs(source, topic)) if self.has_configs else {}
                target.create_topic(copy, partitions=count, config=config, exist_ok=True)
                changes.append(TopicChange(topic=copy, is_new=True, partitions=count))
        return changes

    def mirrored(self, partitions: Iterable[tuple[str, int]]) -> dict[TopicPartition, MirroredPartition]:
        """Partitions of the source and what the map calls them."""
        return {
            TopicPartition(topic, number): MirroredPartition(
                source_id=self.clusters.source.cluster_id,
                topic=topic,
                partition=number,
                copy=self.renaming.copy_of(topic),
            )
            for topic, number in partitions
        }

    def _align(self, topic: str, copy: str, count: int) -> Iterable[TopicChange]:
        source, target = self.clusters.source.admin, self.clusters.target.admin
        if len(target.partitions_of([copy])) < count:
            target.add_partitions(copy, count)
            yield TopicChange(topic=copy, partitions=count)
        changed = difference(_configs(source, topic), _configs(target, copy)) if self.has_configs else {}
        if changed:
            target.alter_config(copy, changed)
            yield TopicChange(topic=copy, configs=changed)


def _configs(admin: Admin, topic: str) -> dict[str, str]:
    """What was set on a topic itself."""
    return {
        entry.name: entry.value
        for entry in admin.describe_config(topic).values()
        if entry.source == _SET_ON_TOPIC and entry.value is not None
    }
