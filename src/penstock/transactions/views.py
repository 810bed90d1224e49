"""DescribeTransactions and ListTransactions: what administrators see. Nothing changes here.

- The partitions of a decided transaction are those whose markers are still missing.
- Filters of ListTransactions: states by name (unknown names are reported back), producer ids, transactions
  that began longer ago than so many milliseconds, and a pattern that the whole transactional id matches.
"""

from collections.abc import Callable, Collection, Iterable

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis, TopicPartition
from penstock.model.patterns import CompilePattern
from penstock.transactions.metadata import TransactionMetadata
from penstock.transactions.responses import by_topic
from penstock.transactions.state import TransactionState
from penstock.wire.messages import describe_transactions, list_transactions

_STATE_NAMES = frozenset(state.value for state in TransactionState)


def description(
    transactional_id: str, current: TransactionMetadata | None, partitions: Collection[TopicPartition]
) -> describe_transactions.TransactionState:
    """One id's transaction."""
    if current is None:
        code = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if transactional_id else ErrorCode.INVALID_REQUEST
        return describe_transactions.TransactionState(error_code=code, transactional_id=transactional_id)
    return describe_transactions.TransactionState(
        transactional_id=transactional_id,
        transaction_state=current.state.value,
        transaction_timeout_ms=current.timeout_ms,
        transaction_start_time_ms=current.start_timestamp,
        producer_id=current.producer_id,
        producer_epoch=current.producer_epoch,
        topics=tuple(
            describe_transactions.TopicData(topic=topic, partitions=numbers)
            for topic, numbers in by_topic(partitions)
        ),
    )


def listing(
    transactions: Iterable[TransactionMetadata],
    request: list_transactions.ListTransactionsRequest,
    *,
    compile_pattern: CompilePattern,
    now: Millis,
) -> list_transactions.ListTransactionsResponse:
    """All ids that pass the filters."""
    passes = _filter(request, compile_pattern, now)
    return list_transactions.ListTransactionsResponse(
        unknown_state_filters=unknown_states(request),
        transaction_states=tuple(
            list_transactions.TransactionState(
                transactional_id=current.transactional_id,
                producer_id=current.producer_id,
                transaction_state=current.state.value,
            )
            for current in transactions
            if passes(current)
        ),
    )


def unknown_states(request: list_transactions.ListTransactionsRequest) -> tuple[str, ...]:
    """The names in the filter that are no state's."""
    return tuple(name for name in request.state_filters if name not in _STATE_NAMES)


def _filter(
    request: list_transactions.ListTransactionsRequest, compile_pattern: CompilePattern, now: Millis
) -> Callable[[TransactionMetadata], bool]:
    states, producer_ids = frozenset(request.state_filters), frozenset(request.producer_id_filters)
    duration = request.duration_filter
    pattern = request.transactional_id_pattern
    matches = compile_pattern(pattern) if pattern else None

    def passes(current: TransactionMetadata) -> bool:
        return (
            (not states or current.state.value in states)
            and (not producer_ids or current.producer_id in producer_ids)
            and (duration < 0 or now - current.start_timestamp > duration)
            and (matches is None or matches(current.transactional_id))
        )

    return passes
