"""Fetch (key 1): whole stored batches, from the one that contains the offset asked for.

Versions 4 to 18.

Behaviour
    - Reads up to the high watermark, or up to the last stable offset at isolation level read_committed.
    - Waits until ``min_bytes`` are there or ``max_wait_ms`` is over; errors are answered at once.
    - At least one batch is sent for the first partition that has any, however small the limits (KIP-74).
    - An offset outside the log is OFFSET_OUT_OF_RANGE; between high watermark and log end it is simply empty.
    - Bytes come from the tail cache near the end, otherwise straight from the file.
    - Sessions (KIP-227) are in ``fetch_sessions``; a refused session is a top-level error.
    - Replicas are not served here: a request that claims to be one is refused (TOPIC_AUTHORIZATION_FAILED).

Version notes
    5 log start; 7 sessions; 9 leader epoch; 11 rack; 12 flexible, last fetched epoch, divergence (KIP-595);
    13 topics by id; 15 replica state as a tag; 16 leader hints.
"""

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from penstock.broker.connection import Reply
from penstock.broker.fetch_sessions import FetchPlan, FetchPosition, PartitionKey
from penstock.broker.outbox import Part
from penstock.broker.parked_fetch import FetchLimits, ParkedFetch, PartitionRead
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import ZERO_TOPIC_ID, TopicId
from penstock.storage.log_reader import FilePiece, LogSlice
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import encode_response_parts
from penstock.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

TOPIC_IDS_SINCE_VERSION = 13


def handle(broker: "Broker", request: FetchRequest, reply: Reply) -> None:
    """Plan with the session, read, and answer now or later."""
    uses_ids = reply.header.api_version >= TOPIC_IDS_SINCE_VERSION
    try:
        plan = broker.fetch_sessions.plan(
            session_id=request.session_id,
            epoch=request.session_epoch,
            positions=_positions(request, uses_ids),
            forgotten=(
                PartitionKey(*_topic(topic.topic, topic.topic_id, uses_ids), index)
                for topic in request.forgotten_topics_data
                for index in topic.partitions
            ),
            uses_topic_ids=uses_ids,
            now_ms=broker.clock.wall_ms(),
        )
    except ApiError as error:
        _send(reply, FetchResponse(error_code=error.code))
        return
    if max(request.replica_id, request.replica_state.replica_id) >= 0:
        refused = [PartitionRead(key, ErrorCode.TOPIC_AUTHORIZATION_FAILED) for key, _ in plan.positions]
        _answer(plan, reply, refused)
        return
    limits = FetchLimits(
        min_bytes=request.min_bytes,
        max_bytes=min(request.max_bytes, broker.config.integer("fetch.max.bytes")),
        max_wait_ms=request.max_wait_ms,
        isolation_level=request.isolation_level,
    )
    answer = partial(_answer, plan, reply)
    ParkedFetch(broker, plan, limits, lambda: reply.is_abandoned, answer).start()


def _topic(name: str, topic_id: TopicId, uses_ids: bool) -> tuple[str, bytes]:
    return ("", topic_id) if uses_ids else (name, b"")


def _positions(request: FetchRequest, uses_ids: bool) -> list[tuple[PartitionKey, FetchPosition]]:
    return [
        (
            PartitionKey(*_topic(topic.topic, topic.topic_id, uses_ids), each.partition),
            FetchPosition(
                each.fetch_offset,
                each.partition_max_bytes,
                each.current_leader_epoch,
                each.last_fetched_epoch,
                each.log_start_offset,
            ),
        )
        for topic in request.topics
        for each in topic.partitions
    ]


def _answer(plan: FetchPlan, reply: Reply, reads: list[PartitionRead]) -> None:
    told = [read for read in reads if _is_news(plan, read)]
    plan.served([read.key for read in told if read.size])
    topics = tuple(
        FetchableTopicResponse(
            topic=name, topic_id=TopicId(topic_id or ZERO_TOPIC_ID), partitions=tuple(map(_partition, group))
        )
        for (name, topic_id), group in groupby(told, lambda read: (read.key.topic, read.key.topic_id))
    )
    _send(reply, FetchResponse(session_id=plan.session_id, responses=topics))


def _is_news(plan: FetchPlan, read: PartitionRead) -> bool:
    return plan.is_news(
        read.key,
        high_watermark=read.high_watermark,
        log_start_offset=read.log_start_offset,
        has_records=read.size > 0,
        is_error=read.code != ErrorCode.NONE or read.diverging is not None,
    )


def _partition(read: PartitionRead) -> PartitionData:
    aborted = None
    if read.aborted is not None:
        aborted = tuple(
            AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
            for each in read.aborted
        )
    diverging = EpochEndOffset()
    if read.diverging is not None:
        diverging = EpochEndOffset(epoch=read.diverging[0], end_offset=read.diverging[1])
    return PartitionData(
        partition_index=read.key.partition,
        error_code=read.code,
        high_watermark=read.high_watermark,
        last_stable_offset=read.last_stable_offset,
        log_start_offset=read.log_start_offset,
        aborted_transactions=aborted,
        diverging_epoch=diverging,
        records=b"" if read.records is None else read.records,
    )


def _send(reply: Reply, response: FetchResponse) -> None:
    header = reply.header
    parts: list[Part] = []
    for part in encode_response_parts(ApiKey.FETCH, header.api_version, header.correlation_id, response):
        if isinstance(part, LogSlice):
            parts.extend(piece if isinstance(piece, FilePiece) else piece.buffer for piece in part.pieces)
        elif isinstance(part, bytes | bytearray | memoryview):
            parts.append(part)
    reply.send(parts)
