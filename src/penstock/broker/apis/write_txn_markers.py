"""WriteTxnMarkers (key 27): partitions are told how a transaction ended, by its coordinator or by somebody
who ends one that hangs.

Versions 1 and 2.

Behaviour
    - Each partition answers when its marker is on every in-sync replica; one that takes too long gets
      REQUEST_TIMED_OUT, so that the others' answers need not wait for it.
    - NOT_LEADER_OR_FOLLOWER from whoever does not lead the partition; COORDINATOR_LOAD_IN_PROGRESS from a
      partition that keeps groups' offsets while its groups are being loaded.
    - A producer epoch below the log's is INVALID_PRODUCER_EPOCH, a coordinator epoch below it
      TRANSACTION_COORDINATOR_FENCED. A marker of the second protocol must raise the epoch; one that does not
      has been written before, which is success.

Version notes
    1 flexible from the start; 2 which protocol the transaction was of (KIP-1228).
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.broker.transaction_markers import write_marker
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.records.control import TransactionMarker
from penstock.transactions.version import TransactionVersion
from penstock.wire.framing import RequestHeader
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopic,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


COMMIT_SECONDS_MAX = 3.0
"""How long partitions have to commit a marker before its sender is told to come again."""


async def handle(
    broker: "Broker", request: WriteTxnMarkersRequest, header: RequestHeader
) -> WriteTxnMarkersResponse:
    """Append all markers, then wait for them together."""
    writing = [(marker, _write(broker, marker)) for marker in request.markers]
    if pending := [future for _, codes in writing for future in codes.values() if not future.done()]:
        await asyncio.wait(pending, timeout=COMMIT_SECONDS_MAX)
    return WriteTxnMarkersResponse(
        markers=tuple(
            WritableTxnMarkerResult(
                producer_id=marker.producer_id,
                topics=tuple(_answer(topic, codes) for topic in marker.topics),
            )
            for marker, codes in writing
        )
    )


def _write(broker: "Broker", wanted: WritableTxnMarker) -> "dict[TopicPartition, asyncio.Future[ErrorCode]]":
    names = [
        TopicPartition(topic.name, index) for topic in wanted.topics for index in topic.partition_indexes
    ]
    if wanted.producer_id < 0 or wanted.producer_epoch < 0:
        return {name: _refused(broker) for name in names}
    marker = TransactionMarker(
        is_commit=wanted.transaction_result,
        coordinator_epoch=wanted.coordinator_epoch,
        producer_id=wanted.producer_id,
        producer_epoch=wanted.producer_epoch,
    )
    known_max = max(TransactionVersion)
    version = TransactionVersion(max(0, min(wanted.transaction_version, known_max)))
    return {name: write_marker(broker, name, marker, version=version) for name in dict.fromkeys(names)}


def _refused(broker: "Broker") -> "asyncio.Future[ErrorCode]":
    refused: asyncio.Future[ErrorCode] = broker.loop.create_future()
    refused.set_result(ErrorCode.INVALID_REQUEST)
    return refused


def _answer(
    topic: WritableTxnMarkerTopic, codes: "dict[TopicPartition, asyncio.Future[ErrorCode]]"
) -> WritableTxnMarkerTopicResult:
    return WritableTxnMarkerTopicResult(
        name=topic.name,
        partitions=tuple(
            WritableTxnMarkerPartitionResult(
                partition_index=index, error_code=_code(codes[TopicPartition(topic.name, index)])
            )
            for index in topic.partition_indexes
        ),
    )


def _code(written: "asyncio.Future[ErrorCode]") -> ErrorCode:
    return written.result() if written.done() else ErrorCode.REQUEST_TIMED_OUT
