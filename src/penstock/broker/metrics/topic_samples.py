"""Metrics of topics and partitions.

A partition is told by its leader, so that a sum over all brokers counts each one once. What the image says
is in ``partition_lines``; here is what moves.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING

from penstock.broker.metrics import table
from penstock.broker.metrics.metric import Family, Metric, Sample
from penstock.broker.metrics.pace import Pace
from penstock.broker.metrics.partition_lines import PartitionLines
from penstock.broker.partition import Partition
from penstock.model.ids import TopicPartition

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


class TopicSamples:
    """Those of one broker."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._lines = PartitionLines()

    async def families(self, pace: Pace) -> AsyncIterator[Family]:
        """Everything about topics and partitions."""
        is_controller = self._broker.quorum.is_leader
        if is_controller:
            for family in self._cluster():
                yield family
        image, own = self._broker.image, self._broker.node_id
        for family in await self._lines.families(image, own, is_controller=is_controller, pace=pace):
            yield family
        if is_controller:
            yield Family(table.OFFLINE_PARTITIONS, [("", self._lines.offline_count)])
        for family in self._offsets():
            yield family
        for family in await self._totals(pace):
            yield family
        for family in self._traffic():
            yield family

    def _cluster(self) -> Iterator[Family]:
        """What only the controller tells."""
        image = self._broker.image
        alive = [each for each in image.brokers.values() if not each.is_fenced]
        yield Family(table.BROKERS, [("", len(alive))])
        yield Family(
            table.BROKER_INFO,
            [
                (table.BROKER_INFO.series(each.node_id, f"{endpoint.host}:{endpoint.port}"), 1)
                for each in alive
                for endpoint in each.endpoints[:1]
            ],
        )
        yield Family(
            table.TOPIC_PARTITIONS,
            (
                (table.TOPIC_PARTITIONS.series(topic.name), len(topic.partitions))
                for topic in image.topics.values()
            ),
        )

    def _offsets(self) -> Iterator[Family]:
        led = [each for each in self._broker.replicas if each.is_leader]
        yield Family(table.CURRENT_OFFSET, ((self._name(each), each.high_watermark) for each in led))
        yield Family(table.OLDEST_OFFSET, ((self._name(each), each.log.log_start_offset) for each in led))

    def _name(self, partition: Partition) -> str:
        known = self._lines.series.get(TopicPartition(partition.topic, partition.index))
        return known or table.LEADER.series(partition.topic, partition.index)

    async def _totals(self, pace: Pace) -> list[Family]:
        totals = _Totals()
        async for chunk in pace.chunks(list(self._broker.replicas)):
            for each in chunk:
                totals.add(each)
        totals.failed += len(self._broker.replicas.unavailable)
        return totals.families()

    def _traffic(self) -> Iterator[Family]:
        traffic = self._broker.server.traffic
        traffic.keep_topics(self._broker.image.topics)
        topics = [(table.LOG_SIZE.series(name), topic) for name, topic in sorted(traffic.topics.items())]
        yield Family(table.TOPIC_MESSAGES_IN, ((series, topic.messages_in) for series, topic in topics))
        yield Family(table.TOPIC_BATCHES_IN, ((series, topic.batches_in) for series, topic in topics))
        yield Family(table.TOPIC_BYTES_IN, ((series, topic.bytes_in) for series, topic in topics))
        yield Family(table.TOPIC_BYTES_OUT, ((series, topic.bytes_out) for series, topic in topics))


class _Totals:
    """Sums over the partitions of a broker."""

    def __init__(self) -> None:
        self.failed = 0
        self._partitions = self._led = self._under_replicated = self._under_min_isr = 0
        self._sizes: Counter[str] = Counter()
        self._waiting_for_flush = self._waiting_for_replicas = 0

    def add(self, partition: Partition) -> None:
        """Count one."""
        self._partitions += 1
        self._sizes[partition.topic] += partition.log.size_bytes
        self.failed += partition.failure is not None or partition.log.is_offline
        if partition.is_leader:
            leader, waiters = partition.leader, partition.waiters
            in_sync = len(leader.assignment.isr)
            self._led += 1
            self._under_replicated += in_sync < len(leader.assignment.replicas)
            self._under_min_isr += in_sync < leader.min_insync_replicas
            self._waiting_for_flush += len(waiters.flush)
            self._waiting_for_replicas += len(waiters.replication) + len(waiters.commit)

    def families(self) -> list[Family]:
        """What was counted."""
        return [
            Family(table.PARTITIONS, [("", self._partitions)]),
            Family(table.LED_PARTITIONS, [("", self._led)]),
            Family(table.UNDER_REPLICATED_PARTITIONS, [("", self._under_replicated)]),
            Family(table.UNDER_MIN_ISR_PARTITIONS, [("", self._under_min_isr)]),
            Family(table.FAILED_PARTITIONS, [("", self.failed)]),
            _by_label(table.LOG_SIZE, self._sizes),
            _by_label(
                table.WAITING_APPENDS,
                {"flush": self._waiting_for_flush, "replicas": self._waiting_for_replicas},
            ),
        ]


def _by_label(metric: Metric, counts: Mapping[str, int]) -> Family:
    samples: list[Sample] = [(metric.series(label), count) for label, count in sorted(counts.items())]
    return Family(metric, samples)
