"""Partitions follow the fate of brokers: whoever leaves, leads nothing more and is in no in-sync set.

Each function answers with records and changes nothing. They look at every partition of the cluster; topics
are taken in the order of their names, so that every controller decides alike.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import NamedTuple

from penstock.metadata.assignments import directory_for
from penstock.metadata.image import ClusterImage
from penstock.metadata.partition_change import (
    Circumstances,
    Election,
    as_it_is,
    change_partition,
)
from penstock.metadata.records import PartitionChangeRecord
from penstock.metadata.replication_rules import TopicRules, topic_rules
from penstock.metadata.topic_image import PartitionImage, TopicImage
from penstock.model.ids import NodeId, TopicId

Records = list[PartitionChangeRecord]
PartitionKey = tuple[TopicId, int]


class Place(NamedTuple):
    """A partition and where it is found."""

    topic: TopicImage
    partition_index: int
    partition: PartitionImage


def partitions_of(image: ClusterImage) -> Iterator[Place]:
    """Every partition, in a fixed order."""
    for name in sorted(image.topics):
        topic = image.topics[name]
        for index, partition in enumerate(topic.partitions):
            yield Place(topic, index, partition)


def circumstances_in(
    image: ClusterImage,
    rules: TopicRules,
    *,
    is_acceptable: Callable[[NodeId], bool] | None = None,
    lost: frozenset[NodeId] = frozenset(),
    election: Election | None = None,
) -> Circumstances:
    """What decides on changes of a topic's partitions; unless said otherwise active brokers may lead."""
    usual = Election.UNCLEAN if rules.allows_unclean_election else Election.ONLINE
    return Circumstances(
        rules=rules,
        is_acceptable=is_acceptable or (lambda node_id: is_active(image, node_id)),
        directory_of=lambda node_id: directory_for(image, node_id),
        lost=lost,
        election=election or usual,
    )


def is_active(image: ClusterImage, node_id: NodeId) -> bool:
    """Whether a broker may lead."""
    broker = image.brokers.get(node_id)
    return broker is not None and broker.is_active


def brokers_left(image: ClusterImage, gone: Collection[NodeId]) -> Records:
    """These brokers are not to be counted on: out of every in-sync set, and others lead what they led.

    Whoever was needed for commits stays eligible, since its disk still has everything.
    """
    left = frozenset(gone)
    return _change(
        image,
        [place for place in partitions_of(image) if not left.isdisjoint(place.partition.isr)],
        is_acceptable=lambda node_id: node_id not in left and is_active(image, node_id),
        without=left,
    )


def broker_came(image: ClusterImage, node_id: NodeId) -> Records:
    """A broker is let in: it leads what nobody leads, if it may."""
    if image.brokers[node_id].is_in_controlled_shutdown:
        return []
    return _change(
        image,
        [place for place in _leaderless(image) if node_id in place.partition.replicas],
        is_acceptable=lambda each: each == node_id or is_active(image, each),
    )


def broker_lost(image: ClusterImage, node_id: NodeId, lost: Collection[PartitionKey] | None) -> Records:
    """A broker's disk may lack records of these partitions (of all, if None): there it is not eligible."""
    concerned = [
        place
        for place in partitions_of(image)
        if (node_id in place.partition.isr or node_id in place.partition.eligible_leader_replicas)
        and (lost is None or (place.topic.topic_id, place.partition_index) in lost)
    ]
    return _change(
        image,
        concerned,
        is_acceptable=lambda each: each != node_id and is_active(image, each),
        without=frozenset({node_id}),
        lost=frozenset({node_id}),
    )


def leaderless_may_be_led(image: ClusterImage) -> Records:
    """Partitions that nobody leads get a leader where one can be had, unclean where the topic allows it.

    Settings may have changed since they lost theirs, so this is asked now and then.
    """
    return _change(image, list(_leaderless(image)), is_acceptable=lambda node_id: is_active(image, node_id))


def leads_anything(image: ClusterImage, node_id: NodeId) -> bool:
    """Whether a broker leads a partition."""
    return any(place.partition.leader == node_id for place in partitions_of(image))


def _leaderless(image: ClusterImage) -> Iterator[Place]:
    return (place for place in partitions_of(image) if not place.partition.has_leader)


def _change(
    image: ClusterImage,
    places: Collection[Place],
    *,
    is_acceptable: Callable[[NodeId], bool],
    without: frozenset[NodeId] = frozenset(),
    lost: frozenset[NodeId] = frozenset(),
) -> Records:
    records: Records = []
    known: dict[str, Circumstances] = {}
    for topic, index, partition in places:
        if topic.name not in known:
            known[topic.name] = circumstances_in(
                image, topic_rules(image, topic.name), is_acceptable=is_acceptable, lost=lost
            )
        isr = tuple(node_id for node_id in partition.isr if node_id not in without)
        wanted = replace(as_it_is(partition), isr=isr)
        record = change_partition(partition, wanted, known[topic.name], topic_id=topic.topic_id, index=index)
        records += [record] if record is not None else []
    return records
