"""The simulated clients' library: finds leaders and coordinators, asks once, and hides no doubt.

It never retries what changes something. A workload that wants to retry does so itself, and so knows what it
may have done twice.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from penstock.model.error_codes import ErrorCode
from penstock.sim.runtime.loop import SimulatedLoop
from penstock.sim.workloads.connection import ClientConnection, Unanswered
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from penstock.wire.messages.metadata import MetadataRequest
from penstock.wire.schema import Struct

Address = tuple[str, int]

METADATA_VERSION = 12
FIND_COORDINATOR_VERSION = 4


class Client:
    """Speaks to a cluster for one process."""

    def __init__(
        self, loop: SimulatedLoop, name: str, bootstrap: Sequence[Address], *, timeout_seconds: float
    ) -> None:
        self.loop = loop
        self.name = name
        self.timeout_seconds = timeout_seconds
        self._bootstrap = tuple(bootstrap)
        self._next_bootstrap = 0
        self._next_replica = 0
        self._connections: dict[Address, ClientConnection] = {}
        self._brokers: dict[int, Address] = {}
        self._leaders: dict[tuple[str, int], int] = {}
        self._coordinators: dict[tuple[int, str], Address] = {}
        #: Of every topic that metadata told about.
        self.partition_counts: dict[str, int] = {}
        #: Of every partition.
        self.replicas: dict[str, tuple[int, ...]] = {}

    # Asking.

    async def ask_any(self, request: Struct, version: int) -> Any:
        """Ask any broker; another one the next time."""
        address = self._bootstrap[self._next_bootstrap % len(self._bootstrap)]
        self._next_bootstrap += 1
        return await self._ask(address, request, version)

    async def ask_controller(self, request: Struct, version: int) -> Any:
        """Ask for a change of metadata; any broker takes it."""
        return await self.ask_any(request, version)

    async def ask_leader(self, topic: str, partition: int, request: Struct, version: int) -> Any:
        """Ask the broker that leads a partition, as far as this client knows."""
        try:
            return await self._ask(await self._leader_address(topic, partition), request, version)
        except Unanswered:
            self.forget_leader(topic, partition)
            raise

    async def ask_replica(self, topic: str, partition: int, request: Struct, version: int) -> Any:
        """Ask any broker that holds a partition; another one the next time."""
        await self._leader_address(topic, partition)
        known = [each for each in self.replicas[f"{topic}-{partition}"] if each in self._brokers]
        if not known:
            self.forget_leader(topic, partition)
            raise Unanswered(f"{topic}-{partition} is nowhere", was_sent=False)
        self._next_replica += 1
        try:
            return await self._ask(self._brokers[known[self._next_replica % len(known)]], request, version)
        except Unanswered:
            self.forget_leader(topic, partition)
            raise

    async def ask_coordinator(self, kind: int, key: str, request: Struct, version: int) -> Any:
        """Ask the coordinator of a group or a transactional id."""
        try:
            return await self._ask(await self._coordinator_address(kind, key), request, version)
        except Unanswered:
            self.forget_coordinator(kind, key)
            raise

    async def leader_connection(self, topic: str, partition: int) -> ClientConnection:
        """A connection to a partition's leader, for those who send without waiting."""
        address = await self._leader_address(topic, partition)
        async with asyncio.timeout(self.timeout_seconds):
            return await self._connect(address)

    async def wait_for(self, answered: "asyncio.Future[Any]") -> Any:
        """An answer, or ``Unanswered`` once this client has no more patience."""
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await answered
        except TimeoutError as error:
            raise Unanswered("timed out", was_sent=True) from error

    # What it knows.

    def forget_leader(self, topic: str, partition: int) -> None:
        """Whoever was taken for the leader is not."""
        self._leaders.pop((topic, partition), None)

    def forget_coordinator(self, kind: int, key: str) -> None:
        """Whoever was taken for the coordinator is not."""
        self._coordinators.pop((kind, key), None)

    def disconnect(self) -> None:
        """Hang up everywhere."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    @property
    def node_ids(self) -> list[int]:
        """The brokers that metadata told of, in order."""
        return sorted(self._brokers)

    async def refresh(self) -> None:
        """Learn who leads what."""
        response = await self.ask_any(
            MetadataRequest(topics=None, allow_auto_topic_creation=False), METADATA_VERSION
        )
        self._brokers = {broker.node_id: (broker.host, broker.port) for broker in response.brokers}
        for topic in response.topics:
            self.partition_counts[topic.name] = len(topic.partitions)
            for partition in topic.partitions:
                self._leaders[topic.name, partition.partition_index] = partition.leader_id
                self.replicas[f"{topic.name}-{partition.partition_index}"] = partition.replica_nodes

    async def _leader_address(self, topic: str, partition: int) -> Address:
        if (topic, partition) not in self._leaders:
            await self.refresh()
        leader = self._leaders.get((topic, partition), -1)
        if leader not in self._brokers:
            self._leaders.pop((topic, partition), None)
            raise Unanswered(f"{topic}-{partition} has no leader", was_sent=False)
        return self._brokers[leader]

    async def _coordinator_address(self, kind: int, key: str) -> Address:
        known = self._coordinators.get((kind, key))
        if known is not None:
            return known
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=(key,))
        try:
            response = await self.ask_any(request, FIND_COORDINATOR_VERSION)
        except Unanswered as error:
            raise Unanswered(f"no coordinator: {error}", was_sent=False) from error
        (found,) = response.coordinators
        if found.error_code:
            raise Unanswered(f"no coordinator: {ErrorCode(found.error_code).name}", was_sent=False)
        self._coordinators[kind, key] = found.host, found.port
        return found.host, found.port

    async def _ask(self, address: Address, request: Struct, version: int) -> Any:
        try:
            async with asyncio.timeout(self.timeout_seconds):
                connection = await self._connect(address)
        except TimeoutError as error:
            raise Unanswered(f"cannot connect to {address}", was_sent=False) from error
        try:
            return await self.wait_for(connection.send(request, version))
        except Unanswered:
            # An answer that comes late must not be waited behind.
            connection.close()
            raise

    async def _connect(self, address: Address) -> ClientConnection:
        known = self._connections.get(address)
        if known is not None and not known.is_closed:
            return known
        try:
            _, made = await self.loop.create_connection(lambda: ClientConnection(self.name), *address)
        except OSError as error:
            raise Unanswered(f"cannot connect to {address}: {error}", was_sent=False) from error
        assert isinstance(made, ClientConnection)
        self._connections[address] = made
        return made
