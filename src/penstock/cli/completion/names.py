"""Names that only a cluster knows, asked for while somebody waits for the tab key.

So there is little time, and silence is an answer: who cannot be reached in it has no names.
"""

import time
from collections.abc import Callable, Iterator
from enum import StrEnum

from penstock.cli.librdkafka import bootstrap_addresses
from penstock.model.errors import UsageError
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire.messages.metadata import MetadataRequest, MetadataResponse
from penstock.wire_client.connection import Address, Connection
from penstock.wire_client.errors import WireClientError

SECONDS_MAX = 1.0
"""For all of it."""

NAMES_MAX = 1_000


class Noun(StrEnum):
    """What is named."""

    TOPIC = "topic"
    GROUP = "group"
    BROKER = "broker"


def known_names(noun: Noun, bootstrap_server: str) -> list[str]:
    """The names there are, sorted; none where the cluster does not answer at once."""
    deadline = time.monotonic() + SECONDS_MAX
    try:
        address = Address(*bootstrap_addresses(bootstrap_server)[0])
        with _connect(address, deadline) as broker:
            names = set(_NAMES[noun](broker, deadline))
    except (WireClientError, UsageError):
        return []
    return sorted(names)[:NAMES_MAX]


def _connect(address: Address, deadline: float) -> Connection:
    left = max(0.01, deadline - time.monotonic())
    return Connection(address, connect_seconds_max=left, answer_seconds_max=left)


def _metadata(broker: Connection, *, is_about_topics: bool) -> MetadataResponse:
    request = MetadataRequest(topics=None if is_about_topics else (), allow_auto_topic_creation=False)
    answer: MetadataResponse = broker.call(ApiKey.METADATA, request)
    return answer


def _topics(broker: Connection, deadline: float) -> Iterator[str]:
    for topic in _metadata(broker, is_about_topics=True).topics:
        if topic.name is not None and not topic.is_internal:
            yield topic.name


def _brokers(broker: Connection, deadline: float) -> Iterator[str]:
    for node in _metadata(broker, is_about_topics=False).brokers:
        yield str(node.node_id)


def _groups(broker: Connection, deadline: float) -> Iterator[str]:
    """Each broker knows its own."""
    for node in _metadata(broker, is_about_topics=False).brokers:
        if time.monotonic() < deadline:
            with _connect(Address(node.host, node.port), deadline) as coordinator:
                for group in coordinator.call(ApiKey.LIST_GROUPS, ListGroupsRequest()).groups:
                    yield group.group_id


_NAMES: dict[Noun, Callable[[Connection, float], Iterator[str]]] = {
    Noun.TOPIC: _topics,
    Noun.GROUP: _groups,
    Noun.BROKER: _brokers,
}
