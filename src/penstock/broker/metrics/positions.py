"""Where partitions end, and when what lies at some offsets was written: what the lag of groups is made of.

A group is told by its coordinator, whose broker need not have a replica of what the group reads. A replica in
sync here is asked first; of other partitions their leaders are (``apis.offset_times``). When a broker does
not answer, its partitions have no lag on this page: none is better than a wrong one.

A timestamp does not change, so it is looked up once for as long as the offset stays committed.
"""

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from penstock.broker.apis.offset_times import UNKNOWN_TIMESTAMP, time_of
from penstock.broker.metrics.pace import Pace
from penstock.broker.partition import Partition
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_error import PeerError
from penstock.metadata.topic_image import PartitionImage
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId, TopicId, TopicPartition
from penstock.model.limits import OFFSET_TIMES_MAX
from penstock.wire.messages.offset_times import AskedPartition, OffsetTimesRequest, OffsetTimesResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

ANSWER_SECONDS_MAX = 1.0
"""A broker that takes longer is left out: a scrape must end."""

API_VERSION = 0

Wanted = Mapping[TopicPartition, Collection[int]]
"""Committed offsets by partition."""


class Place(NamedTuple):
    """An offset of a partition, which no other topic of the same name will ever have."""

    topic_id: TopicId
    partition: int
    offset: int


class Positions:
    """As they were when somebody last looked."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        #: High watermarks.
        self._ends: dict[TopicPartition, int] = {}
        #: Only of what was wanted in the last look.
        self._timestamps: dict[Place, int] = {}

    def end_of(self, partition: TopicPartition) -> int | None:
        """Its high watermark; None when nobody told."""
        return self._ends.get(partition)

    def timestamp_of(self, partition: TopicPartition, offset: int) -> int | None:
        """When what lies at an offset was written; None when nobody told, or nothing is there."""
        topic = self._broker.image.topics.get(partition.topic)
        if topic is None:
            return None
        found = self._timestamps.get(Place(topic.topic_id, partition.partition, offset), UNKNOWN_TIMESTAMP)
        return None if found == UNKNOWN_TIMESTAMP else found

    async def look(self, wanted: Wanted, pace: Pace) -> None:
        """Find everything anew, but for timestamps that are known."""
        known, self._timestamps = self._timestamps, {}
        self._ends = {}
        elsewhere: dict[NodeId, dict[TopicPartition, AskedPartition]] = {}
        async for chunk in pace.chunks(wanted.items()):
            for name, offsets in chunk:
                self._find(name, offsets, known, elsewhere)
        await asyncio.gather(*(self._ask_all(leader, asked) for leader, asked in elsewhere.items()))

    def _find(
        self,
        name: TopicPartition,
        offsets: Collection[int],
        known: Mapping[Place, int],
        elsewhere: dict[NodeId, dict[TopicPartition, AskedPartition]],
    ) -> None:
        """Look here, or note whom to ask."""
        topic = self._broker.image.topics.get(name.topic)
        if topic is None or name.partition >= len(topic.partitions):
            return
        places = [Place(topic.topic_id, name.partition, offset) for offset in offsets]
        self._timestamps.update((place, known[place]) for place in places if place in known)
        unknown = [place.offset for place in places if place not in known]
        image = topic.partitions[name.partition]
        partition = self._replica(name, image)
        if partition is not None:
            self._look_here(name, partition, unknown)
        elif image.has_leader and image.leader != self._broker.node_id:
            asked = AskedPartition(
                topic_id=topic.topic_id, partition=name.partition, offsets=tuple(sorted(unknown))
            )
            elsewhere.setdefault(image.leader, {})[name] = asked

    def _replica(self, name: TopicPartition, image: PartitionImage) -> Partition | None:
        """The partition, if it is here and has everything that is committed."""
        if self._broker.node_id not in image.isr:
            return None
        try:
            return self._broker.replicas.by_name(*name)
        except ApiError:
            return None  # it is about to be opened, or cannot be

    def _look_here(self, name: TopicPartition, partition: Partition, offsets: list[int]) -> None:
        end = self._ends[name] = partition.high_watermark
        for offset in offsets:
            if offset < end:
                place = Place(partition.topic_id, partition.index, offset)
                self._timestamps[place] = time_of(partition, offset)

    async def _ask_all(self, leader: NodeId, asked: Mapping[TopicPartition, AskedPartition]) -> None:
        try:
            for portion in _portions(asked):
                request = OffsetTimesRequest(partitions=tuple(portion.values()))
                response = await self._broker.peers.ask(
                    leader, request, API_VERSION, seconds_max=ANSWER_SECONDS_MAX, lane=Lane.CONTROL
                )
                self._take(portion, response)
        except PeerError as error:
            logger.debug("no lag of groups on partitions led elsewhere", extra={"reason": str(error)})

    def _take(self, asked: Mapping[TopicPartition, AskedPartition], response: OffsetTimesResponse) -> None:
        for (name, question), told in zip(asked.items(), response.partitions, strict=False):
            if told.error_code:
                continue
            self._ends[name] = told.high_watermark
            for offset, timestamp in zip(question.offsets, told.timestamps, strict=False):
                if offset < told.high_watermark:
                    self._timestamps[Place(question.topic_id, question.partition, offset)] = timestamp


def _portions(
    asked: Mapping[TopicPartition, AskedPartition],
) -> Iterator[dict[TopicPartition, AskedPartition]]:
    """As many partitions as one question may have, and at least one."""
    portion: dict[TopicPartition, AskedPartition] = {}
    size = 0
    for name, question in asked.items():
        if portion and size + 1 + len(question.offsets) > OFFSET_TIMES_MAX:
            yield portion
            portion, size = {}, 0
        portion[name] = question
        size += 1 + len(question.offsets)
    if portion:
        yield portion
