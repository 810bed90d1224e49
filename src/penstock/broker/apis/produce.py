"""Produce (key 0): append record batches, and answer when they are as safe as the client asked.

Versions 3 to 13. (Lower ones are advertised, since old librdkafka stops compressing otherwise, but a request
below 3 would carry a record format that Kafka has given up too; its connection is closed.)

Behaviour
    - Exactly one batch per partition. Its header and checksum are checked, its base offset and leader epoch
      stamped in place; the records stay as they are unless the topic recompresses.
    - acks=0: no answer; on an error the connection is closed, which is all a client can notice. acks=1: after
      the flush here. acks=-1: after the flush on every in-sync replica. Anything else: INVALID_REQUIRED_ACKS.
    - A batch seen before (same producer, epoch and sequences) is answered with the offsets it got then.
    - Each partition has its own outcome; one that fails does not disturb the others.

Version notes
    5 log start offset; 8 record errors and a message; 9 flexible; 10 leader hints (KIP-951); 12 may add
    partitions to a transaction (KIP-890); 13 topics by id (KIP-516).
"""

from functools import partial
from typing import TYPE_CHECKING

from penstock.broker.connection import Reply
from penstock.broker.parked_produce import ParkedProduce
from penstock.broker.partition import Partition
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis
from penstock.records.batch import WritableBuffer
from penstock.records.errors import RecordError
from penstock.records.validation import rewrite_batch, validate_produced
from penstock.wire.api_keys import ApiKey
from penstock.wire.framing import encode_response
from penstock.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

NO_ACKS = 0
LEADER_ACKS = 1
ALL_ACKS = -1
ZSTD_SINCE_VERSION = 7
ZSTD_CODEC = 4
TOPIC_IDS_SINCE_VERSION = 13


class _Outcome:
    """What became of one partition's batch."""

    __slots__ = (
        "base_offset",
        "code",
        "index",
        "last_offset",
        "log_append_time",
        "log_start_offset",
        "message",
        "partition",
        "record_errors",
    )

    def __init__(self, index: int) -> None:
        self.index = index
        self.code = ErrorCode.NONE
        self.partition: Partition | None = None
        self.base_offset = -1
        self.last_offset = -1
        self.log_append_time = -1
        self.log_start_offset = -1
        self.message: str | None = None
        self.record_errors: tuple[tuple[int, str], ...] = ()

    def fail(self, error: ApiError) -> None:
        self.code = error.code
        self.message = error.message or None
        if isinstance(error, RecordError):
            self.record_errors = error.record_errors


def handle(broker: "Broker", request: ProduceRequest, reply: Reply) -> None:
    """Append what can be appended, then park until it is safe."""
    now = broker.clock.wall_ms()
    outcomes = [
        [
            _append(broker, request, topic, data, reply.header.api_version, now)
            for data in topic.partition_data
        ]
        for topic in request.topic_data
    ]
    if request.acks == NO_ACKS:
        _answer_nothing(outcomes, reply)
        return
    appended = [each for topic in outcomes for each in topic if each.partition is not None]
    answer = partial(_answer, request, outcomes, appended, reply)
    if not appended:
        answer([])
        return
    parked = ParkedProduce(len(appended), answer)
    for number, outcome in enumerate(appended):
        assert outcome.partition is not None
        wait = (
            outcome.partition.when_flushed
            if request.acks == LEADER_ACKS
            else outcome.partition.when_replicated
        )
        wait(outcome.last_offset, partial(parked.settle, number))
    parked.start_timer(broker.loop, max(request.timeout_ms, 0) / 1000)


def _append(
    broker: "Broker",
    request: ProduceRequest,
    topic: TopicProduceData,
    data: PartitionProduceData,
    version: int,
    now: Millis,
) -> _Outcome:
    outcome = _Outcome(data.index)
    try:
        if request.acks not in (NO_ACKS, LEADER_ACKS, ALL_ACKS):
            raise ApiError(ErrorCode.INVALID_REQUIRED_ACKS)
        if version >= TOPIC_IDS_SINCE_VERSION:
            partition = broker.replicas.by_id(topic.topic_id, data.index)
        else:
            partition = broker.replicas.by_name(topic.name, data.index)
        _append_to(broker, partition, data.records, request, version, now, outcome)
        outcome.partition = partition
    except ApiError as error:
        outcome.fail(error)
    return outcome


def _append_to(
    broker: "Broker",
    partition: Partition,
    records: WritableBuffer | None,
    request: ProduceRequest,
    version: int,
    now: Millis,
    outcome: _Outcome,
) -> None:
    broker.check_writable()
    if request.acks == ALL_ACKS:
        partition.leader.check_enough_replicas()
    rules = partition.rules
    batch = bytearray() if records is None else records
    header = validate_produced(batch, rules, now)
    if header.codec == ZSTD_CODEC and version < ZSTD_SINCE_VERSION:
        raise ApiError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce version 7 or later")
    if header.is_transactional:
        raise ApiError(ErrorCode.INVALID_TXN_STATE, "The producer has no transaction open on this broker.")
    if rules.target_codec is not None and rules.target_codec != header.codec:
        batch = rewrite_batch(batch, header, rules, now)
        header = validate_produced(batch, rules, now)
    result = partition.append(batch, header, now)
    outcome.base_offset = result.base_offset
    outcome.last_offset = result.last_offset
    outcome.log_append_time = result.log_append_time
    outcome.log_start_offset = result.log_start_offset


def _answer_nothing(outcomes: list[list[_Outcome]], reply: Reply) -> None:
    failed = [each for topic in outcomes for each in topic if each.code != ErrorCode.NONE]
    if failed:
        reply.close_connection(f"a produce request with acks=0 failed: {failed[0].code.name}")
    else:
        reply.send([])


def _answer(
    request: ProduceRequest,
    outcomes: list[list[_Outcome]],
    appended: list[_Outcome],
    reply: Reply,
    codes: list[ErrorCode],
) -> None:
    for outcome, code in zip(appended, codes, strict=True):
        outcome.code = code
    response = ProduceResponse(
        responses=tuple(
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=tuple(map(_partition_response, topic_outcomes)),
            )
            for topic, topic_outcomes in zip(request.topic_data, outcomes, strict=True)
        )
    )
    header = reply.header
    reply.send([encode_response(ApiKey.PRODUCE, header.api_version, header.correlation_id, response)])


def _partition_response(outcome: _Outcome) -> PartitionProduceResponse:
    if outcome.code == ErrorCode.NONE:
        return PartitionProduceResponse(
            index=outcome.index,
            base_offset=outcome.base_offset,
            log_append_time_ms=outcome.log_append_time,
            log_start_offset=outcome.log_start_offset,
        )
    return PartitionProduceResponse(
        index=outcome.index,
        error_code=outcome.code,
        base_offset=-1,
        log_append_time_ms=-1,
        log_start_offset=-1,
        record_errors=tuple(
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=message)
            for index, message in outcome.record_errors
        ),
        error_message=outcome.message,
    )
