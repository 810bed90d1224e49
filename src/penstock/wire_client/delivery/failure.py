"""What is said when a batch cannot be delivered: which, why, and what to do about it."""

from collections.abc import Mapping

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire_client.errors import WireClientError, code_name

_TIMED_OUT = "The transaction is no longer open: did it take longer than its timeout?"

_REMEDIES: Mapping[int, str] = {
    ErrorCode.MESSAGE_TOO_LARGE: (
        "A batch is larger than the topic takes: raise the topic's max.message.bytes, or make "
        "batches smaller with max.request.size"
    ),
    ErrorCode.RECORD_LIST_TOO_LARGE: (
        "A batch is larger than a segment of the topic: make batches smaller with max.request.size"
    ),
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Allow this user to write to the topic",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "Allow this user the transactional id",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Allow this user idempotent writes",
    ErrorCode.INVALID_TIMESTAMP: (
        "Timestamps are further from the broker's clock than the topic takes: see its "
        "message.timestamp.before.max.ms and message.timestamp.after.max.ms"
    ),
    ErrorCode.INVALID_RECORD: "The topic is compacted, and takes no records without a key",
    ErrorCode.UNSUPPORTED_COMPRESSION_TYPE: "Choose another compression.type",
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER: (
        "The broker no longer has what it acknowledged before: look for an unclean leader election"
    ),
    ErrorCode.INVALID_PRODUCER_EPOCH: "Somebody else writes under the same transactional id",
    ErrorCode.PRODUCER_FENCED: "Somebody else writes under the same transactional id",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "The topic or partition is not there: was it deleted?",
    ErrorCode.NOT_ENOUGH_REPLICAS: (
        "Fewer replicas are in sync than min.insync.replicas of the topic: bring its brokers back"
    ),
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: (
        "Fewer replicas are in sync than min.insync.replicas of the topic: bring its brokers back"
    ),
    ErrorCode.KAFKA_STORAGE_ERROR: "The leader's disk fails: look at the broker's log",
    ErrorCode.INVALID_TXN_STATE: _TIMED_OUT,
    ErrorCode.TRANSACTION_ABORTABLE: _TIMED_OUT,
}

_MORE_OFTEN = "Is the cluster in good health? It was tried for {seconds:g} s (delivery.timeout.ms)"


class DeliveryError(WireClientError):
    """A batch was given up. ``code`` is the last answer to it; NETWORK_EXCEPTION if there was none."""

    def __init__(self, partition: TopicPartition, code: int, *, detail: str = "") -> None:
        what = f"Cannot write to topic {partition.topic!r}, partition {partition.partition}"
        remedy = detail or _REMEDIES.get(code, "See the broker's log for the reason")
        super().__init__(f"{what}: {remedy} ({code_name(code)}).")
        self.partition = partition
        self.code = code


def gave_up(partition: TopicPartition, code: int, *, tried_ms: int) -> DeliveryError:
    """The error for a batch that was tried for too long."""
    hint = _MORE_OFTEN.format(seconds=tried_ms / 1000)
    known = _REMEDIES.get(code)
    return DeliveryError(partition, code, detail=f"{known}. {hint}" if known else hint)
