"""Markers for partitions that other brokers lead: WriteTxnMarkers."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_error import PeerError
from penstock.broker.transaction_calls import CallKind, TransactionCalls
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.model.ids import NodeId, TopicPartition
from penstock.records.control import TransactionMarker
from penstock.transactions.responses import by_topic
from penstock.transactions.version import TransactionVersion
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

Codes: TypeAlias = Mapping[TopicPartition, ErrorCode]

VERSION = 2
SECONDS_MAX = 5.0
"""To wait for a leader; longer than it waits itself for its partitions to commit the markers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkersWanted:
    """How a transaction has ended, and which partitions of one leader are to know."""

    marker: TransactionMarker
    version: TransactionVersion
    partitions: tuple[TopicPartition, ...]


class RemoteMarkers:
    """Has other brokers write markers; transactions that end at the same moment share requests."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        kind: CallKind[MarkersWanted, Codes] = CallKind(
            name="ends of transactions",
            send=self._send,
            key_of=lambda wanted: wanted.marker.producer_id,
            size_of=lambda wanted: len(wanted.partitions),
        )
        self._calls = TransactionCalls(kind, loop=broker.loop, tasks=broker.tasks)

    async def write(self, node_id: NodeId, wanted: MarkersWanted) -> Codes:
        """What became of the marker on each partition; NETWORK_EXCEPTION if nobody knows.

        Cancelled, it takes the marker back unless it is on its way.
        """
        try:
            return await self._calls.ask(node_id, wanted)
        except PeerError as error:
            logger.debug("leader did not answer", extra={"peer": node_id, "reason": str(error)})
            return dict.fromkeys(wanted.partitions, ErrorCode.NETWORK_EXCEPTION)

    async def _send(self, node_id: NodeId, wanted: Sequence[MarkersWanted]) -> list[Codes]:
        request = WriteTxnMarkersRequest(markers=tuple(_writable(each) for each in wanted))
        response = await self._broker.peers.ask(
            node_id, request, VERSION, seconds_max=SECONDS_MAX, lane=Lane.TRANSACTIONS
        )
        if not isinstance(response, WriteTxnMarkersResponse):
            raise InvariantError(f"node {node_id} answered a coordinator with {response}")
        return [_codes(response, each) for each in wanted]


def _writable(wanted: MarkersWanted) -> WritableTxnMarker:
    marker = wanted.marker
    return WritableTxnMarker(
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
        transaction_result=marker.is_commit,
        coordinator_epoch=marker.coordinator_epoch,
        transaction_version=wanted.version,
        topics=tuple(
            WritableTxnMarkerTopic(name=topic, partition_indexes=indexes)
            for topic, indexes in by_topic(wanted.partitions)
        ),
    )


def _codes(response: WriteTxnMarkersResponse, wanted: MarkersWanted) -> Codes:
    said = {
        TopicPartition(topic.name, each.partition_index): ErrorCode(each.error_code)
        for result in response.markers
        if result.producer_id == wanted.marker.producer_id
        for topic in result.topics
        for each in topic.partitions
    }
    return {name: said.get(name, ErrorCode.UNKNOWN_SERVER_ERROR) for name in wanted.partitions}
