"""Fetches from one leader for all partitions that this broker copies from it, over one connection.

Of a session's partitions only those are named again that have a new position; the others go on being asked
for as they were, so a request costs what has changed, however many partitions there are.

A position says what is on our disk, so a partition that got records is asked for again when they are flushed.
The next request waits a moment for that. When one is under way already, which the leader may keep for long,
a second one follows: the leader then answers the first at once.
"""

import asyncio
import logging
from typing import TYPE_CHECKING

from penstock.broker.fetch_sessions import NO_SESSION, PartitionKey
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_error import PeerError
from penstock.broker.replication.fetch_client_session import FetchClientSession
from penstock.broker.replication.follower_shell import FollowerShell
from penstock.broker.replication.leader_offsets import ask_leader_offsets
from penstock.model.ids import NodeId
from penstock.model.limits import FETCHES_PER_CONNECTION_MAX
from penstock.replication.follower_events import FetchFrom
from penstock.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
    ReplicaState,
)
from penstock.wire.primitives import payload_size

if TYPE_CHECKING:
    from penstock.broker.replication.replication import Replication

logger = logging.getLogger(__name__)

FETCH_VERSION = 18
FLUSH_SECONDS = 0.05
"""How long the next request waits for records that have just come to be flushed. What it would bring earlier
could not be flushed earlier: one round of flushes follows the other."""


