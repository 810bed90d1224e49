"""Where partitions are, and where they begin and end: all that planning asks of brokers.

Leaders that move are waited out. Other failures are asked again as often as ``fetchOffset.numRetries`` says.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import OperatingError
from penstock.model.ids import ZERO_TOPIC_ID, TopicPartition, uuid_to_text
from penstock.spark.offsets.resolving import Extent
from penstock.spark.options.source_options import SourceOptions
from penstock.spark.options.subscriptions import Assign, Subscribe, SubscribePattern, Subscription
from penstock.spark.reading.clusters import borrowed_cluster
from penstock.spark.reading.patience import Patience, passes
from penstock.wire.messages.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP
from penstock.wire.messages.metadata import MetadataResponseTopic
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.errors import WireClientError, check
from penstock.wire_client.partition_sizes import partition_bytes
from penstock.wire_client.topics import ABSENT, READ_COMMITTED, READ_UNCOMMITTED, Leaders, known_offsets_at

Result = TypeVar("Result")


class LeaderlessError(OperatingError):
    """Nobody leads a partition, and nobody did for as long as it was waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicLayout:
    """A topic as the cluster has it."""

    name: str
    topic_id: str | None
    """In Kafka's text form; None if the brokers are older than ids."""
    leaders: Mapping[int, int]
    """Who leads each partition; -1 for nobody."""

    @property
    def partitions(self) -> list[TopicPartition]:
        """All of them, in order."""
        return [TopicPartition(self.name, number) for number in sorted(self.leaders)]


Layouts = Mapping[str, TopicLayout]


