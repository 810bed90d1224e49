"""Transactions on the wire: who owns one, what is in it, and how it ends.

This is Kafka's first transaction protocol, on purpose: an end keeps the epoch, so that anybody who knows the
transactional id, the producer id and the epoch may end the transaction, from any connection, and may ask for
the same end again and hear that all is well.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from penstock.wire.messages.describe_transactions import DescribeTransactionsRequest, TransactionState
from penstock.wire.messages.end_txn import EndTxnRequest
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from penstock.wire_client.cluster import PASSING
from penstock.wire_client.coordinators import Coordinated
from penstock.wire_client.errors import check
from penstock.wire_client.group_offsets import CommittedOffset
from penstock.wire_client.known_coordinators import CoordinatorKey, KnownCoordinators, Question
from penstock.wire_client.patience import ask_again
from penstock.wire_client.producers import INIT_PRODUCER_ID_VERSION_MAX, ProducerIdentity
from penstock.wire_client.topics import by_topic

TRANSACTION_TIMEOUT_MS_MAX = 900_000
"""What brokers allow unless told otherwise (transaction.max.timeout.ms)."""

FENCED = frozenset({ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH})
"""Codes that mean that the transactional id has another owner by now, or lost this one by a timeout."""

_VERSION_MAX = 3
"""Of AddPartitionsToTxn, AddOffsetsToTxn and TxnOffsetCommit in the first protocol."""

END_TXN_VERSION_MAX = 3

_TIMEOUT_MS_LEAST = 1_000


class Transaction(NamedTuple):
    """A transaction by its owner's identity, which is all that is needed to go on with it or to end it."""

    transactional_id: str
    producer: ProducerIdentity

    @property
    def key(self) -> CoordinatorKey:
        """Who looks after it."""
        return CoordinatorKey(Coordinated.TRANSACTION, self.transactional_id)


def own(
    coordinators: KnownCoordinators, transactional_id: str, *, timeout_ms: int = TRANSACTION_TIMEOUT_MS_MAX
) -> Transaction:
    """Become the owner of a transactional id: who was it before is fenced, what was open is aborted.

    Nothing is open until something is added. Where the broker allows less than ``timeout_ms``, half of it is
    tried, and so on.
    """
    key = CoordinatorKey(Coordinated.TRANSACTION, transactional_id)
    while True:
        request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=timeout_ms)
        question = Question(ApiKey.INIT_PRODUCER_ID, request, INIT_PRODUCER_ID_VERSION_MAX)
        answer = coordinators.ask(key, question)
        if answer.error_code != ErrorCode.INVALID_TRANSACTION_TIMEOUT or timeout_ms < _TIMEOUT_MS_LEAST:
            break
        timeout_ms //= 2
    check(answer.error_code, doing=f"become the owner of transactional id {transactional_id!r}")
    return Transaction(transactional_id, ProducerIdentity(answer.producer_id, answer.producer_epoch))


def add_partitions(
    coordinators: KnownCoordinators, transaction: Transaction, partitions: Iterable[TopicPartition]
) -> None:
    """Let the transaction hold what is written to these partitions; it is open from now on."""
    topics = by_topic(sorted(partitions))
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transaction.transactional_id,
        v3_and_below_producer_id=transaction.producer.producer_id,
        v3_and_below_producer_epoch=transaction.producer.producer_epoch,
        v3_and_below_topics=tuple(
            AddPartitionsToTxnTopic(name=name, partitions=tuple(numbers)) for name, numbers in topics.items()
        ),
    )
    # A partition that was just made may be news to the coordinator.
    also_passing = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})
    question = Question(ApiKey.ADD_PARTITIONS_TO_TXN, request, _VERSION_MAX, _added_codes, also_passing)
    for code in _added_codes(coordinators.ask(transaction.key, question)):
        check(code, doing=f"add partitions to transaction {transaction.transactional_id!r}")


def add_group(coordinators: KnownCoordinators, transaction: Transaction, group: str) -> None:
    """Let the transaction hold offsets of a group; it is open from now on."""
    request = AddOffsetsToTxnRequest(
        transactional_id=transaction.transactional_id,
        producer_id=transaction.producer.producer_id,
        producer_epoch=transaction.producer.producer_epoch,
        group_id=group,
    )
    answer = coordinators.ask(transaction.key, Question(ApiKey.ADD_OFFSETS_TO_TXN, request, _VERSION_MAX))
    check(answer.error_code, doing=f"add group {group!r} to transaction {transaction.transactional_id!r}")


