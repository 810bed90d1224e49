"""What one follower's broker asks of this leader's broker, from request to request (KIP-227).

The session watches its partitions all the time, not only while a request waits: so a request costs what has
changed since the last one, however many partitions there are. An entry *stands* from the request that named
it until it is answered; from then on the follower has something to do, and asks again when it has done it.

A follower that stands where the log ends is in sync without saying so again. What the leader knows of it must
not grow old meanwhile, so now and then all who stand are counted as if they had fetched (``keep_fresh``).
"""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.broker.fetch_sessions import (
    EPOCH_MAX,
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    FetchPosition,
    PartitionKey,
)
from penstock.broker.partition import Partition
from penstock.broker.partition_read import PartitionRead
from penstock.broker.replicas import Replicas
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.model.ids import Millis, NodeId
from penstock.replication.divergence import diverging_epoch
from penstock.replication.leader_events import FollowerFetched

if TYPE_CHECKING:
    from penstock.broker.replication.replica_fetch import ReplicaFetch

FRESHNESS = 4
"""What is known of followers is at most so much older than they are, as a part of the lag they may have."""


@dataclass(slots=True, eq=False)
class Entry:
    """One partition of a session."""

    key: PartitionKey
    partition: Partition
    position: FetchPosition
    #: Whether it was asked for and not answered since.
    is_standing: bool = True
    #: Whether the role has been told of this fetch.
    is_counted: bool = False
    #: What the follower was told last; None before the first time.
    high_watermark: int | None = None
    log_start_offset: int | None = None


class ReplicaSession:
    """The standing request of one follower's broker."""

    def __init__(self, node_id: NodeId, session_id: int) -> None:
        self.node_id = node_id
        self.session_id = session_id
        #: Of the process that asks.
        self.broker_epoch = -1
        self.next_epoch = 1
        #: When a request came last.
        self.heard_at = Millis(0)
        self._fresh_at = Millis(0)
        #: The request that waits for something to tell, if one does.
        self.waiting: ReplicaFetch | None = None
        self._entries: dict[PartitionKey, Entry] = {}
        self._by_partition: dict[Partition, Entry] = {}
        #: To be looked at; in the order in which they became due, so that everybody has a turn.
        self._due: dict[Entry, None] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def advance(self) -> None:
        """Count the request just taken in; the epoch after the largest is 1, since 0 opens a session."""
        self.next_epoch = 1 if self.next_epoch == EPOCH_MAX else self.next_epoch + 1

    def name(
        self, replicas: Replicas, named: Iterable[tuple[PartitionKey, FetchPosition]]
    ) -> list[PartitionRead]:
        """Take in positions; answers those that are asked for in vain."""
        refused = []
        for key, position in named:
            try:
                partition = replicas.by_id(key.topic_id, key.partition)
            except ApiError as error:
                self.forget([key])
                refused.append(PartitionRead(key, error.code))
            else:
                self._stand(key, partition, position)
        return refused

    def forget(self, keys: Iterable[PartitionKey]) -> None:
        """These are not asked for any more."""
        for key in keys:
            entry = self._entries.pop(key, None)
            if entry is not None:
                self._leave(entry)

    def close(self) -> None:
        """Watch nothing any more."""
        for entry in self._entries.values():
            self._leave(entry)
        self._entries.clear()

    def take_due(self) -> Iterator[Entry]:
        """Everything that is to be looked at; what is not done with goes back (``put_back``)."""
        due, self._due = self._due, {}
        return iter(due)

    def put_back(self, entry: Entry) -> None:
        """It still is to be looked at."""
        self._due[entry] = None

    def keep_fresh(self, now: Millis, lag_max_ms: int) -> None:
        """A request has come: everybody who stands is where it said, and alive. Not every time: it costs."""
        self.heard_at = now
        if now - self._fresh_at < lag_max_ms // FRESHNESS:
            return
        self._fresh_at = now
        for entry in list(self._entries.values()):
            if entry.is_standing and entry.is_counted:
                self._count(entry, now)

    # What partitions tell.

    def has_more(self, partition: Partition) -> None:
        """Records were flushed, or nothing is as it was."""
        entry = self._by_partition.get(partition)
        if entry is not None and entry.is_standing:
            self._due[entry] = None
            if self.waiting is not None:
                self.waiting.look_soon()

    def has_news(self, partition: Partition) -> None:
        """The high watermark or the log's beginning has moved; that can wait a little."""
        entry = self._by_partition.get(partition)
        if entry is not None and entry.is_standing:
            self._due[entry] = None
            if self.waiting is not None:
                self.waiting.look_later()

    # The roles' side.

    def check(self, entry: Entry, now: Millis) -> tuple[int, int] | None:
        """Tell the role of a fetch that it has not heard of; where the follower's log differs, if it does."""
        if entry.partition.gone is not None:
            raise ApiError(entry.partition.gone)
        leader = entry.partition.leader
        position = entry.position
        leader.check_fetch(self.node_id, current_leader_epoch=position.current_leader_epoch)
        if entry.is_counted:
            return None
        log = entry.partition.log
        diverging = diverging_epoch(
            log.leader_epochs,
            log_end_offset=log.log_end_offset,
            fetch_offset=position.fetch_offset,
            last_fetched_epoch=position.last_fetched_epoch,
        )
        if diverging is None:
            self._count(entry, now)
            entry.is_counted = True
        return diverging

    def _count(self, entry: Entry, now: Millis) -> None:
        partition, position = entry.partition, entry.position
        if not partition.is_leader or partition.leader.follower(self.node_id) is None:
            return
        if partition.leader_epoch != position.current_leader_epoch:
            return
        effects = partition.leader.handle(
            FollowerFetched(
                node_id=self.node_id,
                broker_epoch=self.broker_epoch,
                fetch_offset=position.fetch_offset,
                log_end_offset=partition.log.log_end_offset,
                now=now,
            )
        )
        partition.carry_out(effects)
        partition.follower_begins_at(self.node_id, position.log_start_offset)

    def _stand(self, key: PartitionKey, partition: Partition, position: FetchPosition) -> None:
        entry = self._entries.get(key)
        if entry is not None and entry.partition is not partition:
            self._leave(entry)
            entry = None
        if entry is None:
            entry = self._entries[key] = self._by_partition[partition] = Entry(key, partition, position)
            partition.waiters.watchers[self] = None
        entry.position, entry.is_standing, entry.is_counted = position, True, False
        self._due[entry] = None

    def _leave(self, entry: Entry) -> None:
        entry.is_standing = False
        self._due.pop(entry, None)
        self._by_partition.pop(entry.partition, None)
        entry.partition.waiters.watchers.pop(self, None)


