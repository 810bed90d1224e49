"""One look at the whole cluster: where partitions end, how large they are, how far groups have come."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.groups.listing import groups_in
from penstock.wire_client.groups.offsets import Offsets, committed_offsets, end_offsets
from penstock.wire_client.partition_sizes import partition_bytes
from penstock.wire_client.topics import find_leaders

INTERNAL_PREFIX = "__"
"""How topics begin that a cluster writes for itself; people do not count them as messages."""

GROUPS_MAX = 500
"""Beyond these, by name, lag is not followed over time; it is still told when somebody asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What was told at one moment."""

    time_ms: int
    ends: Mapping[TopicPartition, int]
    """High watermarks, of partitions that have a leader."""

    sizes: Mapping[TopicPartition, int]
    """Bytes on the leader's disk, as far as brokers tell."""

    committed: Mapping[str, Offsets] = field(default_factory=dict)
    """What every group has committed."""

    def topic_ends(self) -> dict[str, int]:
        """The high watermarks of each topic, added up."""
        return _by_topic(self.ends)

    def topic_sizes(self) -> dict[str, int]:
        """The bytes of each topic, one replica of each partition."""
        return _by_topic(self.sizes)

    def lags(self) -> dict[str, int]:
        """Records to go for each group that has committed anything."""
        return {group: self._lag(offsets) for group, offsets in self.committed.items() if offsets}

    def groups_of(self, topic: str) -> list[str]:
        """The groups that have committed an offset in a topic."""
        return [
            group for group, offsets in self.committed.items() if any(each.topic == topic for each in offsets)
        ]

    def lag_in(self, group: str, topic: str) -> int:
        """Records that a group has to go in one topic."""
        return self._lag({where: at for where, at in self.committed[group].items() if where.topic == topic})

    def _lag(self, offsets: Offsets) -> int:
        return sum(max(0, self.ends[where] - at) for where, at in offsets.items() if where in self.ends)


def take_sample(cluster: Cluster, *, now_ms: int) -> Sample:
    """Look at everything; sizes are left out where a cluster does not tell them."""
    leaders = find_leaders(cluster)
    ends = end_offsets(cluster, leaders)
    return Sample(
        time_ms=now_ms,
        ends={where: end for where, end in ends.items() if end is not None},
        sizes=partition_bytes(cluster, leaders),
        committed=_committed(cluster),
    )


def rates(before: Sample, after: Sample) -> dict[TopicPartition, float]:
    """Records a second of each partition; none for one that began anew, as a topic that was made again."""
    seconds = (after.time_ms - before.time_ms) / 1000
    return {
        where: (end - before.ends[where]) / seconds
        for where, end in after.ends.items()
        if seconds > 0 and where in before.ends and end >= before.ends[where]
    }


def is_internal(topic: str) -> bool:
    """Whether a cluster writes to the topic for itself."""
    return topic.startswith(INTERNAL_PREFIX)


def _committed(cluster: Cluster) -> dict[str, Offsets]:
    told = cluster.ask_live_brokers(ApiKey.LIST_GROUPS, ListGroupsRequest(), doing="list the groups")
    return committed_offsets(cluster, list(groups_in(told.answers))[:GROUPS_MAX])


def _by_topic(numbers: Mapping[TopicPartition, int]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for where, number in numbers.items():
        sums[where.topic] += number
    return dict(sums)
