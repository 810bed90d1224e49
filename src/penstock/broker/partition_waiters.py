"""Everybody who waits for one partition to move."""

from typing import TYPE_CHECKING, Protocol

from penstock.broker.offset_waiters import OffsetWaiters
from penstock.broker.partition_role import ReplicaWatcher
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.replication.leader import PartitionLeader

if TYPE_CHECKING:
    from penstock.broker.partition import Partition


class FetchWaiter(Protocol):
    """A consumer's fetch that has not got enough yet."""

    def wake(self) -> None:
        """The high watermark has moved, or nothing is as it was."""


class PartitionWaiters:
    """Producers, coordinators, consumers, followers, and those who delete."""

    __slots__ = ("commit", "fetchers", "flush", "replication", "trim", "watchers")

    def __init__(self) -> None:
        #: With acks=1: for the flush here.
        self.flush = OffsetWaiters()
        #: With acks=all: for the high watermark, unless too few replicas are left.
        self.replication = OffsetWaiters()
        #: Others, who wait for the high watermark until there are enough replicas again.
        self.commit = OffsetWaiters()
        #: For the log's beginning on all replicas.
        self.trim = OffsetWaiters()
        self.fetchers: dict[FetchWaiter, None] = {}
        self.watchers: dict[ReplicaWatcher, None] = {}

    def high_watermark_moved(self, partition: "Partition", offset: int) -> None:
        """Everything below ``offset`` is committed."""
        self.replication.pass_offset(offset)
        self.commit.pass_offset(offset)
        for waiter in list(self.fetchers):
            waiter.wake()
        self.tell_news(partition)

    def tell_news(self, partition: "Partition") -> None:
        """Followers' brokers should learn of a high watermark, or a beginning, that moved."""
        for watcher in self.watchers:
            watcher.has_news(partition)

    def tell_more(self, partition: "Partition") -> None:
        """Followers' brokers may have more of the log."""
        for watcher in self.watchers:
            watcher.has_more(partition)

    def reject_appends(self, code: ErrorCode) -> None:
        """Nobody here knows any more what becomes of what was appended."""
        self.flush.fail(code)
        self.replication.fail(code)
        self.commit.fail(code)

    def reject_starved(self, leader: PartitionLeader) -> None:
        """If too few replicas are left, producers need not wait until they come back: they may ask again."""
        if not len(self.replication):
            return
        try:
            leader.check_still_enough_replicas()
        except ApiError as error:
            self.replication.fail(error.code)

    def wake_everybody(self, partition: "Partition") -> None:
        """Nothing is as it was: whoever reads must look again."""
        for waiter in list(self.fetchers):
            waiter.wake()
        for watcher in list(self.watchers):
            watcher.has_more(partition)
