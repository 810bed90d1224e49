"""Brokers that know of each other and share out partitions, each with a metadata log of its own.

What a broker sees of the cluster is its own image, its neighbours, and some partitions placed on others. That
is all that transactions need of a cluster: who leads what, and how to reach him.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from tests.broker.coordination.living_broker import living, make_topic, new_disk

from penstock.broker.broker import Broker
from penstock.broker.peers.address import Address
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peers import Peers
from penstock.config.listeners import PLAINTEXT
from penstock.metadata.broker_image import BrokerImage
from penstock.metadata.image import ClusterImage
from penstock.metadata.topic_image import PartitionImage, TopicImage
from penstock.model.ids import ZERO_TOPIC_ID, LeaderEpoch, NodeId, TopicPartition
from penstock.storage.memory_filesystem import MemoryFileSystem

ONE, TWO, THREE = NodeId(1), NodeId(2), NodeId(3)
NOBODY = NodeId(-1)


class Neighbourhood:
    """Who leads what, and who is there."""

    def __init__(self) -> None:
        self.placed: dict[TopicPartition, NodeId] = {}
        self.brokers: dict[NodeId, BrokerImage] = {}
        #: Requests between brokers about transactions, by the names of their messages.
        self.asked: list[tuple[NodeId, str]] = []

    def place(self, topic: str, index: int, leader: NodeId) -> None:
        """Let everybody see a partition there."""
        self.placed[TopicPartition(topic, index)] = leader

    def address_of(self, node_id: NodeId) -> Address | None:
        """Where a broker listens."""
        broker = self.brokers.get(node_id)
        endpoint = None if broker is None else broker.endpoint(PLAINTEXT)
        return None if endpoint is None else Address(endpoint.host, endpoint.port)

    @asynccontextmanager
    async def living(
        self, node_id: NodeId, disk: MemoryFileSystem | None = None
    ) -> AsyncIterator["Neighbour"]:
        """A broker that has a topic, and that all others can reach."""
        flags = {
            "node.id": str(node_id),
            "transaction.state.log.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "offsets.topic.replication.factor": "1",
        }
        async with living(Neighbour, disk or new_disk(), **flags) as broker:
            if "orders" not in broker.image.topics:
                await make_topic(broker)
            self.brokers[node_id] = broker.image.brokers[node_id]
            broker.neighbourhood = self
            broker.peers = _Counting(self, broker)
            try:
                yield broker
            finally:
                broker.peers.close()


class Neighbour(Broker):
    """Sees partitions where they are placed."""

    neighbourhood: Neighbourhood | None = None

    @property
    def image(self) -> ClusterImage:
        """Its own, with all brokers, and every partition that is placed somewhere."""
        image = super().image
        if self.neighbourhood is None:
            return image
        topics = dict(image.topics)
        for (name, index), leader in self.neighbourhood.placed.items():
            topic = topics.get(name) or TopicImage(name=name, topic_id=ZERO_TOPIC_ID, partitions=())
            missing = max(0, index + 1 - len(topic.partitions))
            partitions = [*topic.partitions, *[_placed_at(NOBODY)] * missing]
            partitions[index] = _placed_at(leader)
            topics[name] = replace(topic, partitions=tuple(partitions))
        return replace(image, topics=topics, brokers=self.neighbourhood.brokers)


class _Counting(Peers):
    """Notes what is asked about transactions."""

    def __init__(self, neighbourhood: Neighbourhood, broker: Broker) -> None:
        super().__init__(
            loop=broker.loop, clock=broker.clock, client_id="test", address_of=neighbourhood.address_of
        )
        self._neighbourhood = neighbourhood

    async def ask(self, node_id: NodeId, request: Any, version: int, **choices: Any) -> Any:
        """As any peers do."""
        if choices.get("lane") is Lane.TRANSACTIONS:
            self._neighbourhood.asked.append((node_id, type(request).__name__))
        return await super().ask(node_id, request, version, **choices)


Story = Callable[[Neighbourhood, Neighbour, Neighbour], Coroutine[Any, Any, None]]


def tell(story: Story) -> None:
    """On two brokers: the first coordinates all transactions, the second leads partition 1 of orders."""

    async def run() -> None:
        neighbourhood = Neighbourhood()
        async with AsyncExitStack() as stack:
            one = await stack.enter_async_context(neighbourhood.living(ONE))
            two = await stack.enter_async_context(neighbourhood.living(TWO))
            await share_out(neighbourhood, one)
            await story(neighbourhood, one, two)

    asyncio.run(run())


async def share_out(neighbourhood: Neighbourhood, coordinator: Neighbour) -> None:
    """Make the topic of transactions, and let everybody see who leads what."""
    await coordinator.transactions.ensure_topic()
    neighbourhood.place("__transaction_state", 0, coordinator.node_id)
    neighbourhood.place("orders", 0, ONE)
    neighbourhood.place("orders", 1, TWO)


def _placed_at(leader: NodeId) -> PartitionImage:
    return PartitionImage(
        replicas=(leader,), isr=(leader,), leader=leader, leader_epoch=LeaderEpoch(0), partition_epoch=0
    )