class Lookup:
    """Asks one cluster, for one reader."""

    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._isolation_level = READ_COMMITTED if options.is_read_committed else READ_UNCOMMITTED

    def of_all_records(self) -> "Lookup":
        """The same for who reads what is not committed, too: a partition ends behind its last record."""
        return Lookup(replace(self._options, is_read_committed=False))

    def layouts(self, subscription: Subscription) -> dict[str, TopicLayout]:
        """The topics that a subscription means, as far as they exist, with the partitions that it means."""
        match subscription:
            case Subscribe(topics=topics):
                return self._ask(lambda cluster: _layouts(cluster, topics))
            case SubscribePattern():
                found = self._ask(lambda cluster: _layouts(cluster, None))
                return {name: found[name] for name in subscription.matching(found)}
            case Assign(partitions=partitions):
                wanted = {partition.topic for partition in partitions}
                found = self._ask(lambda cluster: _layouts(cluster, sorted(wanted)))
                return {name: _only(layout, partitions) for name, layout in found.items()}

    def extents(self, layouts: Layouts) -> dict[TopicPartition, Extent]:
        """Where the partitions begin and end."""
        earliest = self._special(layouts, EARLIEST_TIMESTAMP)
        latest = self._special(layouts, LATEST_TIMESTAMP)
        return {partition: Extent(earliest[partition], latest[partition]) for partition in earliest}

    def latest(self, layouts: Layouts) -> dict[TopicPartition, int]:
        """Where the partitions end."""
        return self._special(layouts, LATEST_TIMESTAMP)

    def latest_found(self, layouts: Layouts) -> dict[TopicPartition, int]:
        """Where those partitions end that are there and led, without waiting for the others."""
        return self._found(layouts, LATEST_TIMESTAMP)

    def earliest_found(self, layouts: Layouts) -> dict[TopicPartition, int]:
        """Where those partitions begin that are there and led, without waiting for the others."""
        return self._found(layouts, EARLIEST_TIMESTAMP)

    def offsets_at(self, times: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        """The first offset of each partition whose record is of that time or later; None if there is none.

        Partitions that nobody leads at first are waited for: what they hold is not known, be it nothing.
        """
        if not times:
            return {}
        return self._ask(lambda cluster: self._all_offsets(cluster, times, known=None))

    def sizes(self, layouts: Layouts) -> dict[TopicPartition, int]:
        """Bytes of the partitions on the disks of their leaders, of those whose leaders tell."""
        return self._ask(lambda cluster: partition_bytes(cluster, _leaders(layouts)))

    def _special(self, layouts: Layouts, place: int) -> dict[TopicPartition, int]:
        """Of every partition; those that nobody leads at first are waited for."""
        wanted = dict.fromkeys(_leaders(layouts), place)
        return self._ask_leaders(
            layouts, lambda cluster, leaders: self._all_offsets(cluster, wanted, known=leaders)
        )

    def _found(self, layouts: Layouts, place: int) -> dict[TopicPartition, int]:
        wanted = dict.fromkeys(_leaders(layouts), place)
        return self._ask_leaders(
            layouts, lambda cluster, leaders: self._offsets(cluster, wanted, known=leaders)
        )

    def _ask_leaders(
        self,
        layouts: Layouts,
        question: Callable[[Cluster, Leaders | None], dict[TopicPartition, int | None]],
    ) -> dict[TopicPartition, int]:
        """With known leaders once only: who cannot be reached may lead no more."""
        leaders = _leaders(layouts)
        if not leaders:
            return {}
        known = [leaders]
        found = self._ask(lambda cluster: question(cluster, known.pop() if known else None))
        return {partition: offset for partition, offset in found.items() if offset is not None}

    def _all_offsets(
        self, cluster: Cluster, times: Mapping[TopicPartition, int], *, known: Leaders | None
    ) -> dict[TopicPartition, int | None]:
        patience = Patience(self._options.client, limit_ms=self._options.client.patience_ms)
        found: dict[TopicPartition, int | None] = {}
        while True:
            missing = {partition: time for partition, time in times.items() if partition not in found}
            found |= self._offsets(cluster, missing, known=known)
            leaderless = missing.keys() - found.keys()
            if not leaderless:
                return dict(sorted(found.items()))
            known = None
            patience.pause(
                LeaderlessError(
                    f"{min(leaderless)} has no leader, and had none for {self._options.client.patience_ms} "
                    "ms: see which brokers are down."
                )
            )

    def _offsets(
        self, cluster: Cluster, times: Mapping[TopicPartition, int], *, known: Leaders | None
    ) -> dict[TopicPartition, int | None]:
        """Of the partitions that are there and led; special places are times, too."""
        return known_offsets_at(cluster, times, isolation_level=self._isolation_level, leaders=known)

    def _ask(self, question: Callable[[Cluster], Result]) -> Result:
        patience = Patience(self._options.client, limit_ms=self._options.client.patience_ms)
        retries_left = self._options.lookup_retries_max
        while True:
            try:
                with borrowed_cluster(self._options.client) as cluster:
                    return question(cluster)
            except WireClientError as error:
                if passes(error):
                    patience.pause(error)
                    continue
                if not retries_left:
                    raise
            retries_left -= 1
            time.sleep(self._options.lookup_retry_ms / 1000)


def _leaders(layouts: Layouts) -> dict[TopicPartition, int]:
    return {
        TopicPartition(layout.name, number): leader
        for layout in layouts.values()
        for number, leader in layout.leaders.items()
    }


def _layouts(cluster: Cluster, topics: Collection[str] | None) -> dict[str, TopicLayout]:
    """Topics by name, or all that are not internal; those that do not exist are left out."""
    answer = cluster.metadata(None if topics is None else sorted(topics))
    found: dict[str, TopicLayout] = {}
    for topic in answer.topics:
        if topic.error_code in ABSENT or topic.name is None or (topics is None and topic.is_internal):
            continue
        if topic.error_code not in PASSING:
            check(topic.error_code, doing=f"read the metadata of topic {topic.name!r}")
        found[topic.name] = _layout(topic.name, topic)
    return found


def _layout(name: str, topic: MetadataResponseTopic) -> TopicLayout:
    return TopicLayout(
        name=name,
        topic_id=None if topic.topic_id == ZERO_TOPIC_ID else uuid_to_text(topic.topic_id),
        leaders={
            partition.partition_index: -1 if partition.error_code != ErrorCode.NONE else partition.leader_id
            for partition in topic.partitions
        },
    )


def _only(layout: TopicLayout, partitions: Iterable[TopicPartition]) -> TopicLayout:
    wanted = {partition.partition for partition in partitions if partition.topic == layout.name}
    return TopicLayout(
        name=layout.name,
        topic_id=layout.topic_id,
        leaders={number: leader for number, leader in layout.leaders.items() if number in wanted},
    )
