"""Fetch (key 1): whole stored batches, from the one that contains the offset asked for.

Versions 4 to 18.

Behaviour
    - Reads up to the high watermark, or up to the last stable offset at isolation level read_committed.
    - Waits until ``min_bytes`` are there or ``max_wait_ms`` is over; errors are answered at once, and so are
      answers that hold less only because the limits, whole batches or the end of a segment allow no more.
    - At least one batch is sent for the first partition that has any, however small the limits (KIP-74).
    - An offset outside the log is OFFSET_OUT_OF_RANGE; between high watermark and log end it is simply empty.
    - Bytes come from the tail cache near the end, otherwise straight from the file.
    - Sessions (KIP-227) are in ``fetch_sessions``; a refused session is a top-level error.
    - From version 11 on a follower may answer, up to its own high watermark; a consumer that says in which
      rack it stands is sent to a replica there, if the leader is elsewhere (KIP-392).
    - Whoever asks the wrong broker is told who leads, and where that is (KIP-951).
    - Other brokers, who copy partitions, are served up to what is flushed (``replication.replica_fetch``). A
      request that claims to be of a broker we do not know is refused (TOPIC_AUTHORIZATION_FAILED).

Version notes
    5 log start; 7 sessions; 9 leader epoch; 11 rack; 12 flexible, last fetched epoch, divergence (KIP-595);
    13 topics by id; 15 replica state as a tag; 16 leader hints.
"""

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from penstock.broker.fetch_sessions import NO_SESSION, FetchPlan, FetchPosition, PartitionKey
from penstock.broker.leader_hints import MISDIRECTED, endpoints, partition_in
from penstock.broker.outbox import Part
from penstock.broker.parked_fetch import FetchLimits, ParkedFetch
from penstock.broker.partition_read import NO_ERROR, PartitionRead
from penstock.broker.replication.replica_fetch import ReplicaFetch, ReplicaFetchLimits
from penstock.broker.replication.replica_session import ReplicaSession
from penstock.broker.reply import Reply
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import ZERO_TOPIC_ID, NodeId, TopicId
from penstock.storage.log_reader import FilePiece, LogSlice
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import encode_response_parts
from penstock.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchLeader,
    FetchNodeEndpoint,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

RACKS_SINCE_VERSION = 11
TOPIC_IDS_SINCE_VERSION = 13

_SAME = EpochEndOffset()
_NO_HINT = FetchLeader()


def handle(broker: "Broker", request: FetchRequest, reply: Reply) -> None:
    """Plan with the session, read, and answer now or later."""
    version = reply.header.api_version
    uses_ids = version >= TOPIC_IDS_SINCE_VERSION
    replica_id = max(request.replica_id, request.replica_state.replica_id)
    if replica_id >= 0 and uses_ids and _is_other_broker(broker, replica_id):
        _serve_replica(broker, request, reply)
        return
    try:
        plan = broker.fetch_sessions.plan(
            session_id=request.session_id,
            epoch=request.session_epoch,
            positions=_positions(request, uses_ids),
            forgotten=_forgotten(request, uses_ids),
            uses_topic_ids=uses_ids,
            now_ms=broker.clock.wall_ms(),
        )
    except ApiError as error:
        _send(reply, FetchResponse(error_code=error.code))
        return
    if replica_id >= 0:
        refused = [PartitionRead(key, ErrorCode.TOPIC_AUTHORIZATION_FAILED) for key, _ in plan.positions]
        _answer(broker, plan, reply, refused)
        return
    limits = FetchLimits(
        min_bytes=request.min_bytes,
        max_bytes=min(request.max_bytes, broker.config.integer("fetch.max.bytes")),
        max_wait_ms=request.max_wait_ms,
        isolation_level=request.isolation_level,
        allows_followers=version >= RACKS_SINCE_VERSION,
        rack=request.rack_id,
    )
    answer = partial(_answer, broker, plan, reply)
    fetch = ParkedFetch(broker, plan, limits, lambda: reply.is_abandoned, answer)
    reply.when_abandoned = fetch.give_up
    fetch.start()


def _is_other_broker(broker: "Broker", replica_id: int) -> bool:
    return replica_id != broker.node_id and NodeId(replica_id) in broker.image.brokers


def _serve_replica(broker: "Broker", request: FetchRequest, reply: Reply) -> None:
    """Answer another broker, which copies partitions from us."""
    replication = broker.replication
    state = request.replica_state
    try:
        session = replication.sessions.take(
            NodeId(max(request.replica_id, state.replica_id)),
            session_id=request.session_id,
            epoch=request.session_epoch,
        )
    except ApiError as error:
        _send(reply, FetchResponse(error_code=error.code))
        return
    session.broker_epoch = state.replica_epoch
    session.forget(_forgotten(request, uses_ids=True))
    session.keep_fresh(replication.now(), replication.settings.lag_max_ms)
    fetch = ReplicaFetch(
        broker,
        session,
        ReplicaFetchLimits(
            min_bytes=request.min_bytes, max_bytes=request.max_bytes, max_wait_ms=request.max_wait_ms
        ),
        partial(_answer_replica, broker, session, reply),
        refused=session.name(broker.replicas, _positions(request, uses_ids=True)),
    )
    reply.when_crowded = fetch.finish
    fetch.start()


