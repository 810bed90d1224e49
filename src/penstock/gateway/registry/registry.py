"""The schema registry of one gateway: what it knows, and how that is changed.

Reads are answered from ``state``; changes go through ``change``. Both work in any thread, and every gateway
of a cluster may be asked for either.
"""

import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from penstock.gateway.errors import GatewayError
from penstock.gateway.kafka.access import bootstrap_addresses
from penstock.gateway.registry.decisions.decision import Answer, Decide
from penstock.gateway.registry.errors import store_failed
from penstock.gateway.registry.follower import Follower, Progress
from penstock.gateway.registry.state import RegistryState
from penstock.gateway.registry.topic.reading import TOPIC, end_offset, look_up
from penstock.gateway.registry.writer import WRITE_SECONDS_MAX, Writer
from penstock.model.errors import PenstockError
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection

CLIENT_ID = "penstock-schema-registry"
FIRST_READ_SECONDS_MAX = 5.0
REFRESH_SECONDS_MAX = 2.0

Found = TypeVar("Found")


class SchemaRegistry:
    """Schemas, kept in a topic and known in memory; ``start`` and ``stop`` it with the gateway."""

    def __init__(self, bootstrap_servers: str) -> None:
        connect = partial(_connect, bootstrap_servers)
        self._connect = connect
        self._follower = Follower(connect)
        self._writer = Writer(connect, self._follower)
        self._refreshing = threading.Lock()

    def start(self) -> None:
        """Begin to follow the topic; returns at once, whether or not there is a cluster."""
        self._follower.start()
        self._writer.start()

    def stop(self) -> None:
        """End, after what is under way."""
        self._writer.stop()
        self._follower.stop()

    @property
    def progress(self) -> Progress:
        """How far the topic was read."""
        return self._follower.progress

    @property
    def state(self) -> RegistryState:
        """What is known. Waits until the topic was read once, and refuses (50001) if that takes too long."""
        if not self._follower.progress.is_caught_up and not self._follower.wait_until(
            lambda progress: progress.is_caught_up, FIRST_READ_SECONDS_MAX
        ):
            raise store_failed(
                f"Topic {TOPIC!r} could not be read within {FIRST_READ_SECONDS_MAX:g} s: "
                f"{self._follower.progress.trouble}"
            )
        return self._follower.progress.state

    def change(self, decide: Decide[Answer], *, seconds_max: float = WRITE_SECONDS_MAX) -> Answer:
        """Carry out a change; when it returns, ``state`` has it, and it will never be lost."""
        answer: Answer = self._writer.change(decide, seconds_max=seconds_max)
        return answer

    def find(self, look: Callable[[RegistryState], Found]) -> Found:
        """What ``look`` finds. What it does not find (404) may just have been written by another gateway.

        So the topic is read to its end before somebody is told that something is not there.
        """
        state = self.state
        try:
            return look(state)
        except GatewayError as error:
            if error.status != 404 or not self._refresh() or self.state is state:
                raise
        return look(self.state)

    def _refresh(self) -> bool:
        """Read to the end; False if that could not be done, or was not needed."""
        with self._refreshing:
            try:
                with self._connect() as cluster:
                    end = end_offset(cluster) if look_up(cluster) is not None else 0
            except PenstockError:
                return False  # The follower tells why; what is known is all there is to go by.
            return self._follower.wait_until(
                lambda now: now.position >= end or bool(now.trouble), REFRESH_SECONDS_MAX
            )


def _connect(bootstrap_servers: str) -> Cluster:
    connect = partial(Connection, client_id=CLIENT_ID)
    return Cluster.connect(bootstrap_addresses(bootstrap_servers), connect=connect)
