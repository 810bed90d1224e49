"""All shards of one kind on this broker: which key is whose, and what happens when partitions come and go."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from penstock.broker.coordination.internal_topic import InternalTopic, ensure_exists
from penstock.broker.coordination.partition_lookup import partition_image
from penstock.broker.coordination.shard_host import HostSurroundings, ShardHost
from penstock.broker.coordination.shard_kind import ShardKind
from penstock.broker.peers.peer_error import PeerError
from penstock.coordinator.partitioning import partition_for
from penstock.metadata.image import ClusterImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import NodeId, TopicId, TopicPartition
from penstock.records.control import TransactionMarker
from penstock.storage.append_result import AppendResult
from penstock.wire.framing import RequestHeader
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)


class Coordinator:
    """Looks after the keys (groups, transactional ids) whose partitions this broker leads."""

    def __init__(
        self,
        broker: "Broker",
        kind: ShardKind,
        around: HostSurroundings,
        topic: Callable[[], InternalTopic],
    ) -> None:
        self._broker = broker
        self._kind = kind
        self._around = around
        self._topic = topic
        #: The newest image that was followed, by which shards know the cluster; there may be newer ones. A
        #: shard must not be ahead of its term of office: the next one, whose image may be no newer than the
        #: end of that term, takes topics that it does not know for deleted.
        self.followed_image = ClusterImage()
        #: By partition.
        self._hosts: dict[int, ShardHost] = {}
        self._has_stopped = False

    @property
    def hosts(self) -> Iterable[ShardHost]:
        """Those of the partitions that are here, in order."""
        return [host for _, host in sorted(self._hosts.items())]

    @property
    def kind(self) -> ShardKind:
        """What it looks after."""
        return self._kind

    async def ensure_topic(self) -> None:
        """Make the internal topic unless it is there; COORDINATOR_NOT_AVAILABLE if that fails."""
        try:
            await ensure_exists(self._broker, self._topic())
        except (ApiError, PeerError) as error:
            extra = {"topic": self._kind.topic, "reason": str(error)}
            logger.warning("internal topic cannot be made", extra=extra)
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE) from error

    def index_for(self, key: str) -> int:
        """The partition of the internal topic that keeps a key."""
        topic = self._broker.image.topics.get(self._kind.topic)
        return partition_for(key, self._topic().partition_count if topic is None else len(topic.partitions))

    def leader_of(self, index: int) -> NodeId | None:
        """Who leads a partition of the internal topic, as far as the image knows."""
        known = partition_image(self._broker.image, TopicPartition(self._kind.topic, index))
        return None if known is None or not known.has_leader else known.leader

    def is_here(self, index: int) -> bool:
        """Whether a partition's shard is on this broker."""
        return index in self._hosts

    def host_for(self, key: str) -> ShardHost:
        """The host of a key's shard; NOT_COORDINATOR when it is not here."""
        host = self._hosts.get(self.index_for(key))
        if host is None:
            raise ApiError(ErrorCode.NOT_COORDINATOR)
        return host

    def append_marker(self, index: int, marker: TransactionMarker) -> AppendResult:
        """End a producer's transaction in a partition led here, and in what its shard knows."""
        host = self._hosts.get(index)
        if host is None:  # It is led here since a moment ago, or no longer.
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return host.append_marker(marker)

    def ask(self, key: str, request: Struct, header: RequestHeader) -> "asyncio.Future[Struct]":
        """Have the key's shard decide on a request."""
        host = self._hosts.get(self.index_for(key))
        if host is not None:
            return host.ask(request, header)
        answered: asyncio.Future[Struct] = self._around.loop.create_future()
        answered.set_result(self._kind.refuse(request, header.api_version, ErrorCode.NOT_COORDINATOR))
        return answered

    def follow(self, before: ClusterImage, image: ClusterImage) -> None:
        """Take in the partitions that are led here now, let go of others, tell the rest the news.

        A partition that is led here in another leader epoch than before is let go of and taken in again.
        """
        self.followed_image = image
        partitions = self._broker.replicas.of_topic(self._kind.topic)
        led = {each.index: each for each in partitions if each.is_leader}
        for index, host in list(self._hosts.items()):
            if led.get(index) is not host.partition or not host.is_in_office:
                del self._hosts[index]
                host.leave()
        if image.topics is not before.topics:
            gone = _deleted_topics(before, image)
            for host in self.hosts:
                self._kind.follow(host, image, gone)
        for index, partition in led.items():
            if index not in self._hosts and not self._has_stopped:
                host = self._hosts[index] = ShardHost(partition, self._kind, self._around)
                host.start()

    def stop(self) -> None:
        """Let go of everything: who waits for another client is told to look for a coordinator again."""
        self._has_stopped = True
        for host in self.hosts:
            host.leave()


def _deleted_topics(before: ClusterImage, image: ClusterImage) -> dict[str, TopicId]:
    """Also those that have been made anew since."""
    by_id = image.topics_by_id
    return {topic.name: topic_id for topic_id, topic in before.topics_by_id.items() if topic_id not in by_id}
