"""Ending transactions that their producers do not end.

One that a coordinator knows is aborted through it: an administrator asks for the transactional id as a new
producer would, which fences the old one and aborts what it left open. One that hangs has no coordinator; its
partition is told directly.
"""

from typing import Any, NamedTuple

from penstock.cli.failure import CommandFailed
from penstock.cli.txn.description import Transaction, describe_transactions
from penstock.cli.txn.producers import OpenTransaction, open_transactions, transactions_of, waits_for
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.coordinators import Coordinated, ask_coordinator
from penstock.wire_client.errors import RefusedError, check
from penstock.wire_client.topics import ask_leaders

_ABORT = False
"""How a marker says that the transaction did not happen."""


class Abortion(NamedTuple):
    """What became of the transaction of one id: nothing, if none was open."""

    transactional_id: str
    is_aborted: bool
    state_before: str

    def as_json(self) -> dict[str, Any]:
        """The fields under their names."""
        outcome = "aborted" if self.is_aborted else "unchanged"
        return {
            "transactional_id": self.transactional_id,
            "outcome": outcome,
            "state_before": self.state_before,
        }


def abort_transaction(cluster: Cluster, transactional_id: str) -> Abortion:
    """Abort what is open under the id, and fence its producer; an id without open transaction is left alone.

    Asking for an id makes it, so it is looked at first.
    """
    found = describe_transactions(cluster, [transactional_id]).get(transactional_id)
    if found is None:
        raise RefusedError(
            ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, doing=f"abort the transaction of {transactional_id!r}"
        )
    if found.state != "Ongoing":
        return Abortion(transactional_id, is_aborted=False, state_before=found.state)
    _fence(cluster, found)
    return Abortion(transactional_id, is_aborted=True, state_before=found.state)


def abort_hanging(cluster: Cluster, partition: TopicPartition, start_offset: int) -> OpenTransaction:
    """Write the end of a transaction that hangs into its partition; one that is alive is refused."""
    found = _find_open(cluster, partition, start_offset)
    for transaction in transactions_of(cluster, [found.producer_id])[found.producer_id]:
        if waits_for(transaction, found):
            name = transaction.transactional_id
            raise CommandFailed(
                f"The transaction in {partition} does not hang: {name!r} is {transaction.state} in it.",
                hint=f"Abort it with `penstock txn abort {name}`.",
            )
    answers = ask_leaders(cluster, [partition], lambda broker, _: {partition: _mark(broker, found)})
    check(answers[partition].error_code, doing=f"abort the transaction in {partition}")
    return found


def _fence(cluster: Cluster, transaction: Transaction) -> None:
    """Answered when the old transaction is completely aborted; until then the coordinator asks to wait."""
    name = transaction.transactional_id
    request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=transaction.timeout_ms)
    answer = ask_coordinator(
        cluster,
        Coordinated.TRANSACTION,
        name,
        lambda broker: broker.call(ApiKey.INIT_PRODUCER_ID, request),
    )
    check(answer.error_code, doing=f"abort the transaction of {name!r}")


def _find_open(cluster: Cluster, partition: TopicPartition, start_offset: int) -> OpenTransaction:
    opened = open_transactions(cluster, [partition])
    for candidate in opened:
        if candidate.start_offset == start_offset:
            return candidate
    starts = ", ".join(str(candidate.start_offset) for candidate in opened)
    raise CommandFailed(
        f"No transaction is open in {partition} since offset {start_offset}.",
        hint=f"Open there are those since {starts}." if starts else "None is open there at all.",
    )


def _mark(broker: Connection, found: OpenTransaction) -> WritableTxnMarkerPartitionResult:
    topic = WritableTxnMarkerTopic(name=found.topic, partition_indexes=(found.partition,))
    marker = WritableTxnMarker(
        producer_id=found.producer_id,
        producer_epoch=found.producer_epoch,
        transaction_result=_ABORT,
        topics=(topic,),
        # Before the first end of a transaction its partition knows of no coordinator and tells -1. Zero is
        # not above the epoch of any coordinator that may write there later.
        coordinator_epoch=max(0, found.coordinator_epoch),
    )
    answer = broker.call(ApiKey.WRITE_TXN_MARKERS, WriteTxnMarkersRequest(markers=(marker,)))
    result: WritableTxnMarkerPartitionResult = answer.markers[0].topics[0].partitions[0]
    return result
