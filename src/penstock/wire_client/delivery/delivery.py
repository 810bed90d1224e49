"""Drives an outbox over connections: several requests under way to every leader, answers taken in order.

Whoever brings a batch waits only when the buffer is full; ``flush`` waits for everything. The cluster given
must be used by nobody else meanwhile, since answers on its connections belong to requests sent before.
"""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.model.ids import TopicPartition
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.connection import Connection
from penstock.wire_client.delivery.batch import Batch
from penstock.wire_client.delivery.outbox import Outbox, Shipment
from penstock.wire_client.delivery.settings import IN_FLIGHT_MAX, DeliverySettings
from penstock.wire_client.errors import BrokenConnectionError, UnreachableError
from penstock.wire_client.topics import find_leaders

PRODUCE_VERSION_MAX = 11
"""The first transaction protocol: from 12 on leaders add partitions, and an end raises the epoch."""

_ALL_IN_SYNC = -1
_IDLE_SECONDS_MAX = 0.05
_IDLE_SECONDS_MIN = 0.001


class _Sent(NamedTuple):
    """A request whose answer is still to come, and where it will come from."""

    shipment: Shipment
    connection: Connection


class Delivery:
    """One producer's way to the leaders of its partitions."""

    def __init__(self, cluster: Cluster, settings: DeliverySettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._outbox = Outbox(settings)
        self._leaders: Mapping[TopicPartition, int] = {}
        self._under_way: deque[_Sent] = deque()

    def send(self, batch: Batch) -> None:
        """Have a batch delivered; waits while too much is not acknowledged.

        A ``DeliveryError`` may be about a batch that was given earlier.
        """
        while self._outbox.is_full:
            self._step()
        self._outbox.add(batch, _now_ms())
        self._send_ready()

    def flush(self) -> None:
        """Wait until every batch is acknowledged; raise ``DeliveryError`` for one that is given up."""
        while not self._outbox.is_empty:
            self._step()

    def _step(self) -> None:
        """Send what can be sent, then take one answer or let a pause pass."""
        self._send_ready()
        if self._under_way:
            self._receive(self._under_way.popleft())
        elif not self._outbox.is_empty:
            self._pause()

    def _send_ready(self) -> None:
        if self._outbox.needs_leaders:
            self._find_leaders()
        sent = True
        while sent:
            sent = False
            for shipment in self._outbox.next_requests(self._leaders, self._free_nodes(), _now_ms()):
                sent = True
                self._send(shipment)

    def _free_nodes(self) -> list[int]:
        counts = Counter(sent.shipment.node_id for sent in self._under_way)
        return [
            node_id
            for node_id in sorted(self._cluster.nodes)
            if not counts[node_id]
            or (counts[node_id] < IN_FLIGHT_MAX and not self._cluster.wants_pause(node_id))
        ]

    def _find_leaders(self) -> None:
        try:
            self._leaders = find_leaders(self._cluster, self._outbox.topics)
        except (BrokenConnectionError, UnreachableError):
            return  # Asked again after a pause, for as long as the batches may be tried.
        self._outbox.needs_leaders = False

    def _send(self, shipment: Shipment) -> None:
        try:
            connection = self._cluster.broker(shipment.node_id)
        except (BrokenConnectionError, UnreachableError):
            self._outbox.lost(shipment, _now_ms())
            return
        sent = _Sent(shipment, connection)
        try:
            connection.send(ApiKey.PRODUCE, _request(shipment, self._settings), at_most=PRODUCE_VERSION_MAX)
        except BrokenConnectionError:
            self._lose(sent)
        else:
            self._under_way.append(sent)

    def _receive(self, sent: _Sent) -> None:
        try:
            answer = sent.connection.receive()
        except BrokenConnectionError:
            self._lose(sent)
        else:
            self._outbox.answered(sent.shipment, _codes(answer), _now_ms())

    def _lose(self, sent: _Sent) -> None:
        """With a connection everything goes that was under way on it."""
        lost = [sent, *(each for each in self._under_way if each.connection is sent.connection)]
        self._under_way = deque(each for each in self._under_way if each.connection is not sent.connection)
        for each in lost:
            self._outbox.lost(each.shipment, _now_ms())

    def _pause(self) -> None:
        wakes_at_ms = self._outbox.wakes_at_ms()
        if wakes_at_ms is None or self._outbox.needs_leaders:
            time.sleep(_IDLE_SECONDS_MAX)
        else:
            left = (wakes_at_ms - _now_ms()) / 1000
            time.sleep(min(max(left, _IDLE_SECONDS_MIN), _IDLE_SECONDS_MAX))


def _request(shipment: Shipment, settings: DeliverySettings) -> ProduceRequest:
    topics: dict[str, list[PartitionProduceData]] = defaultdict(list)
    for parcel in shipment.parcels:
        partition = parcel.batch.partition
        records = memoryview(parcel.batch.data)
        topics[partition.topic].append(PartitionProduceData(index=partition.partition, records=records))
    return ProduceRequest(
        transactional_id=settings.transactional_id,
        acks=_ALL_IN_SYNC,
        timeout_ms=settings.request_timeout_ms,
        topic_data=tuple(
            TopicProduceData(name=name, partition_data=tuple(data)) for name, data in topics.items()
        ),
    )


def _codes(answer: Any) -> dict[TopicPartition, int]:
    return {
        TopicPartition(topic.name, partition.index): partition.error_code
        for topic in answer.responses
        for partition in topic.partition_responses
    }


def _now_ms() -> int:
    return int(time.monotonic() * 1000)
