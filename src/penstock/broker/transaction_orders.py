"""Carrying out the coordinator's orders: every partition of a decided transaction gets its marker.

The decision is committed when an order comes, so there is no way back: a partition that cannot take its
marker now is tried again until it does, or is gone, or says that the producer has moved on. At most one order
of a transactional id is being carried out. A shard that is loaded again repeats its orders, and a marker that
an older order left behind could end the next transaction of the same producer.
"""

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from penstock.broker.coordination.shard_host import ShardHost
from penstock.broker.transaction_markers import write_marker
from penstock.coordinator.outcome import Effect
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.model.ids import TopicPartition
from penstock.records.control import TransactionMarker
from penstock.transactions.effects import WriteMarkers
from penstock.transactions.events import MarkersWritten

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

RETRY_SECONDS_MIN = 0.02
RETRY_SECONDS_MAX = 5.0

NOTHING_LEFT_TO_DO = frozenset(
    {
        ErrorCode.NONE,
        # The producer, or another coordinator, has moved on: somebody else has ended the transaction there.
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.TRANSACTION_COORDINATOR_FENCED,
    }
)


class TransactionOrders:
    """Those of all shards of this broker."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        #: By transactional id.
        self._under_way: dict[str, asyncio.Task[Any]] = {}

    def __len__(self) -> int:
        return len(self._under_way)

    def carry_out(self, host: ShardHost, order: Effect) -> None:
        """Begin to; the shard hears of every partition that has its marker."""
        if not isinstance(order, WriteMarkers):
            raise InvariantError(f"{host} ordered {order}, which nobody can carry out")
        name = order.transactional_id
        former = self._under_way.get(name)
        if former is not None:
            former.cancel()
        task = self._broker.tasks.start(self._write_all(host, order), name=f"end transaction of {name}")
        self._under_way[name] = task
        task.add_done_callback(lambda ended: self._ended(name, ended))

    def _ended(self, name: str, task: "asyncio.Task[Any]") -> None:
        if self._under_way.get(name) is task:
            del self._under_way[name]

    async def _write_all(self, host: ShardHost, order: WriteMarkers) -> None:
        missing = list(order.partitions)
        delay = RETRY_SECONDS_MIN
        while missing and (host.shard is not None or host.is_loading):
            codes = await self._write(order, missing)
            done = tuple(name for name, code in codes.items() if self._is_over(name, code))
            if done:
                host.tell(MarkersWritten(order=order, partitions=done))
            missing = [name for name in missing if name not in done]
            if missing:
                self._report_trouble(order, {name: codes[name] for name in missing})
                await asyncio.sleep(delay)
                delay = min(delay * 2, RETRY_SECONDS_MAX)

    async def _write(
        self, order: WriteMarkers, names: list[TopicPartition]
    ) -> dict[TopicPartition, ErrorCode]:
        marker = TransactionMarker(
            is_commit=order.is_commit,
            coordinator_epoch=order.coordinator_epoch,
            producer_id=order.producer_id,
            producer_epoch=order.producer_epoch,
        )
        version = order.transaction_version
        written = [write_marker(self._broker, name, marker, version=version) for name in names]
        return dict(zip(names, await asyncio.gather(*written), strict=True))

    def _is_over(self, name: TopicPartition, code: ErrorCode) -> bool:
        if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return name.topic not in self._broker.image.topics  # deleted, with all that was written to it
        return code in NOTHING_LEFT_TO_DO

    def _report_trouble(self, order: WriteMarkers, codes: dict[TopicPartition, ErrorCode]) -> None:
        name, code = next(iter(codes.items()))
        logger.warning(
            "transaction cannot be completed yet",
            extra={
                "transactional_id": order.transactional_id,
                "missing_markers": len(codes),
                "partition": str(name),
                "reason": code.name,
            },
        )
