"""Brokers without disks: a door, a way to others, and a quorum that somebody else decides about."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

from tests.broker.control.standing_in import InstantQuorum, until
from tests.metadata.cluster import directory_of, make_image

from penstock.broker.clock import SystemClock
from penstock.broker.control.channel import ControllerChannel
from penstock.broker.control.controller import Controller
from penstock.broker.control.following import ImageFollower
from penstock.broker.control.membership import Membership
from penstock.broker.dispatch import Dispatch
from penstock.broker.entropy import SystemEntropy
from penstock.broker.peers.address import Address
from penstock.broker.peers.peers import Peers
from penstock.broker.server import Server
from penstock.broker.tasks import Tasks
from penstock.config.sources import load_broker_config
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import BrokerEndpoint
from penstock.model.ids import NodeId, TopicId
from penstock.raft.replica import ReplicaKey
from penstock.storage.broker_epoch import LastRegistration
from penstock.storage.meta_properties import MetaProperties

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


CLUSTER_ID = "here"


class Directory:
    """A data directory of which only the name matters."""

    def __init__(self, node_id: int) -> None:
        self.meta = MetaProperties(
            cluster_id=CLUSTER_ID, node_id=NodeId(node_id), directory_id=directory_of(node_id)
        )


class Partitions:
    """Partitions of which only the damage matters."""

    def __init__(self) -> None:
        self.lost: list[tuple[TopicId, int]] = []


class HalfBroker:
    """As much of a broker as controllers and their askers need."""

    def __init__(self, node_id: int, image: ClusterImage, addresses: dict[NodeId, Address]) -> None:
        self.loop = asyncio.get_running_loop()
        self.node_id = NodeId(node_id)
        self.cluster_id = CLUSTER_ID
        self.clock = SystemClock()
        self.entropy = SystemEntropy()
        self.config = load_broker_config(flags={"broker.heartbeat.interval.ms": "20"})
        self.is_ready = True
        self.tasks = Tasks(self.loop)
        self.log_directory = Directory(node_id)
        self.endpoints = (BrokerEndpoint(name="PLAINTEXT", host=f"host{node_id}", port=9000 + node_id),)
        self.partitions = Partitions()
        #: What would have ended the process.
        self.failures: list[Exception] = []
        self.fail = self.failures.append
        #: What would be on disk.
        self.last_registration = LastRegistration()
        self.quorum = InstantQuorum(image, key=ReplicaKey(self.node_id, directory_of(node_id)))
        self.quorum.is_leader, self.quorum.leader_id = False, None
        self.follower = ImageFollower(lambda: (self.quorum.image, self.quorum.applied_offset), self._follow)
        self.followed: list[ClusterImage] = []
        self.may_follow = asyncio.Event()
        self.may_follow.set()
        self.peers = Peers(loop=self.loop, clock=self.clock, client_id="test", address_of=addresses.get)
        self.control = ControllerChannel(cast("Broker", self))
        self.controller = Controller(cast("Broker", self))
        self.membership = Membership(cast("Broker", self))
        self.server = Server(self.config, Dispatch(cast("Broker", self)), self.clock)

    @property
    def image(self) -> ClusterImage:
        return self.quorum.image

    async def remember_registration(self, registration: LastRegistration) -> None:
        await asyncio.sleep(0)
        self.last_registration = registration

    def see_leader(self, node_id: int | None) -> None:
        """Somebody else is in office, or nobody."""
        self.quorum.leader_id = None if node_id is None else NodeId(node_id)
        self.quorum.is_leader = node_id == self.node_id
        self.controller.leadership_changed()
        self.control.leadership_changed()

    async def _follow(self, before: ClusterImage, image: ClusterImage) -> None:
        await self.may_follow.wait()
        self.followed.append(image)


@asynccontextmanager
async def half_brokers(count: int, image: ClusterImage | None = None) -> AsyncIterator[list[HalfBroker]]:
    """Brokers 1 and so on, which know each other's addresses; of whatever is decided all learn soon."""
    addresses: dict[NodeId, Address] = {}
    image = make_image() if image is None else image
    brokers = [HalfBroker(number + 1, image, addresses) for number in range(count)]

    def tell(teller: HalfBroker) -> None:
        for broker in brokers:
            if broker is not teller:
                broker.loop.call_soon(_learn, broker, teller.quorum.image, teller.quorum.applied_offset)
        teller.follower.image_changed()

    for broker in brokers:
        addresses[broker.node_id] = Address("127.0.0.1", await broker.server.bind("127.0.0.1", 0))
        await broker.server.accept()
        broker.follower.begin(image, broker.quorum.applied_offset)
        broker.tasks.start(broker.follower.run(), name="follow")
        broker.quorum.on_applied = lambda broker=broker: tell(broker)  # type: ignore[misc]  # binds it now
    yield brokers
    for broker in brokers:
        broker.peers.close()
        await broker.server.stop(0.0)
        await broker.tasks.stop()


def _learn(broker: HalfBroker, image: ClusterImage, offset: int) -> None:
    broker.quorum.image, broker.quorum.applied_offset = image, offset
    broker.membership.image_changed()
    broker.follower.image_changed()


async def followed(broker: HalfBroker) -> None:
    """Until the broker has done what it knows of."""
    await until(lambda: broker.follower.followed_offset == broker.quorum.applied_offset)
