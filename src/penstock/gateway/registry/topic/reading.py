"""Reading ``_schemas`` from an offset on: what is committed, and nothing of what was aborted.

The topic is known by its id wherever brokers have ids, so that one that was deleted and made again is never
taken for the one before.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.gateway.registry.topic.records import TopicRecord, UnreadableRecordError, read_record
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import ZERO_TOPIC_ID, TopicId, TopicPartition
from penstock.records.aborted import AbortedFilter
from penstock.records.batch import split_batches
from penstock.records.record import Record, decode_records
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from penstock.wire_client.cluster import PASSING, Cluster
from penstock.wire_client.errors import RefusedError, check
from penstock.wire_client.topics import ABSENT, READ_COMMITTED, offsets_at

TOPIC = "_schemas"
PARTITION = TopicPartition(TOPIC, 0)
WRITE_ID_HEADER = "penstock-write"
"""Under it every record carries the name of the write that it is part of; others ignore it."""

FETCH_BYTES_MAX = 8 * 1024 * 1024
WAIT_MS = 500

_BY_NAME_VERSION_MAX = 12
"""Of Fetch: the last that knows topics by name."""
_EARLIEST = -2
_LATEST = -1

logger = logging.getLogger("penstock.gateway.registry")


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSight:
    """The topic as a cluster tells of it."""

    topic_id: bytes
    """Zeros where brokers have no ids."""
    partition_count: int
    leader_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What one answer brought."""

    records: tuple[TopicRecord, ...]
    write_ids: frozenset[bytes]
    next_offset: int
    """Behind everything that was looked at, markers of transactions included."""
    stable_offset: int
    """Up to where the topic can be read at present."""


def look_up(cluster: Cluster) -> TopicSight | None:
    """The topic, or None if there is none."""
    (topic,) = cluster.metadata([TOPIC]).topics
    if topic.error_code in ABSENT:
        return None
    if topic.error_code not in PASSING:
        check(topic.error_code, doing=f"read the metadata of topic {TOPIC!r}")
    leaders = {each.partition_index: each.leader_id for each in topic.partitions}
    return TopicSight(
        topic_id=topic.topic_id, partition_count=len(leaders), leader_id=leaders.get(PARTITION.partition, -1)
    )


def start_offset(cluster: Cluster) -> int:
    """Where the topic begins."""
    return _offset(cluster, _EARLIEST)


def end_offset(cluster: Cluster) -> int:
    """The topic's high watermark: all that was ever committed stands before it."""
    return _offset(cluster, _LATEST)


def fetch(cluster: Cluster, sight: TopicSight, position: int) -> Fetched:
    """What stands at ``position`` and behind it; waits a moment if there is nothing."""
    leader = cluster.broker(sight.leader_id)
    is_by_id = sight.topic_id != ZERO_TOPIC_ID and leader.version(ApiKey.FETCH) > _BY_NAME_VERSION_MAX
    request = _request(sight.topic_id, position)
    answer = leader.call(ApiKey.FETCH, request, at_most=None if is_by_id else _BY_NAME_VERSION_MAX)
    check(answer.error_code, doing=f"fetch from {PARTITION}")
    data: PartitionData = answer.responses[0].partitions[0]
    check(data.error_code, doing=f"fetch from {PARTITION} at offset {position}")
    return _read(data, position)


def _offset(cluster: Cluster, place: int) -> int:
    offset = offsets_at(cluster, {PARTITION: place})[PARTITION]
    if offset is None:
        raise RefusedError(ErrorCode.LEADER_NOT_AVAILABLE, doing=f"find an end of topic {TOPIC!r}")
    return offset


def _request(topic_id: bytes, position: int) -> FetchRequest:
    wanted = FetchPartition(
        partition=PARTITION.partition, fetch_offset=position, partition_max_bytes=FETCH_BYTES_MAX
    )
    return FetchRequest(
        max_wait_ms=WAIT_MS,
        min_bytes=1,
        max_bytes=FETCH_BYTES_MAX,
        isolation_level=READ_COMMITTED,
        topics=(FetchTopic(topic=TOPIC, topic_id=TopicId(topic_id), partitions=(wanted,)),),
    )


def _read(data: PartitionData, position: int) -> Fetched:
    buffer = memoryview(data.records if isinstance(data.records, bytes | bytearray | memoryview) else b"")
    aborted = AbortedFilter(data.aborted_transactions or ())
    found: list[Record] = []
    next_offset = position
    for at, header in split_batches(buffer):
        next_offset = max(next_offset, header.next_offset)
        if not aborted.is_aborted(buffer, header, at) and not header.is_control:
            found += (each for each in decode_records(buffer, header, at) if each.offset >= position)
    return Fetched(
        records=tuple(_readable(found)),
        write_ids=frozenset(
            value or b"" for each in found for name, value in each.headers if name == WRITE_ID_HEADER
        ),
        next_offset=next_offset,
        stable_offset=data.last_stable_offset if data.last_stable_offset >= 0 else data.high_watermark,
    )


def _readable(records: list[Record]) -> Iterator[TopicRecord]:
    for record in records:
        try:
            yield read_record(record.key, record.value, timestamp_ms=record.timestamp)
        except UnreadableRecordError as error:
            logger.warning("the record of %s at offset %d is left out: %s", PARTITION, record.offset, error)
