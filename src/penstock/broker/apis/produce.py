"""Produce (key 0): append record batches, and answer when they are as safe as the client asked.

Versions 3 to 13. (Lower ones are advertised, since old librdkafka stops compressing otherwise, but a request
below 3 would carry a record format that Kafka has given up too; its connection is closed.)

Behaviour
    - Exactly one batch per partition. Its header and checksum are checked, its base offset and leader epoch
      stamped in place; the records stay as they are unless the topic recompresses.
    - acks=0: no answer; on an error the connection is closed, which is all a client can notice. The request
      counts as under way until the flush here all the same: what waits for the disk must have a bound.
      acks=1: after the flush here. acks=-1: after the flush on every in-sync replica. Anything else:
      INVALID_REQUIRED_ACKS.
    - A batch seen before (same producer, epoch and sequences) is answered with the offsets it got then.
    - A batch of a transaction may have to wait for its coordinator first (``transactional_appends``).
    - Internal topics are for brokers only: INVALID_TOPIC_EXCEPTION. Brokers feed the log topic in this way.
    - A follower takes nothing (NOT_LEADER_OR_FOLLOWER), and says who leads (KIP-951). Too few replicas in
      sync for acks=-1 is NOT_ENOUGH_REPLICAS, or NOT_ENOUGH_REPLICAS_AFTER_APPEND when that happened since.
    - A leader that neither the controller nor its followers hear hangs up: somebody else may lead by now.
    - Each partition has its own outcome; one that fails does not disturb the others.

Version notes
    5 log start offset; 8 record errors and a message; 9 flexible; 10 leader hints (KIP-951); 12 may add
    partitions to a transaction (KIP-890); 13 topics by id (KIP-516).
"""

from typing import TYPE_CHECKING

from penstock.broker.leader_hints import MISDIRECTED, endpoints, partition_in
from penstock.broker.parked_produce import (
    ALL_ACKS,
    LEADER_ACKS,
    NO_ACKS,
    ParkedProduce,
    ProduceOutcome,
    UnwrittenBatches,
)
from penstock.broker.partition import Partition
from penstock.broker.peers.peers import CLIENT_ID
from penstock.broker.reply import Reply
from penstock.broker.transactional_appends import TransactionalBatch
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis, NodeId
from penstock.model.names import LOGS_TOPIC
from penstock.records.batch import TRANSACTIONAL_BIT, BatchHeader, read_header
from penstock.records.errors import RecordError
from penstock.records.validation import needs_rewrite, rewrite_batch, validate_produced
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import RequestHeader, encode_response
from penstock.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceLeader,
    ProduceNodeEndpoint,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

ZSTD_SINCE_VERSION = 7
ZSTD_CODEC = 4
TOPIC_IDS_SINCE_VERSION = 13

PASSING_REFUSALS = frozenset(
    {ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.KAFKA_STORAGE_ERROR}
)
"""Of batches that are sent again as they are, and were not written."""

REFUSAL_SECONDS = 1.0
"""How long what was on its way behind a refused batch may take to come in."""

_NO_ERROR = ErrorCode.NONE
_NO_HINT = ProduceLeader()


def handle(broker: "Broker", request: ProduceRequest, reply: Reply) -> None:
    """Append what can be appended, then park until it is safe."""
    acks = request.acks
    header = reply.header
    now = broker.clock.wall_ms()
    answer = _answer_nothing if acks == NO_ACKS else _answer
    parked = ParkedProduce(lambda outcomes: answer(broker, request, outcomes, reply))
    for topic in request.topic_data:
        for data in topic.partition_data:
            outcome = ProduceOutcome(parked, data.index)
            partition = None
            try:
                partition = _find(broker, topic, data.index, header.api_version)
                _append(broker, partition, data, request, header, now, outcome)
            except ApiError as error:
                outcome.fail(error if partition is None else _as_one_refusal(broker, partition, error))
    is_replicated = acks == ALL_ACKS
    for outcome in parked.outcomes:
        if outcome.partition is not None:
            outcome.partition.await_safety(outcome, is_replicated=is_replicated)
    if acks == NO_ACKS:
        parked.finish()
    else:
        parked.finish_or_wait(broker.deadlines, request.timeout_ms)


def _as_one_refusal(broker: "Broker", partition: Partition, error: ApiError) -> ApiError:
    """What follows a batch that was refused for the moment is refused with the same code.

    A producer has several batches on their way. When the moment passes between two of them, the second one
    comes out of order. Told so, librdkafka takes a new epoch for all partitions, and what is in limbo in
    another one is written twice: nobody can tell any more that it was there under the former epoch.
    """
    now = broker.clock.monotonic()
    if error.code in PASSING_REFUSALS:
        partition.refused = (error.code, now)
    elif error.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and partition.refused is not None:
        code, at = partition.refused
        if now - at <= REFUSAL_SECONDS:
            return ApiError(code, f"A batch before it was refused {now - at:.3f} s ago.")
    return error


def _find(broker: "Broker", topic: TopicProduceData, index: int, version: int) -> Partition:
    if version >= TOPIC_IDS_SINCE_VERSION:
        return broker.replicas.by_id(topic.topic_id, index)
    return broker.replicas.by_name(topic.name, index)


