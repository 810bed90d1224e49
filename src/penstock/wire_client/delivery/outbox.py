"""All that a producer has not delivered yet, sorted by partition: a machine without sockets or a clock.

``next_requests`` says what to send to whom, ``answered`` and ``lost`` take down what became of it. What fits
together travels together: one batch of each partition that a broker leads, since a request may hold only one
for each.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import TopicPartition
from penstock.wire_client.delivery.batch import Batch
from penstock.wire_client.delivery.lane import Lane, Parcel
from penstock.wire_client.delivery.settings import DeliverySettings


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shipment:
    """The batches of one request to one broker."""

    node_id: int
    parcels: tuple[Parcel, ...]


class Outbox:
    """The lanes of one producer."""

    def __init__(self, settings: DeliverySettings) -> None:
        self._settings = settings
        self._lanes: dict[TopicPartition, Lane] = {}
        self._bytes = 0
        self.needs_leaders = True
        """Whether it should be asked anew who leads what, before anything else is sent."""

    @property
    def is_empty(self) -> bool:
        """Whether everything is acknowledged."""
        return not self._bytes

    @property
    def is_full(self) -> bool:
        """Whether so much is not acknowledged that nothing more should be added."""
        return self._bytes >= self._settings.buffer_bytes_max

    @property
    def topics(self) -> set[str]:
        """The topics that something waits for."""
        return {partition.topic for partition, lane in self._lanes.items() if not lane.is_empty}

    def add(self, batch: Batch, now_ms: int) -> None:
        """One more batch, behind those of its partition."""
        lane = self._lanes.get(batch.partition)
        if lane is None:
            lane = self._lanes[batch.partition] = Lane(self._settings)
            self.needs_leaders = True
        lane.add(batch, now_ms)
        self._bytes += len(batch.data)

    def next_requests(
        self, leaders: Mapping[TopicPartition, int], free: Sequence[int], now_ms: int
    ) -> Iterator[Shipment]:
        """What to send to the brokers ``free``, one request each; what it names counts as sent."""
        ready: dict[int, list[Lane]] = {node_id: [] for node_id in free}
        for partition, lane in self._lanes.items():
            lane.check_deadline(now_ms)
            if lane.ready(now_ms) is None:
                continue
            leader = leaders.get(partition, -1)
            if leader < 0:
                self.needs_leaders = True
            elif leader in ready:
                ready[leader].append(lane)
        for node_id, lanes in ready.items():
            if parcels := tuple(self._fill(lanes, now_ms)):
                yield Shipment(node_id=node_id, parcels=parcels)

    def answered(self, shipment: Shipment, codes: Mapping[TopicPartition, int], now_ms: int) -> None:
        """A broker said for each partition what became of its batch; what it left out is lost."""
        for parcel in shipment.parcels:
            partition = parcel.batch.partition
            code = codes.get(partition, ErrorCode.NETWORK_EXCEPTION)
            if self._lanes[partition].answered(parcel, code, now_ms):
                self._bytes -= len(parcel.batch.data)
            else:
                self.needs_leaders = True

    def lost(self, shipment: Shipment, now_ms: int) -> None:
        """The connection broke: nobody knows whether the batches arrived."""
        self.answered(shipment, {}, now_ms)

    def wakes_at_ms(self) -> int | None:
        """When the first pause ends."""
        pauses = [at for lane in self._lanes.values() if (at := lane.wakes_at_ms()) is not None]
        return min(pauses, default=None)

    def _fill(self, lanes: Sequence[Lane], now_ms: int) -> Iterator[Parcel]:
        size = 0
        for lane in lanes:
            batch = lane.ready(now_ms)
            if batch is None or (size and size + len(batch.data) > self._settings.request_bytes_max):
                continue
            size += len(batch.data)
            yield lane.take()
