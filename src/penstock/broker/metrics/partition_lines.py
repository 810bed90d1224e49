"""What the cluster's image says of partitions, as lines of the page.

Most of a page is this, and it changes only with the image; so it is written once for each image, and not for
each page. A partition is told by its leader, and one that nobody leads by the controller.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from penstock.broker.metrics import table
from penstock.broker.metrics.exposition import write_lines
from penstock.broker.metrics.metric import Family, Metric
from penstock.broker.metrics.pace import Pace
from penstock.metadata.image import ClusterImage
from penstock.metadata.topic_image import PartitionImage
from penstock.model.ids import NodeId, TopicPartition

Value = Callable[[PartitionImage], int]

_VALUES: dict[str, Value] = {
    table.LEADER.name: lambda each: each.leader,
    table.REPLICAS.name: lambda each: len(each.replicas),
    table.IN_SYNC_REPLICAS.name: lambda each: len(each.isr),
    table.LEADER_IS_PREFERRED.name: lambda each: int(each.leader == each.replicas[0]),
    table.UNDER_REPLICATED.name: lambda each: int(len(each.isr) < len(each.replicas)),
}


class Told(NamedTuple):
    """A partition that this broker tells."""

    series: str
    image: PartitionImage


class PartitionLines:
    """Of one broker."""

    def __init__(self) -> None:
        #: The label parts of all partitions told here.
        self.series: dict[TopicPartition, str] = {}
        self.offline_count = 0
        self._families: list[Family] = []
        self._written_for: tuple[ClusterImage, NodeId, bool] | None = None

    async def families(
        self, image: ClusterImage, own: NodeId, *, is_controller: bool, pace: Pace
    ) -> list[Family]:
        """The lines, written anew if they could be others than before."""
        reason = (image, own, is_controller)
        before = self._written_for
        if before is None or before[0] is not image or before[1:] != reason[1:]:
            told = await self._choose(image, own, is_controller=is_controller, pace=pace)
            self.offline_count = sum(not each.image.has_leader for each in told)
            self._families = [
                await _family(table.METRICS[name], told, value, pace) for name, value in _VALUES.items()
            ]
            self._written_for = reason
        return self._families

    async def _choose(
        self, image: ClusterImage, own: NodeId, *, is_controller: bool, pace: Pace
    ) -> list[Told]:
        known, self.series = self.series, {}
        told = []
        async for chunk in pace.chunks(_partitions(image)):
            for name, partition in chunk:
                if partition.leader == own or (is_controller and not partition.has_leader):
                    series = self.series[name] = known.get(name) or table.LEADER.series(*name)
                    told.append(Told(series, partition))
        return told


def _partitions(image: ClusterImage) -> Iterator[tuple[TopicPartition, PartitionImage]]:
    for topic in image.topics.values():
        for index, partition in enumerate(topic.partitions):
            yield TopicPartition(topic.name, index), partition


async def _family(metric: Metric, told: list[Told], value: Value, pace: Pace) -> Family:
    blocks = [
        write_lines(metric, [(each.series, value(each.image)) for each in chunk])
        async for chunk in pace.chunks(told)
    ]
    return Family(metric, written=b"".join(blocks))