def commit_offsets(
    coordinators: KnownCoordinators,
    transaction: Transaction,
    group: str,
    *,
    offsets: Mapping[TopicPartition, CommittedOffset],
) -> None:
    """Have offsets of a group committed with the transaction, which must hold the group."""
    request = TxnOffsetCommitRequest(
        transactional_id=transaction.transactional_id,
        group_id=group,
        producer_id=transaction.producer.producer_id,
        producer_epoch=transaction.producer.producer_epoch,
        topics=_offset_topics(offsets),
    )
    also_passing = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})
    question = Question(ApiKey.TXN_OFFSET_COMMIT, request, _VERSION_MAX, _committed_codes, also_passing)
    answer = coordinators.ask(CoordinatorKey(Coordinated.GROUP, group), question)
    for code in _committed_codes(answer):
        check(code, doing=f"commit offsets of group {group!r} in a transaction")


def end_code(coordinators: KnownCoordinators, transaction: Transaction, *, is_commit: bool) -> int:
    """Commit or abort; the coordinator's answer. NONE also for an end that it had decided before."""
    question = Question(ApiKey.END_TXN, end_request(transaction, is_commit=is_commit), END_TXN_VERSION_MAX)
    code: int = coordinators.ask(transaction.key, question).error_code
    return code


def end_request(transaction: Transaction, *, is_commit: bool) -> EndTxnRequest:
    """The request that ends a transaction."""
    return EndTxnRequest(
        transactional_id=transaction.transactional_id,
        producer_id=transaction.producer.producer_id,
        producer_epoch=transaction.producer.producer_epoch,
        committed=is_commit,
    )


def commit(coordinators: KnownCoordinators, transaction: Transaction) -> None:
    """End the transaction well."""
    code = end_code(coordinators, transaction, is_commit=True)
    check(code, doing=f"commit transaction {transaction.transactional_id!r}")


def abort(coordinators: KnownCoordinators, transaction: Transaction) -> None:
    """End the transaction so that nothing of it is seen by readers of what is committed."""
    code = end_code(coordinators, transaction, is_commit=False)
    check(code, doing=f"abort transaction {transaction.transactional_id!r}")


def describe(
    coordinators: KnownCoordinators, transactional_ids: Sequence[str]
) -> dict[str, TransactionState]:
    """How the transactions of these ids stand; an id that nobody knows has an error code."""
    states: dict[str, TransactionState] = ask_again(
        lambda: _describe(coordinators, transactional_ids),
        is_passing=lambda states: any(state.error_code in PASSING for state in states.values()),
        patience=coordinators.patience,
        after_trouble=lambda: coordinators.forget(Coordinated.TRANSACTION, transactional_ids),
    )
    return states


def _describe(coordinators: KnownCoordinators, names: Sequence[str]) -> dict[str, TransactionState]:
    states: dict[str, TransactionState] = {}
    nodes = coordinators.nodes(Coordinated.TRANSACTION, names)
    for node_id in sorted(set(nodes.values())):
        own = tuple(name for name in names if nodes[name] == node_id)
        request = DescribeTransactionsRequest(transactional_ids=own)
        answer = coordinators.cluster.broker(node_id).call(ApiKey.DESCRIBE_TRANSACTIONS, request)
        states |= {state.transactional_id: state for state in answer.transaction_states}
    return states


def _offset_topics(
    offsets: Mapping[TopicPartition, CommittedOffset],
) -> tuple[TxnOffsetCommitRequestTopic, ...]:
    return tuple(
        TxnOffsetCommitRequestTopic(
            name=name,
            partitions=tuple(
                TxnOffsetCommitRequestPartition(
                    partition_index=number,
                    committed_offset=offsets[TopicPartition(name, number)].offset,
                    committed_metadata=offsets[TopicPartition(name, number)].metadata,
                )
                for number in numbers
            ),
        )
        for name, numbers in by_topic(sorted(offsets)).items()
    )


def _added_codes(answer: Any) -> list[int]:
    """Those that say something come first: the others are only told that theirs was not tried."""
    codes = {
        result.partition_error_code
        for topic in answer.results_by_topic_v3_and_below
        for result in topic.results_by_partition
    }
    return sorted(codes - {ErrorCode.OPERATION_NOT_ATTEMPTED}) + sorted(
        codes & {ErrorCode.OPERATION_NOT_ATTEMPTED}
    )


def _committed_codes(answer: Any) -> list[int]:
    return [partition.error_code for topic in answer.topics for partition in topic.partitions]
