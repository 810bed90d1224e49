"""AddPartitionsToTxn (key 24): what is written to these partitions belongs to a transaction.

Versions 0 to 5.

Behaviour
    - Until version 3 a client names the partitions of its transaction; from 4 on brokers do, for many
      transactions at once, and may only ask whether partitions are in (KIP-890).
    - All or nothing for each transaction: an unknown partition gets UNKNOWN_TOPIC_OR_PARTITION, one of an
      internal topic that no client writes to TOPIC_AUTHORIZATION_FAILED, the others OPERATION_NOT_ATTEMPTED.
    - A client that begins its next transaction while markers of the last one are being written waits for a
      moment before it is told so (CONCURRENT_TRANSACTIONS): after that refusal librdkafka does not survive an
      abort.

Version notes
    2 PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH; 3 flexible; 4 batches; 5 TRANSACTION_ABORTABLE.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import TopicPartition
from penstock.model.names import INTERNAL_TOPICS, OFFSETS_TOPIC
from penstock.transactions.events import AddPartitionsReceived
from penstock.transactions.responses import (
    BATCHED_ADD_PARTITIONS,
    partitions_of,
    refusal,
    transactions_of,
)
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTransaction,
)
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

MARKERS_SECONDS_MAX = 0.1
RETRY_SECONDS = 0.005


async def handle(broker: "Broker", request: AddPartitionsToTxnRequest, header: RequestHeader) -> Struct:
    """Ask the coordinators of all transactions, and join the answers in the order of the request."""
    if header.api_version < BATCHED_ADD_PARTITIONS:
        return await _ask_patiently(broker, request, header)
    shards = [broker.transactions.index_for(each.transactional_id) for each in request.transactions]
    owned: dict[int, list[AddPartitionsToTxnTransaction]] = {}
    for shard, transaction in zip(shards, request.transactions, strict=True):
        owned.setdefault(shard, []).append(transaction)
    asked = [
        _ask(broker, AddPartitionsToTxnRequest(transactions=tuple(own)), header) for own in owned.values()
    ]
    answers = await asyncio.gather(*asked)
    results = {
        shard: iter(_response(answer).results_by_transaction)
        for shard, answer in zip(owned, answers, strict=True)
    }
    return AddPartitionsToTxnResponse(results_by_transaction=tuple(next(results[shard]) for shard in shards))


async def _ask_patiently(
    broker: "Broker", request: AddPartitionsToTxnRequest, header: RequestHeader
) -> Struct:
    deadline = broker.clock.monotonic() + MARKERS_SECONDS_MAX
    while True:
        answer = await _ask(broker, request, header)
        if not _is_too_early(_response(answer)) or broker.clock.monotonic() >= deadline:
            return answer
        await asyncio.sleep(RETRY_SECONDS)


def _is_too_early(answer: AddPartitionsToTxnResponse) -> bool:
    return any(
        partition.partition_error_code == ErrorCode.CONCURRENT_TRANSACTIONS
        for topic in answer.results_by_topic_v3_and_below
        for partition in topic.results_by_partition
    )


def _ask(
    broker: "Broker", request: AddPartitionsToTxnRequest, header: RequestHeader
) -> "asyncio.Future[Struct]":
    """About transactions that all belong to one shard."""
    transactions = transactions_of(request, header.api_version)
    names = {name for transaction in transactions for name in partitions_of(transaction)}
    codes = [(name, _refusal(broker, name, header.api_version)) for name in names]
    refused = {name: code for name, code in codes if code is not ErrorCode.NONE}
    try:
        host = broker.transactions.host_for(transactions[0].transactional_id)
    except ApiError as error:
        answered: asyncio.Future[Struct] = broker.loop.create_future()
        answered.set_result(refusal(request, header.api_version, error.code))
        return answered
    return host.ask(request, header, AddPartitionsReceived, refused=refused)


def _refusal(broker: "Broker", name: TopicPartition, api_version: int) -> ErrorCode:
    """Why a partition cannot be in a transaction; brokers may add those that keep groups' offsets."""
    is_for_brokers = name.topic == OFFSETS_TOPIC and api_version >= BATCHED_ADD_PARTITIONS
    if name.topic in INTERNAL_TOPICS and not is_for_brokers:
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    topic = broker.image.topics.get(name.topic)
    is_known = topic is not None and 0 <= name.partition < len(topic.partitions)
    return ErrorCode.NONE if is_known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _response(answer: Struct) -> AddPartitionsToTxnResponse:
    if not isinstance(answer, AddPartitionsToTxnResponse):
        raise InvariantError(f"the coordinator answered AddPartitionsToTxn with {answer}")
    return answer
