"""Markers: the ends of transactions, written into the logs of the partitions they touched.

A marker is judged by what the log knows of its producer, appended, and reported when every in-sync replica
has it: from then on it cannot be lost, and readers of committed records see what it ended.
"""

import asyncio
from typing import TYPE_CHECKING

from penstock.broker.coordination.partition_lookup import partition_image
from penstock.broker.partition import Partition
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import TopicPartition
from penstock.model.names import OFFSETS_TOPIC
from penstock.records.batch import read_header
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.transactions.verification import MarkerVerdict, judge_marker
from penstock.transactions.version import TransactionVersion

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


class Committed:
    """Waits for what was appended to be committed, or lost."""

    __slots__ = ("future",)

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.future: asyncio.Future[ErrorCode] = loop.create_future()

    def settle(self, code: ErrorCode) -> None:
        """It is known; whoever asked may be gone by now."""
        if not self.future.done():
            self.future.set_result(code)


def write_marker(
    broker: "Broker", name: TopicPartition, marker: TransactionMarker, *, version: TransactionVersion
) -> "asyncio.Future[ErrorCode]":
    """Append a marker now; the future tells when it is committed, or why it is not."""
    committed = Committed(broker.loop)
    try:
        partition = _led_here(broker, name)
        last_offset = _append(broker, partition, marker, version)
    except ApiError as error:
        committed.settle(error.code)
    else:
        partition.await_commit(last_offset, committed)
    return committed.future


def _led_here(broker: "Broker", name: TopicPartition) -> Partition:
    """The partition, if this broker leads it and may write to it; NOT_LEADER_OR_FOLLOWER if another does."""
    known = partition_image(broker.image, name)
    if known is not None and broker.node_id not in known.replicas:
        raise ApiError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    partition = broker.replicas.by_name(*name)
    partition.check_is_here()
    partition.leader.check_enough_replicas()
    return partition


def _append(
    broker: "Broker", partition: Partition, marker: TransactionMarker, version: TransactionVersion
) -> int:
    """The offset that must be committed for the marker to be."""
    if partition.log.refusal is not None:
        # What a log knows of its producers then includes markers that it could not write.
        raise ApiError(ErrorCode.KAFKA_STORAGE_ERROR, f"{partition}: {partition.log.refusal}")
    producer = partition.log.producers.get(marker.producer_id)
    known_epoch = None if producer is None else producer.epoch
    verdict = judge_marker(marker_epoch=marker.producer_epoch, known_epoch=known_epoch, version=version)
    if verdict is MarkerVerdict.ALREADY_WRITTEN:
        return partition.log.log_end_offset - 1
    if partition.topic == OFFSETS_TOPIC:
        # The group coordinator learns what its pending offsets have come to, in the order of the log.
        last_offset = broker.groups.append_marker(partition.index, marker).last_offset
    elif partition.is_internal:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"No transaction writes to {partition.topic}.")
    else:
        now = broker.clock.wall_ms()
        batch = build_transaction_marker(marker, timestamp=now)
        last_offset = partition.append(batch, read_header(batch), now, is_client=False).last_offset
    if partition.verifications is not None:
        partition.verifications.end_by_marker(marker.producer_id, marker.producer_epoch, version)
    return last_offset
