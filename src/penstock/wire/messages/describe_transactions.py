"""DescribeTransactions (key 65): the state and partitions of transactions.

Flexible from the start; one version.
"""

from penstock.wire.primitives import INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field


class DescribeTransactionsRequest(Struct):
    """How are the transactions of these ids?"""

    transactional_ids: tuple[str, ...] = array(STRING)


class TopicData(Struct):
    """Partitions of one topic that are in the transaction."""

    topic: str = field(STRING)
    partitions: tuple[int, ...] = array(INT32)


class TransactionState(Struct):
    """The transaction of one id, or why it cannot be described."""

    error_code: int = field(INT16)
    transactional_id: str = field(STRING)
    transaction_state: str = field(STRING)
    transaction_timeout_ms: int = field(INT32)
    transaction_start_time_ms: int = field(INT64)
    producer_id: int = field(INT64)
    producer_epoch: int = field(INT16)
    topics: tuple[TopicData, ...] = array(TopicData)


class DescribeTransactionsResponse(Struct):
    """The transactions asked about."""

    throttle_time_ms: int = field(INT32)
    transaction_states: tuple[TransactionState, ...] = array(TransactionState)
