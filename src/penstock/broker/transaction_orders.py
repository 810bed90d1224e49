"""Carrying out the coordinator's orders: every partition of a decided transaction gets its marker.

The decision is committed when an order comes, so there is no way back: a partition that cannot take its
marker now is tried again until it does, or is gone, or says that the producer has moved on. Who leads it is
looked up for every try. Partitions of different leaders do not wait for each other.

At most one order of a transactional id is being carried out. A shard that is loaded again repeats its orders,
and a marker that an older order left behind could end the next transaction of the same producer. When this
broker stops being the coordinator its orders stop, too: whoever is it next repeats them, and its markers, of
a higher coordinator epoch, fence those that are still on their way.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock.broker.coordination.partition_lookup import partition_image
from penstock.broker.coordination.shard_host import ShardHost
from penstock.broker.transaction_markers import write_marker
from penstock.broker.transaction_remote_markers import Codes, MarkersWanted, RemoteMarkers
from penstock.coordinator.outcome import Effect
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import InvariantError
from penstock.model.ids import NodeId, TopicPartition
from penstock.records.control import TransactionMarker
from penstock.transactions.effects import WriteMarkers
from penstock.transactions.events import MarkersWritten

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

logger = logging.getLogger(__name__)

RETRY_SECONDS_MIN = 0.02
RETRY_SECONDS_MAX = 1.0
"""Whoever wants the transactional id next waits for this; tries of many transactions share requests."""
TROUBLE_SECONDS = 0.3
"""Leaders come and go: only tries that are this far apart are worth a warning."""

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
        self._remote = RemoteMarkers(broker)
        #: By transactional id.
        self._under_way: dict[str, tuple[ShardHost, asyncio.Task[Any]]] = {}

    def __len__(self) -> int:
        return len(self._under_way)

    def carry_out(self, host: ShardHost, order: Effect) -> None:
        """Begin to; the shard hears of every partition that has its marker."""
        if not isinstance(order, WriteMarkers):
            raise InvariantError(f"{host} ordered {order}, which nobody can carry out")
        name = order.transactional_id
        if name in self._under_way:
            self._under_way[name][1].cancel()
        written = self._write_all(host, order, order.partitions, RETRY_SECONDS_MIN)
        task = self._broker.tasks.start(written, name=f"end transaction of {name}")
        self._under_way[name] = (host, task)
        task.add_done_callback(lambda ended: self._ended(name, ended))

    def stop(self, host: ShardHost) -> None:
        """The host has left: somebody else will give its orders again."""
        for owner, task in self._under_way.values():
            if owner is host:
                task.cancel()

    def _ended(self, name: str, task: "asyncio.Task[Any]") -> None:
        if name in self._under_way and self._under_way[name][1] is task:
            del self._under_way[name]

    async def _write_all(
        self, host: ShardHost, order: WriteMarkers, names: Sequence[TopicPartition], delay: float
    ) -> None:
        """Have these partitions marked, however long it takes, beginning with a try now."""
        while names and host.is_in_office:
            by_leader = self._by_leader(names)
            if len(by_leader) > 1:
                async with asyncio.TaskGroup() as group:
                    for part in by_leader.values():
                        group.create_task(self._write_all(host, order, part, delay))
                return
            (leader,) = by_leader
            codes = await self._write(order, names, leader)
            is_over = {name: self._is_over(name, codes[name]) for name in names}
            if any(is_over.values()):
                done = tuple(name for name in names if is_over[name])
                host.tell(MarkersWritten(order=order, partitions=done))
            names = [name for name in names if not is_over[name]]
            if names:
                _report_trouble(order, {name: codes[name] for name in names}, delay)
                await asyncio.sleep(delay)
                delay = min(delay * 2, RETRY_SECONDS_MAX)

    def _by_leader(self, names: Sequence[TopicPartition]) -> dict[NodeId | None, list[TopicPartition]]:
        """Who leads partitions now; None for those that do not exist."""
        parts: dict[NodeId | None, list[TopicPartition]] = {}
        for name in names:
            known = partition_image(self._broker.image, name)
            parts.setdefault(None if known is None else known.leader, []).append(name)
        return parts

    async def _write(
        self, order: WriteMarkers, names: Sequence[TopicPartition], leader: NodeId | None
    ) -> Codes:
        if leader is None:
            return dict.fromkeys(names, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if leader < 0:
            return dict.fromkeys(names, ErrorCode.LEADER_NOT_AVAILABLE)
        marker = TransactionMarker(
            is_commit=order.is_commit,
            coordinator_epoch=order.coordinator_epoch,
            producer_id=order.producer_id,
            producer_epoch=order.producer_epoch,
        )
        version = order.transaction_version
        if leader == self._broker.node_id:
            written = [write_marker(self._broker, name, marker, version=version) for name in names]
            return dict(zip(names, await asyncio.gather(*written), strict=True))
        wanted = MarkersWanted(marker=marker, version=version, partitions=tuple(names))
        return await self._remote.write(leader, wanted)

    def _is_over(self, name: TopicPartition, code: ErrorCode) -> bool:
        if code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            # Deleted, with all that was written to it; unless the leader has only not heard of it yet.
            return partition_image(self._broker.image, name) is None
        return code in NOTHING_LEFT_TO_DO


def _report_trouble(order: WriteMarkers, codes: Mapping[TopicPartition, ErrorCode], delay: float) -> None:
    name, code = next(iter(codes.items()))
    logger.log(
        logging.WARNING if delay >= TROUBLE_SECONDS else logging.DEBUG,
        "transaction cannot be completed yet",
        extra={
            "transactional_id": order.transactional_id,
            "missing_markers": len(codes),
            "partition": str(name),
            "reason": code.name,
        },
    )
