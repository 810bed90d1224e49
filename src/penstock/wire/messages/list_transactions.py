"""ListTransactions (key 66): the transactions that this broker looks after.

Flexible from the start. Version notes: 1 only those that run for so long; 2 only ids of a pattern.
"""

from penstock.wire.primitives import INT16, INT32, INT64, STRING
from penstock.wire.schema import Struct, array, field, nullable

ANY_DURATION = -1


class ListTransactionsRequest(Struct):
    """Which transactions are there? An empty or missing filter lets all through."""

    state_filters: tuple[str, ...] = array(STRING)
    producer_id_filters: tuple[int, ...] = array(INT64)
    duration_filter: int = field(INT64, "1+", default=ANY_DURATION)
    transactional_id_pattern: str | None = nullable(STRING, "2+")


class TransactionState(Struct):
    """A transactional id, who uses it, and how its transaction is."""

    transactional_id: str = field(STRING)
    producer_id: int = field(INT64)
    transaction_state: str = field(STRING)


class ListTransactionsResponse(Struct):
    """The transactions that pass all filters, and the states asked for that do not exist."""

    throttle_time_ms: int = field(INT32)
    error_code: int = field(INT16)
    unknown_state_filters: tuple[str, ...] = array(STRING)
    transaction_states: tuple[TransactionState, ...] = array(TransactionState)
