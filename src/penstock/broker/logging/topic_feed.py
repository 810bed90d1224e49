"""Feeds a broker's entries to the topic ``__penstock_logs``, about once a second.

It prefers a partition that this broker leads, where an append is all there is to do. Otherwise it sends to a
leader, in a lane of its own, with acks=1. Whatever goes wrong, entries wait for the next try, longer each
time, and are dropped when the queue is full. Everything here happens in the context of ``feeding``, so that
what a failing topic makes brokers say is not more for the topic to take.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from penstock.broker.coordination.internal_topic import ensure_exists
from penstock.broker.logging.bounded_queue import BoundedQueue
from penstock.broker.logging.entry import LogEntry
from penstock.broker.logging.feeding import feeding
from penstock.broker.logging.log_settings import log_topic
from penstock.broker.partition import Partition
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_error import PeerError
from penstock.metadata.topic_image import TopicImage
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, StorageError
from penstock.model.names import LOGS_TOPIC
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.record import NewRecord
from penstock.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 1.0
LOOK_SECONDS = 0.25
BATCH_ENTRIES_MAX = 500
"""So many waiting are sent at once, however short they have waited."""

BATCH_BYTES_MAX = 256 * 1024
QUICK_RETRIES = 3
"""Which come as fast as ever: by then a leader that died has a successor."""

RETRY_SECONDS_MAX = 15.0
ANSWER_SECONDS_MAX = 3.0
PRODUCE_VERSION = 9
LEADER_ACKS = 1


class TopicFeed:
    """Of one broker that is ready; one task."""

    def __init__(self, broker: "Broker", queue: BoundedQueue, *, on_tick: Callable[[], None]) -> None:
        self._broker = broker
        self._queue = queue
        #: Called before each try.
        self._on_tick = on_tick
        self._failures = 0

    async def run(self) -> None:
        """Feed, for ever."""
        while True:
            await self._wait()
            self._on_tick()
            with feeding():
                await self.push()

    async def push(self) -> None:
        """Send what waits; what cannot be sent goes on to wait."""
        while entries := self._queue.take(count_max=BATCH_ENTRIES_MAX, bytes_max=BATCH_BYTES_MAX):
            try:
                await self._send(entries)
            except (ApiError, PeerError, StorageError) as error:
                self._queue.put_back(entries)
                self._fail(str(error))
                return
            except BaseException:
                self._queue.put_back(entries)
                raise
            self._succeed()

    async def _wait(self) -> None:
        """Until enough time has passed, or enough entries wait; after failures only time counts."""
        patience = min(max(0, self._failures - QUICK_RETRIES), 10)
        seconds = min(FLUSH_SECONDS * 2.0**patience, RETRY_SECONDS_MAX)
        ends_at = self._broker.clock.monotonic() + seconds
        while self._broker.clock.monotonic() < ends_at:
            if not self._failures and len(self._queue) >= BATCH_ENTRIES_MAX:
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def _send(self, entries: Sequence[LogEntry]) -> None:
        await ensure_exists(self._broker, log_topic(self._broker.config))
        topic = self._broker.image.topics.get(LOGS_TOPIC)
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{LOGS_TOPIC} is not known here yet.")
        batch = self._batch(entries)
        led = [each for each in self._broker.replicas.of_topic(LOGS_TOPIC) if each.is_leader]
        if led:
            self._append(led[0], batch)
        else:
            await self._ask(topic, batch)

    def _batch(self, entries: Sequence[LogEntry]) -> bytearray:
        node_id = self._broker.node_id
        records = [_record(entry, node_id) for entry in entries]
        return build_batch(records, codec=Codec.LZ4)

    def _append(self, partition: Partition, batch: bytearray) -> None:
        self._broker.check_writable()
        partition.append(batch, read_header(batch), self._broker.clock.wall_ms(), is_client=False)

    async def _ask(self, topic: TopicImage, batch: bytearray) -> None:
        index = self._index(topic)
        data = PartitionProduceData(index=index, records=batch)
        request = ProduceRequest(
            acks=LEADER_ACKS,
            timeout_ms=int(ANSWER_SECONDS_MAX * 1000),
            topic_data=(TopicProduceData(name=LOGS_TOPIC, partition_data=(data,)),),
        )
        response: ProduceResponse = await self._broker.peers.ask(
            topic.partitions[index].leader,
            request,
            PRODUCE_VERSION,
            seconds_max=ANSWER_SECONDS_MAX,
            lane=Lane.LOGS,
        )
        code = ErrorCode(response.responses[0].partition_responses[0].error_code)
        if code is not ErrorCode.NONE:
            raise ApiError(code)

    def _index(self, topic: TopicImage) -> int:
        """A partition that somebody leads; brokers spread over them by their numbers."""
        count = len(topic.partitions)
        wished = (self._broker.node_id + number for number in range(count))
        for index in (number % count for number in wished):
            if topic.partitions[index].has_leader:
                return index
        raise ApiError(ErrorCode.LEADER_NOT_AVAILABLE, f"Nobody leads a partition of {LOGS_TOPIC}.")

    def _fail(self, reason: str) -> None:
        if not self._failures:
            logger.warning("entries cannot be fed to the log topic", extra={"reason": reason})
        self._failures += 1

    def _succeed(self) -> None:
        if self._failures:
            logger.info("entries are fed to the log topic again", extra={"failures": self._failures})
        self._failures = 0


def _record(entry: LogEntry, node_id: int) -> NewRecord:
    """The entry, with headers by which a reader passes over what it does not want."""
    return NewRecord(
        key=str(node_id).encode(),
        value=entry.line(node_id),
        timestamp=entry.time_ms,
        headers=(
            ("level", entry.level.encode()),
            ("component", entry.component.encode()),
            ("event", entry.event.encode()),
            ("node", str(node_id).encode()),
        ),
    )
