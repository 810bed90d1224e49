"""Ending a transaction that hangs: it has no coordinator, so its partition is told directly.

One that a coordinator knows is aborted through it: see ``penstock.wire_client.transaction_abort``.
"""

from penstock.cli.failure import CommandFailed
from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import check
from penstock.wire_client.open_transactions import (
    OpenTransaction,
    open_transactions,
    transactions_of,
    waits_for,
)
from penstock.wire_client.topics import ask_leaders

_ABORT = False
"""How a marker says that the transaction did not happen."""


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
