"""Answers of every transaction API that say no, and the shape of AddPartitionsToTxn's, which has two.

The shell uses ``refusal`` too, for what it knows better than a shard: that this broker is not the
coordinator, or is still loading.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.model.ids import NO_PRODUCER_ID, TopicPartition
from penstock.transactions.metadata import NO_EPOCH
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from penstock.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from penstock.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from penstock.wire.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from penstock.wire.schema import Struct

PartitionErrors: TypeAlias = Mapping[TopicPartition, ErrorCode]

BATCHED_ADD_PARTITIONS = 4
"""The version of AddPartitionsToTxn from which it holds many transactions."""

_FENCED_KNOWN_FROM: Mapping[type[Struct], int] = {
    InitProducerIdRequest: 4,
    AddPartitionsToTxnRequest: 2,
    AddOffsetsToTxnRequest: 2,
    EndTxnRequest: 2,
}
"""Clients of older versions do not know PRODUCER_FENCED; INVALID_PRODUCER_EPOCH says the same to them."""


def refusal(request: Struct, api_version: int, code: ErrorCode) -> Struct:
    """The answer that denies all of ``request``."""
    code = _known_code(request, api_version, code)
    match request:
        case InitProducerIdRequest():
            return InitProducerIdResponse(
                error_code=code, producer_id=NO_PRODUCER_ID, producer_epoch=NO_EPOCH
            )
        case AddPartitionsToTxnRequest():
            errors = [
                dict.fromkeys(partitions_of(transaction), code)
                for transaction in transactions_of(request, api_version)
            ]
            return addition_response(request, api_version, errors)
        case AddOffsetsToTxnRequest():
            return AddOffsetsToTxnResponse(error_code=code)
        case EndTxnRequest():
            return EndTxnResponse(error_code=code)
        case DescribeTransactionsRequest():
            return DescribeTransactionsResponse(
                transaction_states=tuple(
                    TransactionState(error_code=code, transactional_id=name)
                    for name in request.transactional_ids
                )
            )
        case ListTransactionsRequest():
            return ListTransactionsResponse(error_code=code)
        case _:
            raise InvariantError(f"{type(request).__name__} is not for the transaction coordinator")


def transactions_of(
    request: AddPartitionsToTxnRequest, api_version: int
) -> tuple[AddPartitionsToTxnTransaction, ...]:
    """The transactions to add to, in the newer form."""
    if api_version >= BATCHED_ADD_PARTITIONS:
        return request.transactions
    return (
        AddPartitionsToTxnTransaction(
            transactional_id=request.v3_and_below_transactional_id,
            producer_id=request.v3_and_below_producer_id,
            producer_epoch=request.v3_and_below_producer_epoch,
            topics=request.v3_and_below_topics,
        ),
    )


def partitions_of(transaction: AddPartitionsToTxnTransaction) -> tuple[TopicPartition, ...]:
    """The partitions that a transaction is to have, in the order of the request."""
    return tuple(
        TopicPartition(topic.name, number) for topic in transaction.topics for number in topic.partitions
    )


def addition_response(
    request: AddPartitionsToTxnRequest, api_version: int, errors: Sequence[PartitionErrors]
) -> AddPartitionsToTxnResponse:
    """The answer, from what is to be said about the partitions of each transaction of the request."""
    results = [_topic_results(request, api_version, found) for found in errors]
    if api_version < BATCHED_ADD_PARTITIONS:
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results[0])
    return AddPartitionsToTxnResponse(
        results_by_transaction=tuple(
            AddPartitionsToTxnResult(transactional_id=transaction.transactional_id, topic_results=result)
            for transaction, result in zip(request.transactions, results, strict=True)
        )
    )


def by_topic(partitions: Iterable[TopicPartition]) -> Iterable[tuple[str, tuple[int, ...]]]:
    """Topics with their partitions, in a fixed order."""
    for topic, group in groupby(sorted(partitions), key=lambda partition: partition.topic):
        yield topic, tuple(partition.partition for partition in group)


def _topic_results(
    request: AddPartitionsToTxnRequest, api_version: int, errors: PartitionErrors
) -> tuple[AddPartitionsToTxnTopicResult, ...]:
    return tuple(
        AddPartitionsToTxnTopicResult(
            name=topic,
            results_by_partition=tuple(
                AddPartitionsToTxnPartitionResult(
                    partition_index=partition,
                    partition_error_code=_known_code(
                        request, api_version, errors[TopicPartition(topic, partition)]
                    ),
                )
                for partition in partitions
            ),
        )
        for topic, partitions in by_topic(errors)
    )


def _known_code(request: Struct, api_version: int, code: ErrorCode) -> ErrorCode:
    if code is ErrorCode.PRODUCER_FENCED and api_version < _FENCED_KNOWN_FROM.get(type(request), 0):
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code
