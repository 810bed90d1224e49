"""AddPartitionsToTxn (key 24): a producer will write to these partitions in its transaction.

Version notes: 2 a new error; 3 flexible; 4 for brokers only: many transactions at once, which may be verified
rather than added to, so the single-transaction fields vanish; 5 a new error.
"""

from penstock.wire.primitives import BOOLEAN, INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field


class AddPartitionsToTxnTopic(Struct):
    """Partitions of one topic."""

    name: str = field(STRING)
    partitions: tuple[int, ...] = array(INT32)


class AddPartitionsToTxnTransaction(Struct):
    """A transaction and the partitions to add to it, or only to look for in it."""

    transactional_id: str = field(STRING, "4+")
    producer_id: int = field(INT64, "4+")
    producer_epoch: int = field(INT16, "4+")
    verify_only: bool = field(BOOLEAN, "4+")
    topics: tuple[AddPartitionsToTxnTopic, ...] = array(AddPartitionsToTxnTopic, "4+")


class AddPartitionsToTxnRequest(Struct):
    """Add partitions to one transaction (until version 3), or to each of ``transactions``."""

    transactions: tuple[AddPartitionsToTxnTransaction, ...] = array(AddPartitionsToTxnTransaction, "4+")
    v3_and_below_transactional_id: str = field(STRING, "0-3")
    v3_and_below_producer_id: int = field(INT64, "0-3")
    v3_and_below_producer_epoch: int = field(INT16, "0-3")
    v3_and_below_topics: tuple[AddPartitionsToTxnTopic, ...] = array(AddPartitionsToTxnTopic, "0-3")


class AddPartitionsToTxnPartitionResult(Struct):
    """Whether one partition is in the transaction now."""

    partition_index: int = field(INT32)
    partition_error_code: int = field(INT16)


class AddPartitionsToTxnTopicResult(Struct):
    """The outcome for one topic."""

    name: str = field(STRING)
    results_by_partition: tuple[AddPartitionsToTxnPartitionResult, ...] = array(
        AddPartitionsToTxnPartitionResult
    )


class AddPartitionsToTxnResult(Struct):
    """The outcome for one transaction."""

    transactional_id: str = field(STRING, "4+")
    topic_results: tuple[AddPartitionsToTxnTopicResult, ...] = array(AddPartitionsToTxnTopicResult, "4+")


class AddPartitionsToTxnResponse(Struct):
    """The outcome for every partition asked."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16, "4+")
    results_by_transaction: tuple[AddPartitionsToTxnResult, ...] = array(AddPartitionsToTxnResult, "4+")
    results_by_topic_v3_and_below: tuple[AddPartitionsToTxnTopicResult, ...] = array(
        AddPartitionsToTxnTopicResult, "0-3"
    )
