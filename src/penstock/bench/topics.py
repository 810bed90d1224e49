"""Topics to measure on: made for one run and deleted after it, or the user's own."""

import secrets
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from penstock.bench.connection import Address, Connection, parse_address
from penstock.bench.errors import BenchError, check
from penstock.model.error_codes import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.list_offsets import (
    EARLIEST_TIMESTAMP,
    LATEST_TIMESTAMP,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

BROKERS_CHOICE = -1
"""As a replication factor: the cluster's default."""

_LEADERS_SECONDS_MAX = 30.0
_LEADERS_POLL_SECONDS = 0.02
_REQUEST_TIMEOUT_MS = 30_000


class BenchPartition(NamedTuple):
    """A partition and where to reach its leader."""

    topic: str
    topic_id: bytes
    number: int
    leader: Address


@contextmanager
def bench_topic(
    bootstrap_server: str,
    *,
    partitions: int,
    topic: str | None = None,
    configs: Mapping[str, str] | None = None,
) -> Iterator[list[BenchPartition]]:
    """The partitions of ``topic``, or of a new one that is deleted in the end."""
    address = parse_address(bootstrap_server)
    if topic is not None:
        yield find_partitions(address, topic)
        return
    name = f"penstock-bench-{secrets.token_hex(4)}"
    create_topic(address, name, partitions=partitions, configs=configs or {})
    try:
        made = find_partitions(address, name, is_new=True)
        _wait_until_led(made)
        yield made
    finally:
        delete_topic(address, name)


def create_topic(
    address: Address,
    name: str,
    *,
    partitions: int,
    configs: Mapping[str, str],
    replication_factor: int = BROKERS_CHOICE,
) -> None:
    """Make a topic."""
    wanted = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replication_factor,
        configs=tuple(CreatableTopicConfig(name=key, value=value) for key, value in configs.items()),
    )
    with Connection(address) as connection:
        request = CreateTopicsRequest(topics=(wanted,), timeout_ms=_REQUEST_TIMEOUT_MS)
        answer = connection.call(ApiKey.CREATE_TOPICS, request)
    check(answer.topics[0].error_code, doing=f"create topic {name}")


def delete_topic(address: Address, name: str) -> None:
    """Remove a topic that this run made."""
    with Connection(address) as connection:
        by_name = connection.version(ApiKey.DELETE_TOPICS) < 6
        request = DeleteTopicsRequest(
            topics=() if by_name else (DeleteTopicState(name=name),),
            topic_names=(name,) if by_name else (),
            timeout_ms=_REQUEST_TIMEOUT_MS,
        )
        answer = connection.call(ApiKey.DELETE_TOPICS, request)
    check(answer.responses[0].error_code, doing=f"delete topic {name}")


def find_partitions(address: Address, topic: str, *, is_new: bool = False) -> list[BenchPartition]:
    """Every partition of ``topic`` with its leader; of a new topic a broker may not know for a moment."""
    tolerated = {ErrorCode.NONE, ErrorCode.LEADER_NOT_AVAILABLE}
    if is_new:
        tolerated.add(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    deadline = time.monotonic() + _LEADERS_SECONDS_MAX
    with Connection(address) as connection:
        while True:
            if found := _led_partitions(_describe(connection, topic), tolerated):
                return found
            if time.monotonic() > deadline:
                raise BenchError(f"Topic {topic} has no leader for each of its partitions.")
            time.sleep(_LEADERS_POLL_SECONDS)


def offsets(partitions: Sequence[BenchPartition]) -> list[tuple[int, int]]:
    """Start and end offset of each partition."""
    starts = _lookup(partitions, EARLIEST_TIMESTAMP)
    ends = _lookup(partitions, LATEST_TIMESTAMP)
    return [(starts[partition.number], ends[partition.number]) for partition in partitions]


def by_leader(partitions: Sequence[BenchPartition]) -> dict[Address, list[BenchPartition]]:
    """The partitions of each broker."""
    grouped: dict[Address, list[BenchPartition]] = defaultdict(list)
    for partition in partitions:
        grouped[partition.leader].append(partition)
    return dict(grouped)


def _describe(connection: Connection, topic: str) -> MetadataResponse:
    request = MetadataRequest(topics=(MetadataRequestTopic(name=topic),), allow_auto_topic_creation=False)
    answer: MetadataResponse = connection.call(ApiKey.METADATA, request)
    return answer


def _led_partitions(metadata: MetadataResponse, tolerated: Collection[ErrorCode]) -> list[BenchPartition]:
    """The topic's partitions, or none while any of them is without a leader."""
    (topic,) = metadata.topics
    if topic.error_code not in tolerated:
        check(topic.error_code, doing=f"describe topic {topic.name}")
    brokers = {broker.node_id: Address(broker.host, broker.port) for broker in metadata.brokers}
    if any(partition.leader_id not in brokers for partition in topic.partitions):
        return []
    return [
        BenchPartition(
            topic.name or "", topic.topic_id, partition.partition_index, brokers[partition.leader_id]
        )
        for partition in sorted(topic.partitions, key=lambda partition: partition.partition_index)
    ]


def _wait_until_led(partitions: Sequence[BenchPartition]) -> None:
    """A broker may name itself the leader of a new partition a moment before it acts as one."""
    deadline = time.monotonic() + _LEADERS_SECONDS_MAX
    while True:
        try:
            offsets(partitions)
        except BenchError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_LEADERS_POLL_SECONDS)
        else:
            return


def _lookup(partitions: Sequence[BenchPartition], timestamp: int) -> dict[int, int]:
    found: dict[int, int] = {}
    for leader, led in by_leader(partitions).items():
        asked = tuple(
            ListOffsetsPartition(partition_index=partition.number, timestamp=timestamp) for partition in led
        )
        request = ListOffsetsRequest(
            topics=(ListOffsetsTopic(name=led[0].topic, partitions=asked),), timeout_ms=_REQUEST_TIMEOUT_MS
        )
        with Connection(leader) as connection:
            answer = connection.call(ApiKey.LIST_OFFSETS, request)
        for partition in answer.topics[0].partitions:
            check(partition.error_code, doing=f"look up offsets of {led[0].topic}")
            found[partition.partition_index] = partition.offset
    return found
