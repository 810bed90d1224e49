"""What a leader knows of one follower during one leader epoch."""

from dataclasses import dataclass

from penstock.model.ids import Millis

UNKNOWN = -1
NEVER = Millis(-1)


@dataclass(slots=True, kw_only=True)
class FollowerProgress:
    """How far a follower is, and when it last was where the leader was."""

    #: Everything below is on the follower's disk; unknown until it has fetched in this leader epoch.
    end_offset: int = UNKNOWN
    #: Of the process that fetched.
    broker_epoch: int = UNKNOWN
    #: When it last had everything the leader had.
    caught_up_at: Millis = NEVER
    #: Whether it was so lately, when somebody last looked.
    is_close: bool = False
    _fetched_at: Millis = NEVER
    _leader_end_then: int = UNKNOWN

    def fetched(self, offset: int, *, broker_epoch: int, leader_end: int, now: Millis) -> None:
        """It asks for what follows ``offset``, so all before is on its disk.

        It has caught up if it has what the leader has now, or if it has what the leader had when it fetched
        last: a follower under load is always one fetch behind.
        """
        if offset >= leader_end:
            self.caught_up_at = max(self.caught_up_at, now)
        elif self._leader_end_then != UNKNOWN and offset >= self._leader_end_then:
            self.caught_up_at = max(self.caught_up_at, self._fetched_at)
        self.end_offset = offset
        self.broker_epoch = broker_epoch
        self._fetched_at = now
        self._leader_end_then = leader_end

    def look(self, *, leader_end: int, now: Millis, lag_max_ms: int) -> bool:
        """Whether it is close enough to be in sync."""
        has_all = self.end_offset >= leader_end
        was_lately = self.caught_up_at != NEVER and now - self.caught_up_at <= lag_max_ms
        self.is_close = has_all or was_lately
        return self.is_close
