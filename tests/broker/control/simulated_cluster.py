"""Whole brokers on simulated machines, in a world without faults but those that a test brings."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from penstock.broker.broker import Broker
from penstock.metadata.image import ClusterImage
from penstock.model.ids import NodeId
from penstock.sim.cluster.node import PORT, Node, NodeSettings
from penstock.sim.network.link import NetworkHabits
from penstock.sim.network.network import Network
from penstock.sim.runtime.loop import new_loop
from penstock.sim.runtime.workers import DiskSpeed
from penstock.sim.runtime.world import World
from penstock.sim.workloads.client import Client
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.schema import Struct

S = TypeVar("S", bound=Struct)

STEP_SECONDS = 0.01
SECONDS_MAX = 30.0
NO_FLAGS: Mapping[str, str] = {}


class SimulatedCluster:
    """Machines a, b, c and so on; the first begins the cluster and the others join it."""

    def __init__(self, seed: int, flags: Mapping[str, str]) -> None:
        self.world = World(seed)
        self.network = Network(self.world, new_loop(self.world, "environment"), NetworkHabits())
        self.nodes: list[Node] = []
        self._flags = flags
        self._clients = 0

    def add(self, flags: Mapping[str, str] = NO_FLAGS, *, join: str | None = None) -> Node:
        """A machine more, switched on."""
        name = chr(ord("a") + len(self.nodes))
        known = tuple(f"{node.name}:{PORT}" for node in self.nodes) if join is None else (join,)
        settings = NodeSettings(
            name=name, is_founder=not self.nodes, others=known, flags={**self._flags, **flags}
        )
        node = Node(self.world, self.network, settings, speed=DiskSpeed())
        self.nodes.append(node)
        node.boot()
        return node

    def grow(self, count: int) -> list[Node]:
        """So many machines, all serving."""
        while len(self.nodes) < count:
            node = self.add()
            self.until(lambda node=node: node.is_serving)  # type: ignore[misc]  # binds it now
        return self.nodes

    # Time.

    def pass_time(self, seconds: float) -> None:
        self.world.run_until(self.world.now + seconds)
        assert not self.world.accidents, self.world.accidents

    def until(self, condition: Callable[[], object], *, step_seconds: float = STEP_SECONDS) -> float:
        """Let time pass until ``condition`` holds; how long that took."""
        began = self.world.now
        while not condition():
            assert self.world.now - began < SECONDS_MAX, f"not within {SECONDS_MAX} s"
            self.pass_time(step_seconds)
        return self.world.now - began

    # Looking.

    def serving(self) -> list[Broker]:
        return [node.broker for node in self.nodes if node.broker is not None and node.is_serving]

    def controllers(self) -> list[Broker]:
        return [broker for broker in self.serving() if broker.controller.is_active]

    @property
    def controller(self) -> Broker:
        """The one in office, once there is one."""
        self.until(lambda: len(self.controllers()) == 1)
        return self.controllers()[0]

    @property
    def image(self) -> ClusterImage:
        """What the controller knows."""
        return self.controller.image

    def node_of(self, node_id: int) -> Node:
        return next(node for node in self.nodes if node.broker and node.broker.node_id == node_id)

    def is_live(self, node_id: int) -> bool:
        broker = self.image.brokers.get(NodeId(node_id))
        return broker is not None and not broker.is_fenced

    def voters(self) -> list[int]:
        return [int(key.node_id) for key in self.controller.quorum.voters.keys]

    # Asking.

    def begin_to_ask(self, node: Node, request: Struct) -> "asyncio.Task[Any]":
        """Have a client ask one broker."""
        self._clients += 1
        loop = new_loop(self.world, f"client-{self._clients}", network=self.network)
        client = Client(loop, loop.name, [(node.name, PORT)], timeout_seconds=SECONDS_MAX)
        version = APIS[KEYS[type(request)]].max_version
        return loop.create_task(client.ask_any(request, version))

    def ask(self, node: Node, request: Struct) -> Any:
        """The answer of one broker to a client."""
        task = self.begin_to_ask(node, request)
        self.until(task.done)
        return task.result()

    def create(self, node: Node, name: str, *, partitions: int = 1, replicas: int = 1) -> int:
        """Create a topic by way of one broker; the error code."""
        (result,) = self.ask(node, creation(name, partitions=partitions, replicas=replicas)).topics
        return int(result.error_code)

    def begin_to_create(self, node: Node, name: str, *, partitions: int = 1, replicas: int = 1) -> None:
        """Ask for a topic, and wait for no answer."""
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)
        loop = new_loop(self.world, f"creator of {name}", network=self.network)
        client = Client(loop, loop.name, [(node.name, PORT)], timeout_seconds=SECONDS_MAX)
        task = loop.create_task(client.ask_any(CreateTopicsRequest(topics=(topic,)), 7))
        task.add_done_callback(lambda ended: ended.exception())


def creation(name: str, *, partitions: int = 1, replicas: int = 1) -> CreateTopicsRequest:
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)
    return CreateTopicsRequest(topics=(topic,))


KEYS: dict[type[Struct], ApiKey] = {spec.request: spec.key for spec in APIS.values()}


@contextmanager
def simulated(
    count: int, flags: Mapping[str, str] = NO_FLAGS, *, seed: int = 1
) -> Iterator[SimulatedCluster]:
    """A cluster of so many; whatever nobody noticed fails the test at the end."""
    cluster = SimulatedCluster(seed, flags)
    try:
        cluster.grow(count)
        yield cluster
        cluster.world.sweep()
        assert not cluster.world.accidents, cluster.world.accidents
    finally:
        cluster.world.close()
