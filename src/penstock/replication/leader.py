"""The leader of one partition: which offsets every in-sync replica has on disk.

A record is committed when it is flushed on every member of the in-sync set (the ISR). The high watermark is
the first offset that is not: the smallest durable end offset among the ISR. It only moves forward; consumers
see nothing above it, and acks=all is answered when it passes.

``min.insync.replicas`` guards against a set that has shrunk too far. It counts only as far as there are
replicas at all: a partition with one replica cannot have two in sync (KIP-966).

The machine is fed facts and answers with orders; it does no I/O and holds no futures.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import LeaderEpoch, NodeId, Offset


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalLogFlushed:
    """The leader's own log is on disk up to here."""

    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerFlushed:
    """A follower has asked for records from here on, so all before are on its disk."""

    node_id: NodeId
    end_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IsrChanged:
    """The controller has committed another in-sync set."""

    isr: tuple[NodeId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MinInsyncReplicasChanged:
    """The topic's ``min.insync.replicas`` was set."""

    min_insync_replicas: int


Event: TypeAlias = LocalLogFlushed | FollowerFlushed | IsrChanged | MinInsyncReplicasChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishHighWatermark:
    """Tell waiting producers and consumers; everything below is on the disk of every in-sync replica."""

    offset: Offset


Effect: TypeAlias = PublishHighWatermark

_NOTHING: tuple[Effect, ...] = ()


class PartitionLeader:
    """One partition, as its leader sees it during one leader epoch."""

    __slots__ = (
        "_durable_ends",
        "_high_watermark",
        "_isr",
        "_leader_epoch",
        "_min_insync",
        "_node_id",
        "_replicas",
    )

    def __init__(
        self,
        *,
        node_id: NodeId,
        leader_epoch: LeaderEpoch,
        replicas: Collection[NodeId],
        isr: Collection[NodeId],
        min_insync_replicas: int,
        high_watermark: Offset,
    ) -> None:
        self._node_id = node_id
        self._leader_epoch = leader_epoch
        self._replicas = tuple(replicas)
        self._isr = frozenset(isr)
        self._min_insync = min_insync_replicas
        #: Moves only forward; ≤ every in-sync replica's durable end.
        self._high_watermark = high_watermark
        #: How far each replica's disk has it. Nobody is known to have more than the high watermark yet.
        self._durable_ends: dict[NodeId, int] = dict.fromkeys(self._replicas, high_watermark)
        self.validate()

    @property
    def leader_epoch(self) -> LeaderEpoch:
        """The epoch this leadership belongs to."""
        return self._leader_epoch

    @property
    def high_watermark(self) -> Offset:
        """Everything below it is on the disk of every in-sync replica."""
        return self._high_watermark

    @property
    def isr(self) -> tuple[NodeId, ...]:
        """The in-sync replicas, in the order of their ids."""
        return tuple(sorted(self._isr))

    @property
    def min_insync_replicas(self) -> int:
        """How many must be in sync for acks=all, never more than there are replicas."""
        return min(self._min_insync, len(self._replicas))

    def handle(self, event: Event) -> tuple[Effect, ...]:
        """Take in a fact; the only way this machine changes."""
        match event:
            case LocalLogFlushed():
                return self._replica_flushed(self._node_id, event.end_offset)
            case FollowerFlushed():
                return self._replica_flushed(event.node_id, event.end_offset)
            case IsrChanged():
                return self._isr_changed(event.isr)
            case MinInsyncReplicasChanged():
                self._min_insync = event.min_insync_replicas
                return _NOTHING
            case _:
                assert_never(event)

    def check_enough_replicas(self) -> None:
        """Raise NOT_ENOUGH_REPLICAS if acks=all must be refused; asked before anything is appended."""
        if len(self._isr) < self.min_insync_replicas:
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS, self._shortage())

    def check_still_enough_replicas(self) -> None:
        """Raise NOT_ENOUGH_REPLICAS_AFTER_APPEND if the set shrank too far while a batch was on its way."""
        if len(self._isr) < self.min_insync_replicas:
            raise ApiError(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, self._shortage())

    def validate(self) -> None:
        """Raise ``InvariantError`` unless everything that must always hold does."""
        if self._node_id not in self._isr:
            raise InvariantError(f"leader {self._node_id} is not in its own in-sync set {self.isr}")
        if not self._isr <= set(self._replicas):
            raise InvariantError(f"in-sync set {self.isr} is not among replicas {self._replicas}")
        if self._high_watermark > self._smallest_durable_end():
            raise InvariantError(f"high watermark {self._high_watermark} is above what the in-sync set has")

    def _replica_flushed(self, node_id: NodeId, end_offset: int) -> tuple[Effect, ...]:
        known = self._durable_ends.get(node_id)
        if known is None:
            raise InvariantError(f"node {node_id} is not among replicas {self._replicas}")
        if end_offset < known and node_id in self._isr:
            raise InvariantError(f"replica {node_id} had {known} on disk and now has {end_offset}")
        self._durable_ends[node_id] = end_offset
        return self._advance()

    def _isr_changed(self, isr: tuple[NodeId, ...]) -> tuple[Effect, ...]:
        self._isr = frozenset(isr)
        self.validate()
        return self._advance()

    def _advance(self) -> tuple[Effect, ...]:
        """Move the high watermark as far as the in-sync set allows."""
        reached = self._smallest_durable_end()
        if reached <= self._high_watermark:
            return _NOTHING
        self._high_watermark = Offset(reached)
        return (PublishHighWatermark(offset=self._high_watermark),)

    def _smallest_durable_end(self) -> int:
        return min(self._durable_ends[node_id] for node_id in self._isr)

    def _shortage(self) -> str:
        return (
            f"{len(self._isr)} replica(s) are in sync, min.insync.replicas asks for "
            f"{self.min_insync_replicas}."
        )
