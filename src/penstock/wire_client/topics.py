"""What an administrator asks about partitions: who leads them, and which offset is where."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from penstock.wire_client.cluster import PASSING, Answer, Cluster, attempts
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import check

PARTITIONS_PER_REQUEST_MAX = 2_000
_REQUEST_TIMEOUT_MS = 10_000

ABSENT = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})
"""Codes that mean that there is no such topic."""

READ_UNCOMMITTED = 0
READ_COMMITTED = 1
"""Isolation levels, as requests have them."""

_NO_LEADER = -1

Ask = Callable[[Connection, Sequence[TopicPartition]], Mapping[TopicPartition, Answer]]
"""Asks one broker about partitions that it leads, and has an answer for each of them."""

Leaders = Mapping[TopicPartition, int]
"""Every partition of some topics with the number of the broker that leads it, -1 for none at present."""


def find_leaders(cluster: Cluster, topics: Iterable[str] | None = None) -> Leaders:
    """The partitions of ``topics``, or of all topics; those of a topic that does not exist are not there."""
    wanted = None if topics is None else sorted(set(topics))
    if wanted == []:
        return {}
    leaders: dict[TopicPartition, int] = {}
    for topic in cluster.metadata(wanted).topics:
        if topic.error_code in ABSENT:
            continue
        if topic.error_code not in PASSING:
            check(topic.error_code, doing=f"read the metadata of topic {topic.name!r}")
        for partition in topic.partitions:
            leaders[TopicPartition(topic.name or "", partition.partition_index)] = partition.leader_id
    return dict(sorted(leaders.items()))


def ask_leaders(
    cluster: Cluster,
    partitions: Iterable[TopicPartition],
    ask: Ask[Answer],
    *,
    leaders: Leaders | None = None,
) -> dict[TopicPartition, Answer]:
    """The answer of its leader for each partition, but for those that are gone, or led by nobody at present.

    ``leaders`` are those to begin with, if they were just looked up. The error code in an answer, if any, is
    no passing one, unless it still was when patience ended.
    """
    answers: dict[TopicPartition, Answer] = {}
    pending = set(partitions)
    for attempt, _ in enumerate(attempts()):
        if leaders is None or attempt > 0:
            leaders = find_leaders(cluster, {partition.topic for partition in pending})
        for node_id, led in by_leader(leaders, sorted(pending)):
            answers |= ask(cluster.broker(node_id), led)
        pending = {partition for partition, answer in answers.items() if answer.error_code in PASSING}
        if not pending:
            break
    return {partition: answer for partition, answer in answers.items() if answer.error_code not in ABSENT}


def offsets_at(
    cluster: Cluster,
    timestamps: Mapping[TopicPartition, int],
    *,
    isolation_level: int = READ_UNCOMMITTED,
    leaders: Leaders | None = None,
) -> dict[TopicPartition, int | None]:
    """The offset of the first record not older than each partition's timestamp, or of a special place.

    None where there is no such record, no such partition, or nobody at present who leads it. For who reads
    what is committed, a partition ends where its first open transaction begins.
    """
    found = known_offsets_at(cluster, timestamps, isolation_level=isolation_level, leaders=leaders)
    return {partition: found.get(partition) for partition in timestamps}


def known_offsets_at(
    cluster: Cluster,
    timestamps: Mapping[TopicPartition, int],
    *,
    isolation_level: int = READ_UNCOMMITTED,
    leaders: Leaders | None = None,
) -> dict[TopicPartition, int | None]:
    """The same, without partitions that do not exist, or that nobody leads at present.

    So None means that there is no record as late as that, and never that nobody could tell.
    """
    answers = ask_leaders(
        cluster,
        timestamps,
        lambda broker, led: _list_offsets(broker, led, timestamps, isolation_level=isolation_level),
        leaders=leaders,
    )
    for partition, answer in answers.items():
        check(answer.error_code, doing=f"look up an offset of {partition}")
    return {partition: _offset(answer) for partition, answer in answers.items()}


def by_leader(
    leaders: Leaders, partitions: Iterable[TopicPartition]
) -> Iterator[tuple[int, Sequence[TopicPartition]]]:
    """The partitions of each broker, in pieces that fit a request; without those that nobody leads."""
    grouped: dict[int, list[TopicPartition]] = defaultdict(list)
    for partition in partitions:
        if (leader := leaders.get(partition, _NO_LEADER)) != _NO_LEADER:
            grouped[leader].append(partition)
    for node_id, led in sorted(grouped.items()):
        for start in range(0, len(led), PARTITIONS_PER_REQUEST_MAX):
            yield node_id, led[start : start + PARTITIONS_PER_REQUEST_MAX]


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Numbers of partitions under the names of their topics."""
    grouped: dict[str, list[int]] = defaultdict(list)
    for topic, number in partitions:
        grouped[topic].append(number)
    return dict(grouped)


def _list_offsets(
    broker: Connection,
    partitions: Iterable[TopicPartition],
    timestamps: Mapping[TopicPartition, int],
    *,
    isolation_level: int,
) -> dict[TopicPartition, ListOffsetsPartitionResponse]:
    request = ListOffsetsRequest(
        isolation_level=isolation_level,
        topics=_lookups(partitions, timestamps),
        timeout_ms=_REQUEST_TIMEOUT_MS,
    )
    return {
        TopicPartition(topic.name, answer.partition_index): answer
        for topic in broker.call(ApiKey.LIST_OFFSETS, request).topics
        for answer in topic.partitions
    }


def _lookups(
    partitions: Iterable[TopicPartition], timestamps: Mapping[TopicPartition, int]
) -> tuple[ListOffsetsTopic, ...]:
    lookups: dict[str, list[ListOffsetsPartition]] = defaultdict(list)
    for partition in partitions:
        lookup = ListOffsetsPartition(partition_index=partition.partition, timestamp=timestamps[partition])
        lookups[partition.topic].append(lookup)
    return tuple(ListOffsetsTopic(name=name, partitions=tuple(wanted)) for name, wanted in lookups.items())


def _offset(answer: ListOffsetsPartitionResponse) -> int | None:
    return None if answer.offset < 0 else answer.offset