class Fetcher:
    """Copies from one leader."""

    def __init__(self, leader: NodeId, replication: "Replication") -> None:
        self.leader = leader
        self._replication = replication
        self._broker = replication.broker
        self._session = FetchClientSession()
        self._shells: dict[PartitionKey, FollowerShell] = {}
        self._ready: dict[FollowerShell, None] = {}
        #: Have got records that are not flushed yet.
        self._copying: dict[FollowerShell, None] = {}
        self._resting: dict[FollowerShell, None] = {}
        self._rest_timer: asyncio.TimerHandle | None = None
        self._asking_offsets: dict[FollowerShell, FetchFrom] = {}
        #: Requests without an answer, by number; the session that they belong to has begun with this one.
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._number = 0
        self._session_since = 0
        self._answered_at = 0.0
        self._fails_until = 0.0
        self._has_failed = False
        self._is_stopped = False
        self._is_due = False
        self._due_timer: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing is copied from this leader."""
        return not self._shells

    def stop(self) -> None:
        """Ask for nothing any more."""
        self._is_stopped = True
        for task in self._under_way.values():
            task.cancel()
        for timer in (self._rest_timer, self._due_timer):
            if timer is not None:
                timer.cancel()

    # The shells' side.

    def add(self, shell: FollowerShell) -> None:
        """Copy one more partition."""
        self._shells[shell.key] = shell
        self.ready(shell)

    def remove(self, shell: FollowerShell) -> None:
        """Copy a partition no more."""
        if self._shells.get(shell.key) is shell:
            del self._shells[shell.key]
            self._session.forget(shell.key)
            self._wake()
        for shells in (self._ready, self._copying, self._resting):
            shells.pop(shell, None)

    def ready(self, shell: FollowerShell) -> None:
        """It may have something to ask for."""
        if self._shells.get(shell.key) is shell:
            self._copying.pop(shell, None)
            self._ready[shell] = None
            self._wake()

    def rest(self, shell: FollowerShell) -> None:
        """Look at it again after a while."""
        if self._shells.get(shell.key) is shell:
            self._copying.pop(shell, None)
            self._resting[shell] = None
            if self._rest_timer is None:
                delay = self._replication.settings.retry_ms / 1000
                self._rest_timer = self._broker.loop.call_later(delay, self._end_rest)

    def ask_offsets(self, shell: FollowerShell, asked: FetchFrom) -> None:
        """Find out where the leader's log begins and ends, for all who want to know in this turn."""
        if not self._asking_offsets:
            self._broker.loop.call_soon(self._ask_offsets)
        self._asking_offsets[shell] = asked

    def _end_rest(self) -> None:
        self._rest_timer = None
        resting, self._resting = self._resting, {}
        for shell in resting:
            self.ready(shell)

    def _ask_offsets(self) -> None:
        asking, self._asking_offsets = self._asking_offsets, {}
        self._broker.tasks.start(
            ask_leader_offsets(self._broker, self.leader, asking), name=f"ask {self.leader} for offsets"
        )

    # Requests.

    def _wake(self) -> None:
        """Something has changed: ask at the end of this turn, in which there may be more."""
        if not self._is_due and not self._is_stopped:
            self._is_due = True
            self._broker.loop.call_soon(self._ask_what_is_due)

    def _ask_what_is_due(self) -> None:
        self._is_due = False
        if self._due_timer is not None:
            self._due_timer.cancel()
            self._due_timer = None
        if self._is_stopped:
            return
        while (delay := self._seconds_to_wait(self._broker.clock.monotonic())) == 0.0:
            self._send()
        if delay is not None:
            self._due_timer = self._broker.loop.call_later(delay, self._ask_what_is_due)

    def _seconds_to_wait(self, now: float) -> float | None:
        """Until the next request; None while there is nothing to ask, or too much under way."""
        if now < self._fails_until:
            return self._fails_until - now
        has_changes = bool(self._ready) or self._session.has_forgotten
        if self._under_way:
            may_follow = self._session.is_open and len(self._under_way) < FETCHES_PER_CONNECTION_MAX
            return 0.0 if has_changes and may_follow else None
        if not has_changes and not self._session.names_any:
            return None
        if self._copying:
            return max(0.0, self._answered_at + FLUSH_SECONDS - now)
        return 0.0

    def _send(self) -> None:
        config, session = self._broker.config, self._session
        self._number += 1
        named = self._named()
        has_nothing_new = not named and not session.has_forgotten
        if has_nothing_new and (self._under_way or not session.names_any):
            return
        part = session.begin((shell.key, self._wanted(shell.key, asked)) for shell, asked in named)
        request = FetchRequest(
            replica_state=ReplicaState(
                replica_id=self._broker.node_id, replica_epoch=self._replication.broker_epoch
            ),
            max_wait_ms=config.integer("replica.fetch.wait.max.ms"),
            min_bytes=config.integer("replica.fetch.min.bytes"),
            max_bytes=config.integer("replica.fetch.response.max.bytes"),
            session_id=part.session_id,
            session_epoch=part.session_epoch,
            topics=part.topics,
            forgotten_topics_data=part.forgotten,
        )
        self._under_way[self._number] = self._broker.tasks.start(
            self._ask(self._number, request), name=f"fetch from {self.leader}"
        )

    def _named(self) -> list[tuple[FollowerShell, FetchFrom]]:
        """What the next request must name: those with a new position, in a new session all."""
        ready, self._ready = self._ready, {}
        for shell in ready:
            if not self._is_limited(shell):
                shell.next_position()
        shells = list(self._shells.values() if self._session.is_new else ready)
        for shell in shells:
            shell.asked_in = self._number
        return [(shell, shell.asked) for shell in shells if shell.asked is not None]

    def _wanted(self, key: PartitionKey, asked: FetchFrom) -> FetchPartition:
        return FetchPartition(
            partition=key.partition,
            current_leader_epoch=asked.current_leader_epoch,
            fetch_offset=asked.offset,
            last_fetched_epoch=asked.last_fetched_epoch,
            log_start_offset=asked.log_start_offset,
            partition_max_bytes=self._broker.config.integer("replica.fetch.max.bytes"),
        )

    async def _ask(self, number: int, request: FetchRequest) -> None:
        config = self._broker.config
        wait_ms = request.max_wait_ms + config.integer("replica.socket.timeout.ms")
        try:
            response = await self._broker.peers.ask(
                self.leader, request, FETCH_VERSION, seconds_max=wait_ms / 1000, lane=Lane.FETCH
            )
        except PeerError as error:
            self._failed(number, str(error))
        else:
            self._answered(number, response)
        finally:
            self._under_way.pop(number, None)
            self._wake()

    def _answered(self, number: int, response: FetchResponse) -> None:
        if number < self._session_since:
            return
        if response.error_code or response.session_id == NO_SESSION:
            self._failed(number, f"the fetch session was refused with error {response.error_code}")
            return
        self._session.accepted(response.session_id)
        self._has_failed = False
        self._answered_at = self._broker.clock.monotonic()
        for topic in response.responses:
            for data in topic.partitions:
                shell = self._shells.get(PartitionKey("", topic.topic_id, data.partition_index))
                if shell is not None and shell.asked is not None and shell.asked_in <= number:
                    self._take(shell, data)

    def _take(self, shell: FollowerShell, data: PartitionData) -> None:
        size = 0 if data.records is None else payload_size(data.records)
        if self._counts(shell):
            self._replication.throttles.follower.spend(size, self._answered_at)
        shell.answered(data)
        is_flushing = size > 0 and shell not in self._ready and shell not in self._resting
        if is_flushing and self._shells.get(shell.key) is shell:
            self._copying[shell] = None

    def _failed(self, number: int, reason: str) -> None:
        """Nobody knows what the leader has taken in: after a rest everything is asked for again."""
        if number < self._session_since:
            return
        if not self._has_failed:
            logger.warning("cannot fetch from leader", extra={"leader": self.leader, "reason": reason})
        self._has_failed = True
        self._session.reset()
        self._session_since = self._number + 1
        self._fails_until = self._broker.clock.monotonic() + self._replication.settings.retry_ms / 1000
        for shell in self._shells.values():
            self._ready[shell] = None

    # Limits.

    def _is_limited(self, shell: FollowerShell) -> bool:
        """Whether the partition has to wait because others want the bandwidth; it is looked at again."""
        bucket = self._replication.throttles.follower
        if not self._counts(shell) or bucket.seconds_to_wait(self._broker.clock.monotonic()) == 0.0:
            return False
        self.rest(shell)
        return True

    def _counts(self, shell: FollowerShell) -> bool:
        throttles, partition = self._replication.throttles, shell.partition
        if throttles.follower.is_unlimited or shell.is_in_sync:
            return False
        return throttles.is_follower_limited(partition.topic, partition.index, partition.node_id)
