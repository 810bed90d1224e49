"""A cluster as an administrator needs it: any broker, a certain broker, and patience.

Brokers are connected to when first asked; where any will do, one that fails gives way to the next.
``patiently`` repeats a question while the answer is one of those that pass by themselves: a coordinator that
still reads its log, a leader that has just moved.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from penstock.wire.schema import Struct
from penstock.wire_client.connection import ANSWER_SECONDS_MAX, Address, Connection
from penstock.wire_client.errors import UnreachableError, WireClientError, check
from penstock.wire_client.tried_addresses import Connect, TriedAddresses

PATIENCE_SECONDS_MAX = ANSWER_SECONDS_MAX
_RETRY_SECONDS = 0.1

PASSING = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
    }
)
"""Codes after which the same question, asked a moment later, may well be answered."""


class Coded(Protocol):
    """An answer with an error code for the whole of it."""

    @property
    def error_code(self) -> int:
        """Zero when all is well."""
        ...


Answer = TypeVar("Answer", bound=Coded)


class Cluster:
    """The brokers of one cluster; use it in a ``with`` statement or ``close`` it."""

    def __init__(self, addresses: Iterable[Address], *, connect: Connect = Connection) -> None:
        self._connect = connect
        self._tried = TriedAddresses(connect)
        self._addresses = tuple(addresses)
        self._bootstrap = self._tried.reach(self._addresses)
        self._connections: dict[int, Connection] = {}
        self.nodes: Mapping[int, Address] = {}
        try:
            self.metadata(())
        except WireClientError:
            self.close()
            raise

    @classmethod
    def connect(cls, addresses: Iterable[Address], *, connect: Connect = Connection) -> Self:
        """Reach a cluster through the first of ``addresses`` that answers.

        ``connect`` makes all connections: ``partial(Connection, client_id="...")`` gives them a name.
        """
        return cls(addresses, connect=connect)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up on everybody."""
        for connection in (self._bootstrap, *self._connections.values()):
            connection.close()

    def hang_up_where_owed(self) -> None:
        """Close the connections on which answers are still to come that nobody waits for any more."""
        for connection in (self._bootstrap, *self._connections.values()):
            if connection.is_owed:
                connection.close()

    def any_broker(self) -> Connection:
        """The broker that was reached first, or another one after the connection to it broke.

        The addresses that were given are tried, too: while nobody asked, all brokers may have been replaced
        (KIP-899).
        """
        if self._bootstrap.is_closed:
            if self._bootstrap.is_broken:
                self._tried.note_failure(self._bootstrap.address)
            known = (self._bootstrap.address, *self.nodes.values(), *self._addresses)
            self._bootstrap = self._tried.reach(known)
        return self._bootstrap

    def broker(self, node_id: int) -> Connection:
        """The broker of that number; one that the cluster no longer names is unreachable."""
        if node_id not in self._connections or self._connections[node_id].is_closed:
            if node_id not in self.nodes:
                raise UnreachableError(f"Broker {node_id} is not in the cluster at present.")
            self._connections[node_id] = self._connect(self.nodes[node_id])
        return self._connections[node_id]

    def is_connected(self, node_id: int) -> bool:
        """Whether there is a connection to that broker that nobody has closed."""
        return node_id in self._connections and not self._connections[node_id].is_closed

    def wants_pause(self, node_id: int) -> bool:
        """Whether the connection to that broker should owe nothing for once, to renew its login."""
        return self.is_connected(node_id) and self._connections[node_id].wants_pause

    def learn_node(self, node_id: int, address: Address) -> None:
        """Remember where a broker is that some answer named."""
        if self.nodes.get(node_id) != address:
            self.nodes = {**self.nodes, node_id: address}
            if stale := self._connections.pop(node_id, None):
                stale.close()

    def metadata(self, topics: Sequence[str] | None, *, may_create: bool = False) -> MetadataResponse:
        """The cluster with these topics, all of them for ``None``.

        No topic is made by asking, unless one ``may_create`` it and the brokers are set to do so.
        """
        wanted = None if topics is None else tuple(MetadataRequestTopic(name=name) for name in topics)
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=may_create)
        answer: MetadataResponse = self.any_broker().call(ApiKey.METADATA, request)
        check(answer.error_code, doing="read the cluster's metadata")
        for node in answer.brokers:
            self.learn_node(node.node_id, Address(node.host, node.port))
        return answer

    def ask_every_broker(self, api: ApiKey, message: Struct, *, doing: str) -> dict[int, Any]:
        """The answers of all brokers by their numbers; a refusal by one of them fails the whole."""
        answers: dict[int, Any] = {}
        for node_id in sorted(self.nodes):
            answer = patiently(partial(self.broker(node_id).call, api, message))
            check(answer.error_code, doing=f"{doing} of broker {node_id}")
            answers[node_id] = answer
        return answers

    def ask_live_brokers(self, api: ApiKey, message: Struct, *, doing: str) -> "LiveAnswers":
        """The answers of those brokers that are up and serve this; ``notes`` say who did not, and why."""
        answers: dict[int, Any] = {}
        notes: list[str] = []
        for node in sorted(self.metadata(()).brokers, key=lambda each: each.node_id):
            try:
                answer = patiently(partial(self.broker(node.node_id).call, api, message))
                check(answer.error_code, doing=f"{doing} of broker {node.node_id}")
            except WireClientError as error:
                notes.append(str(error))
            else:
                answers[node.node_id] = answer
        return LiveAnswers(answers, notes)


class LiveAnswers(NamedTuple):
    """What those brokers said that could be asked, by their numbers."""

    answers: Mapping[int, Any]
    notes: Sequence[str]


def patiently(ask: Callable[[], Answer]) -> Answer:
    """The answer of ``ask``, called again while its error is a passing one, for a limited time."""
    for _ in attempts():
        answer = ask()
        if answer.error_code not in PASSING:
            break
    return answer


def attempts() -> Iterator[None]:
    """Once at once, then once after every pause, as long as patience lasts."""
    deadline = time.monotonic() + PATIENCE_SECONDS_MAX
    yield
    while time.monotonic() < deadline:
        time.sleep(_RETRY_SECONDS)
        yield
