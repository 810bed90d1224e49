"""Brokers that answer as a test tells them, over real sockets: for what no healthy broker can be made to say.

A cluster of several, an old broker, a coordinator that moves, a type of group from the future.
"""

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import decode_request, decode_request_header, encode_response
from penstock.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from penstock.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from penstock.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from penstock.wire.schema import Struct

Script = Callable[[Any], Struct]
"""What to answer to a request."""


class Asked(NamedTuple):
    """A request as it came."""

    api: ApiKey
    version: int
    message: Any


class ScriptedBroker:
    """One broker; give it answers with ``on``, look at what it was asked in ``asked``."""

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.asked: list[Asked] = []
        self._scripts: dict[ApiKey, Script] = {}
        self._versions: dict[ApiKey, tuple[int, int]] = {}
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._accept, name=f"scripted-{node_id}", daemon=True)]
        self._threads[0].start()
        self.host, self.port = self._listener.getsockname()

    @property
    def bootstrap(self) -> str:
        """As ``--bootstrap-server`` takes it."""
        return f"{self.host}:{self.port}"

    def on(self, api: ApiKey, script: Script | Struct, *, versions: tuple[int, int] | None = None) -> None:
        """Serve an API, in all versions we know or in these."""
        self._scripts[api] = script if callable(script) else lambda _: script
        self._versions[api] = versions or (APIS[api].min_version, APIS[api].max_version)

    def off(self, api: ApiKey) -> None:
        """Serve an API no more."""
        del self._scripts[api], self._versions[api]

    def stop_listening(self) -> None:
        """Refuse connections from now on; those that are open stay so."""
        if self._listener.fileno() >= 0:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()

    def close(self) -> None:
        """Stop listening and wait for the clients to hang up, as they must."""
        self.stop_listening()
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive(), "a client has not hung up"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as requests:
            while length := requests.read(4):
                frame = requests.read(struct.unpack(">i", length)[0])
                try:
                    connection.sendall(self._answer(frame))
                except HangUpError:
                    return

    def _answer(self, frame: bytes) -> bytes:
        header = decode_request_header(frame)
        api, version = ApiKey(header.api_key), header.api_version
        if api is ApiKey.API_VERSIONS:
            return encode_response(api, version, header.correlation_id, self._api_versions())
        message = decode_request(api, version, frame, header.body_position)
        self.asked.append(Asked(api, version, message))
        answer = self._scripts[api](message)
        return encode_response(api, version, header.correlation_id, answer)

    def _api_versions(self) -> ApiVersionsResponse:
        return ApiVersionsResponse(
            api_keys=tuple(
                ApiVersion(api_key=api, min_version=lowest, max_version=highest)
                for api, (lowest, highest) in self._versions.items()
            )
        )


class HangUpError(Exception):
    """Raised by a script: the broker closes the connection instead of answering."""


class Placed(NamedTuple):
    """Where a partition is."""

    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


def placed(*replicas: int) -> Placed:
    """A partition in full health: all are in sync, the first leads."""
    return Placed(replicas[0], replicas, replicas)


Topics = Mapping[str, Sequence[int | Placed]]
"""Partitions of topics: their leaders, or where they are. May be changed while a broker answers with it."""


@contextmanager
def scripted_cluster(
    count: int = 1, *, topics: Topics | None = None, controller_id: int = -1
) -> Iterator[list[ScriptedBroker]]:
    """Brokers 1 to ``count`` that know each other, and the leaders of the partitions of ``topics``.

    The first of them says that it coordinates everything.
    """
    known = {} if topics is None else topics
    with ExitStack() as stack:
        brokers = [ScriptedBroker(number + 1) for number in range(count)]
        for broker in brokers:
            stack.callback(broker.close)
            broker.on(ApiKey.METADATA, lambda request: metadata(brokers, known, request, controller_id))
            broker.on(ApiKey.FIND_COORDINATOR, coordinated_by(brokers[0]))
        yield brokers


def coordinated_by(broker: ScriptedBroker) -> Script:
    """FindCoordinator names ``broker`` for every key."""

    def answer(request: Any) -> Struct:
        where = {"node_id": broker.node_id, "host": broker.host, "port": broker.port}
        keys = request.coordinator_keys
        return FindCoordinatorResponse(
            coordinators=tuple(Coordinator(key=key, **where) for key in keys), **where
        )

    return answer


def metadata(
    brokers: Sequence[ScriptedBroker], topics: Topics, request: Any, controller_id: int = -1
) -> MetadataResponse:
    """What a broker of these tells about these."""
    wanted = topics if request.topics is None else [topic.name for topic in request.topics]
    return MetadataResponse(
        brokers=tuple(
            MetadataResponseBroker(node_id=broker.node_id, host=broker.host, port=broker.port)
            for broker in brokers
        ),
        cluster_id="scripted",
        controller_id=controller_id,
        topics=tuple(_topic(name, topics.get(name)) for name in wanted),
    )


def _topic(name: str, partitions: Sequence[int | Placed] | None) -> MetadataResponseTopic:
    if partitions is None:
        return MetadataResponseTopic(name=name, error_code=3)
    return MetadataResponseTopic(
        name=name,
        partitions=tuple(_partition(number, placed) for number, placed in enumerate(partitions)),
    )


def _partition(number: int, placed: int | Placed) -> MetadataResponsePartition:
    if isinstance(placed, int):
        return MetadataResponsePartition(partition_index=number, leader_id=placed)
    return MetadataResponsePartition(
        partition_index=number,
        leader_id=placed.leader,
        replica_nodes=placed.replicas,
        isr_nodes=placed.isr,
    )
