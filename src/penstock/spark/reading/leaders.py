"""Who leads which partition, remembered with the conversation: tasks of a process ask for the same ones."""

from weakref import WeakKeyDictionary

from penstock.model.ids import TopicPartition
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.topics import find_leaders

_NOBODY = -1

_known: WeakKeyDictionary[Cluster, dict[TopicPartition, int]] = WeakKeyDictionary()


def known_leader(cluster: Cluster, partition: TopicPartition) -> int | None:
    """The leader as it was last heard of; -1 for nobody, None if there is no such partition."""
    leaders = _known.setdefault(cluster, {})
    if leaders.get(partition, _NOBODY) == _NOBODY:
        leaders |= find_leaders(cluster, [partition.topic])
    return leaders.get(partition)


def forget_leaders(cluster: Cluster) -> None:
    """Something moved: look them up anew."""
    _known.pop(cluster, None)