def _answer_replica(
    broker: "Broker", session: ReplicaSession, reply: Reply, reads: list[PartitionRead]
) -> None:
    if session.session_id == NO_SESSION:
        session.close()
    reply.traffic.replication_bytes_out += sum(read.size for read in reads)
    _send(reply, FetchResponse(session_id=session.session_id, responses=_topics(broker, reads)))


def _topic(name: str, topic_id: TopicId, uses_ids: bool) -> tuple[str, bytes]:
    return ("", topic_id) if uses_ids else (name, b"")


def _forgotten(request: FetchRequest, uses_ids: bool) -> Iterator[PartitionKey]:
    return (
        PartitionKey(*_topic(topic.topic, topic.topic_id, uses_ids), index)
        for topic in request.forgotten_topics_data
        for index in topic.partitions
    )


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


def _answer(broker: "Broker", plan: FetchPlan, reply: Reply, reads: list[PartitionRead]) -> None:
    told = [read for read in reads if _is_news(plan, read)]
    _count(told, reply)
    plan.served([read.key for read in told if read.size])
    response = FetchResponse(
        session_id=plan.session_id,
        responses=_topics(broker, told),
        node_endpoints=_endpoints(broker, told),
    )
    _send(reply, response)


def _count(reads: list[PartitionRead], reply: Reply) -> None:
    """Count what is sent to consumers, by topic, and what is not, by error."""
    traffic = reply.traffic
    for read in reads:
        if read.code is not NO_ERROR:
            traffic.failed(ApiKey.FETCH, read.code)
        elif read.partition is not None and read.size:
            traffic.topic(read.partition.topic).bytes_out += read.size


def _topics(broker: "Broker", reads: list[PartitionRead]) -> tuple[FetchableTopicResponse, ...]:
    return tuple(
        FetchableTopicResponse(
            topic=name,
            topic_id=TopicId(topic_id or ZERO_TOPIC_ID),
            partitions=tuple([_partition(broker, read) for read in group]),
        )
        for (name, topic_id), group in groupby(reads, lambda read: (read.key.topic, read.key.topic_id))
    )


def _endpoints(broker: "Broker", reads: list[PartitionRead]) -> tuple[FetchNodeEndpoint, ...]:
    """Where those are who lead what was asked for here."""
    failed = [read for read in reads if read.code is not NO_ERROR]
    if not failed:
        return ()
    leaders = [
        NodeId(_current_leader(broker, read.key).leader_id) for read in failed if read.code in MISDIRECTED
    ]
    return tuple(
        FetchNodeEndpoint(node_id=each.node_id, host=each.host, port=each.port, rack=each.rack)
        for each in endpoints(broker.image, leaders)
    )


def _hint(broker: "Broker", read: PartitionRead) -> FetchLeader:
    return _current_leader(broker, read.key) if read.code in MISDIRECTED else _NO_HINT


def _current_leader(broker: "Broker", key: PartitionKey) -> FetchLeader:
    partition = partition_in(broker.image, key.topic, TopicId(key.topic_id), key.partition)
    if partition is None:
        return FetchLeader()
    return FetchLeader(leader_id=partition.leader, leader_epoch=partition.leader_epoch)


def _is_news(plan: FetchPlan, read: PartitionRead) -> bool:
    return plan.is_news(
        read.key,
        high_watermark=read.high_watermark,
        log_start_offset=read.log_start_offset,
        has_records=read.size > 0,
        is_error=read.is_urgent,
    )


def _partition(broker: "Broker", read: PartitionRead) -> PartitionData:
    aborted = None
    if read.aborted is not None:
        aborted = tuple(
            AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
            for each in read.aborted
        )
    diverging = _SAME
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
        current_leader=_NO_HINT if read.code is NO_ERROR else _hint(broker, read),
        preferred_read_replica=read.preferred,
        records=b"" if read.records is None else read.records,
    )


def _send(reply: Reply, response: FetchResponse) -> None:
    header = reply.header
    traffic = reply.traffic
    if response.error_code:
        traffic.failed(ApiKey.FETCH, response.error_code)
    parts: list[Part] = []
    for part in encode_response_parts(ApiKey.FETCH, header.api_version, header.correlation_id, response):
        if isinstance(part, LogSlice):
            for piece in part.pieces:
                if isinstance(piece, FilePiece):
                    parts.append(piece)
                    traffic.file_bytes_out += piece.length
                else:
                    parts.append(piece.buffer)
                    traffic.memory_bytes_out += len(piece.buffer)
        elif isinstance(part, bytes | bytearray | memoryview):
            parts.append(part)
    reply.send(parts)
