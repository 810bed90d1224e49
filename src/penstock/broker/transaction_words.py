"""The word of a transaction coordinator on another broker, by AddPartitionsToTxn as leaders send it."""

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_error import PeerError
from penstock.broker.transaction_calls import CallKind, TransactionCalls
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.model.ids import NodeId, TopicPartition
from penstock.transactions.responses import partitions_of
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTransaction,
)
from penstock.wire.schema import Struct

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

Words: TypeAlias = Mapping[TopicPartition, ErrorCode]

VERSION = 5
SECONDS_MAX = 3.0
"""To wait for another broker; it may be gone, and another one be the coordinator by now."""


class RemoteWords:
    """Asks coordinators on other brokers; transactions of one coordinator share requests."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        kind: CallKind[AddPartitionsToTxnTransaction, Words] = CallKind(
            name="partitions of transactions",
            send=self._send,
            key_of=lambda transaction: transaction.transactional_id,
            size_of=lambda transaction: len(partitions_of(transaction)),
        )
        self._calls = TransactionCalls(kind, loop=broker.loop, tasks=broker.tasks)

    async def ask(self, node_id: NodeId, transaction: AddPartitionsToTxnTransaction) -> Words:
        """What that broker's coordinator says; NETWORK_EXCEPTION if it says nothing."""
        try:
            return await self._calls.ask(node_id, transaction)
        except PeerError as error:
            extra = {"peer": node_id, "transactional_id": transaction.transactional_id, "reason": str(error)}
            logger.debug("transaction coordinator did not answer", extra=extra)
            return dict.fromkeys(partitions_of(transaction), ErrorCode.NETWORK_EXCEPTION)

    async def _send(
        self, node_id: NodeId, transactions: Sequence[AddPartitionsToTxnTransaction]
    ) -> list[Words]:
        request = AddPartitionsToTxnRequest(transactions=tuple(transactions))
        response = await self._broker.peers.ask(
            node_id, request, VERSION, seconds_max=SECONDS_MAX, lane=Lane.TRANSACTIONS
        )
        return [words_in(response, transaction) for transaction in transactions]


def words_in(response: Struct, transaction: AddPartitionsToTxnTransaction) -> Words:
    """What an answer says of every partition of a transaction."""
    if not isinstance(response, AddPartitionsToTxnResponse):
        raise InvariantError(f"the coordinator answered a leader with {response}")
    said = {
        TopicPartition(topic.name, each.partition_index): ErrorCode(each.partition_error_code)
        for result in response.results_by_transaction
        if result.transactional_id == transaction.transactional_id
        for topic in result.topic_results
        for each in topic.results_by_partition
    }
    unsaid = ErrorCode(response.error_code) if response.error_code else ErrorCode.COORDINATOR_NOT_AVAILABLE
    return {name: said.get(name, unsaid) for name in partitions_of(transaction)}