class ReplicaSessions:
    """One for each broker that copies from us."""

    def __init__(self, draw_id: Callable[[], int]) -> None:
        self._draw_id = draw_id
        self._sessions: dict[NodeId, ReplicaSession] = {}

    def take(self, node_id: NodeId, *, session_id: int, epoch: int) -> ReplicaSession:
        """The session that a request belongs to. Raises the top-level error when it does not fit.

        A request that wants no session gets one of its own, which nobody keeps.
        """
        known = self._sessions.get(node_id)
        if known is not None and known.waiting is not None:
            known.waiting.finish()
        if epoch == FINAL_EPOCH:
            if known is not None and known.session_id == session_id:
                self.close(node_id)
            return ReplicaSession(node_id, NO_SESSION)
        if epoch == INITIAL_EPOCH:
            self.close(node_id)
            known = self._sessions[node_id] = ReplicaSession(node_id, self._draw_id() or 1)
            return known
        if known is None or known.session_id != session_id:
            raise ApiError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if known.next_epoch != epoch:
            raise ApiError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        known.advance()
        return known

    def has_heard(self, node_id: NodeId, *, since: Millis) -> bool:
        """Whether a broker has asked for anything lately."""
        session = self._sessions.get(node_id)
        return session is not None and session.heard_at >= since

    def close(self, node_id: NodeId) -> None:
        """The broker is gone, or begins anew."""
        session = self._sessions.pop(node_id, None)
        if session is not None:
            session.close()

    def retain(self, brokers: Container[NodeId]) -> None:
        """Keep none of a broker that is not registered any more."""
        for node_id in [each for each in self._sessions if each not in brokers]:
            self.close(node_id)
