"""Where to go instead, for clients that asked the wrong broker (KIP-951)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from penstock.config.listeners import PLAINTEXT
from penstock.metadata.image import ClusterImage
from penstock.metadata.topic_image import PartitionImage
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId, TopicId

MISDIRECTED = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})
"""Errors that come with a hint."""


class NodeEndpoint(NamedTuple):
    """Where clients reach a broker."""

    node_id: NodeId
    host: str
    port: int
    rack: str | None


def partition_in(image: ClusterImage, topic: str, topic_id: TopicId, index: int) -> PartitionImage | None:
    """A partition as a request names it: by its topic's name, or by its id."""
    found = image.topics.get(topic) if topic else image.topics_by_id.get(topic_id)
    if found is None or not 0 <= index < len(found.partitions):
        return None
    return found.partitions[index]


def endpoints(image: ClusterImage, node_ids: Iterable[NodeId]) -> Iterator[NodeEndpoint]:
    """Where these brokers are, each once, as far as clients can reach them."""
    for node_id in sorted(set(node_ids)):
        broker = image.brokers.get(node_id)
        endpoint = None if broker is None or broker.is_fenced else broker.endpoint(PLAINTEXT)
        if broker is not None and endpoint is not None:
            yield NodeEndpoint(node_id, endpoint.host, endpoint.port, broker.rack)
