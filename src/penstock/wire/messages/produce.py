"""Produce (key 0): append record batches to partitions.

Version notes: 3 batches of format 2 and transactional ids; 5 log start offset; 7 zstd; 8 errors of single
records; 9 flexible; 10 the current leader in tags; 12 the leader adds the partition to the transaction;
13 topics by id. Versions below 3 are advertised, for clients that insist on seeing them, but not spoken.
"""

from penstock.model.ids import TopicId
from penstock.wire.primitives import INT16, INT32, INT64, PRODUCED_RECORDS, STRING, TOPIC_ID
from penstock.wire.schema import Struct, array, field, nullable, struct


class PartitionProduceData(Struct):
    """The batch for one partition, still as the bytes of the frame."""

    index: int = field(INT32)
    records: memoryview | bytearray | None = nullable(PRODUCED_RECORDS)


class TopicProduceData(Struct):
    """The batches for one topic; by name until version 12, by id since."""

    name: str = field(STRING, "0-12")
    topic_id: TopicId = field(TOPIC_ID, "13+")
    partition_data: tuple[PartitionProduceData, ...] = array(PartitionProduceData)


class ProduceRequest(Struct):
    """Append these. With ``acks`` 0 there is no response at all."""

    transactional_id: str | None = nullable(STRING, "3+")
    acks: int = field(INT16)
    timeout_ms: int = field(INT32)
    topic_data: tuple[TopicProduceData, ...] = array(TopicProduceData)


class BatchIndexAndErrorMessage(Struct):
    """A record that spoiled its batch."""

    batch_index: int = field(INT32)
    batch_index_error_message: str | None = nullable(STRING)


class ProduceLeader(Struct):
    """Who leads the partition now, for a client that asked the wrong broker."""

    leader_id: int = field(INT32, default=-1)
    leader_epoch: int = field(INT32, default=-1)


class PartitionProduceResponse(Struct):
    """Where the batch went, or why it did not."""

    index: int = field(INT32)
    error_code: int = field(INT16)
    base_offset: int = field(INT64)
    log_append_time_ms: int = field(INT64, "2+", default=-1)
    log_start_offset: int = field(INT64, "5+", default=-1)
    record_errors: tuple[BatchIndexAndErrorMessage, ...] = array(BatchIndexAndErrorMessage, "8+")
    error_message: str | None = nullable(STRING, "8+")
    current_leader: ProduceLeader = struct(ProduceLeader, "10+", tag=0)


class TopicProduceResponse(Struct):
    """The outcome for one topic."""

    name: str = field(STRING, "0-12")
    topic_id: TopicId = field(TOPIC_ID, "13+")
    partition_responses: tuple[PartitionProduceResponse, ...] = array(PartitionProduceResponse)


class ProduceNodeEndpoint(Struct):
    """Where a leader named in the response can be reached."""

    node_id: int = field(INT32)
    host: str = field(STRING)
    port: int = field(INT32)
    rack: str | None = nullable(STRING)


class ProduceResponse(Struct):
    """The outcome for every partition asked."""

    responses: tuple[TopicProduceResponse, ...] = array(TopicProduceResponse)
    throttle_time_ms: int = field(INT32, "1+")
    node_endpoints: tuple[ProduceNodeEndpoint, ...] = array(ProduceNodeEndpoint, "10+", tag=0)