def _append(
    broker: "Broker",
    partition: Partition,
    data: PartitionProduceData,
    request: ProduceRequest,
    asked: RequestHeader,
    now: Millis,
    outcome: ProduceOutcome,
) -> None:
    acks = request.acks
    if acks == ALL_ACKS:
        partition.leader.check_enough_replicas()
        if partition in broker.replication.doubted:
            raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "The cluster may have elected another leader.")
    elif acks not in (NO_ACKS, LEADER_ACKS):
        raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)
    elif not partition.is_leader:
        raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if partition.is_internal and not _may_write(partition, asked):
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, "Only brokers write to internal topics.")
    broker.check_writable()
    rules = partition.rules
    batch = bytearray() if data.records is None else data.records
    header = validate_produced(batch, rules, now)
    attributes = header[5]
    if attributes:
        _check_codec(header, asked.api_version)
    if needs_rewrite(header, rules):
        batch = rewrite_batch(batch, header, rules, now)
        header = read_header(batch)
    if attributes & TRANSACTIONAL_BIT:
        broker.transactional_appends.submit(
            request.transactional_id,
            TransactionalBatch(
                partition=partition,
                batch=batch,
                header=header,
                outcome=outcome,
                acks=acks,
                produce_version=asked.api_version,
            ),
        )
        return
    result = outcome.result = partition.append(batch, header, now)
    outcome.partition = partition
    broker.server.traffic.took_in(partition.topic, result, len(batch))


def _may_write(partition: Partition, asked: RequestHeader) -> bool:
    """Whether a broker asks, to feed the log topic; it says so itself: that stops mistakes, not malice."""
    return partition.topic == LOGS_TOPIC and asked.client_id == CLIENT_ID


def _check_codec(header: BatchHeader, version: int) -> None:
    if header.codec == ZSTD_CODEC and version < ZSTD_SINCE_VERSION:
        raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce version 7 or later")


def _answer_nothing(
    broker: "Broker", request: ProduceRequest, outcomes: list[ProduceOutcome], reply: Reply
) -> None:
    failed = [each for each in outcomes if each.code is not _NO_ERROR]
    if failed:
        _count_errors(outcomes, reply)
        reply.close_connection(f"a produce request with acks=0 failed: {failed[0].code.name}")
    else:
        reply.send([])


def _count_errors(outcomes: list[ProduceOutcome], reply: Reply) -> None:
    for outcome in outcomes:
        if outcome.code is not _NO_ERROR:
            reply.traffic.failed(ApiKey.PRODUCE, outcome.code)


def _answer(broker: "Broker", request: ProduceRequest, outcomes: list[ProduceOutcome], reply: Reply) -> None:
    failed = [each for each in outcomes if each.code is not _NO_ERROR]
    if failed:
        _hold_unwritten(failed, reply)
    if broker.replication.doubted and any(outcome.code in MISDIRECTED for outcome in failed):
        # All we could tell is that nobody else leads. A client that knows no other broker would believe it.
        reply.close_connection("a producer has to look for another leader")
        return
    remaining = iter(outcomes)
    response = ProduceResponse(
        responses=tuple(
            [
                TopicProduceResponse(
                    name=topic.name,
                    topic_id=topic.topic_id,
                    partition_responses=tuple(
                        [_partition_response(broker, topic, next(remaining)) for _ in topic.partition_data]
                    ),
                )
                for topic in request.topic_data
            ]
        ),
        node_endpoints=_endpoints(broker, request, outcomes, reply) if failed else (),
    )
    header = reply.header
    reply.send([encode_response(ApiKey.PRODUCE, header.api_version, header.correlation_id, response)])


def _hold_unwritten(failed: list[ProduceOutcome], reply: Reply) -> None:
    """What was not written in time still will be: until then it counts, or it piles up under a slow disk."""
    unwritten = [each for each in failed if each.is_unwritten]
    if unwritten:
        UnwrittenBatches(unwritten, reply.hold_memory())


def _endpoints(
    broker: "Broker", request: ProduceRequest, outcomes: list[ProduceOutcome], reply: Reply
) -> tuple[ProduceNodeEndpoint, ...]:
    """Where those are who lead what was sent here."""
    _count_errors(outcomes, reply)
    named = [(topic, data.index) for topic in request.topic_data for data in topic.partition_data]
    leaders = [
        NodeId(_current_leader(broker, topic, index).leader_id)
        for (topic, index), outcome in zip(named, outcomes, strict=True)
        if outcome.code in MISDIRECTED
    ]
    return tuple(
        ProduceNodeEndpoint(node_id=each.node_id, host=each.host, port=each.port, rack=each.rack)
        for each in endpoints(broker.image, leaders)
    )


def _current_leader(broker: "Broker", topic: TopicProduceData, index: int) -> ProduceLeader:
    partition = partition_in(broker.image, topic.name, topic.topic_id, index)
    if partition is None or partition.leader == broker.node_id:
        return _NO_HINT
    return ProduceLeader(leader_id=partition.leader, leader_epoch=partition.leader_epoch)


def _partition_response(
    broker: "Broker", topic: TopicProduceData, outcome: ProduceOutcome
) -> PartitionProduceResponse:
    result = outcome.result
    if outcome.code == ErrorCode.NONE and result is not None:
        return PartitionProduceResponse(
            index=outcome.index,
            base_offset=result.base_offset,
            log_append_time_ms=result.log_append_time,
            log_start_offset=result.log_start_offset,
        )
    error = outcome.error
    record_errors = error.record_errors if isinstance(error, RecordError) else ()
    return PartitionProduceResponse(
        index=outcome.index,
        error_code=outcome.code,
        base_offset=-1,
        record_errors=tuple(
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=message)
            for index, message in record_errors
        ),
        error_message=None if error is None else error.message or None,
        current_leader=(
            _current_leader(broker, topic, outcome.index) if outcome.code in MISDIRECTED else _NO_HINT
        ),
    )
