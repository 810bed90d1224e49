"""One bound on the requests in the broker, over all connections: on their bytes, and on how many are queued.

A connection asks before it takes in more; refused, it stops reading its socket until somebody gives room
back. Two exceptions keep the broker alive for others when some clients hold all of it:

- *Modest* connections, with little of a request received and none waiting, may go on into a reserve beyond
  the bound: clients that send half a frame and stop must not keep those out who would be served at once.
- One connection at a time, the privileged one, is let through in any case: otherwise many half-sent frames
  could hold all memory and none of them could ever be completed. Not so where whole requests hold it: they
  end by themselves, and a slow disk must not make it more and more.

While anybody waits, memory is *short*, and connections that hold some of it without moving are closed.
"""

from collections.abc import Callable

RESERVE_SHARE = 4
"""The reserve is this part of the bound."""


class RequestMemory:
    """Counts what requests hold and wakes those that wait for room."""

    def __init__(self, *, bytes_max: int, queued_max: int) -> None:
        self.bytes_max = bytes_max
        self._reserved_bytes_max = bytes_max + bytes_max // RESERVE_SHARE
        self._queued_max = queued_max
        #: Of frames in progress, of queued requests, and of those under way.
        self.held_bytes = 0
        #: Of these, what whole requests hold.
        self.whole_bytes = 0
        #: Requests that wait for an earlier one of their connection.
        self.queued_count = 0
        self._privileged: object | None = None
        self._waiting: dict[object, Callable[[], None]] = {}
        self._modest_waiting: dict[object, Callable[[], None]] = {}

    @property
    def has_room(self) -> bool:
        """Whether anybody may read on."""
        return self.held_bytes < self.bytes_max and self.queued_count < self._queued_max

    @property
    def is_short(self) -> bool:
        """Whether somebody waits for room."""
        return bool(self._waiting or self._modest_waiting)

    def may_grow(self, holder: object) -> bool:
        """Whether ``holder`` may take memory ahead of what has arrived."""
        return self._privileged is holder or self.has_room

    def admit(self, holder: object, *, is_modest: bool = False) -> bool:
        """Whether ``holder`` may read on: there is room for such as it, or it is the one let through."""
        if self.has_room or (is_modest and self._has_reserve):
            return True
        if self._has_privilege_to_give:
            self._privileged = holder
        return self._privileged is holder

    def hold(self, byte_count: int) -> None:
        """Count what was taken in of a request."""
        self.held_bytes += byte_count

    def hold_whole(self, byte_count: int, *, queued: int = 0) -> None:
        """Count a whole request."""
        self.held_bytes += byte_count
        self.whole_bytes += byte_count
        self.queued_count += queued

    def wait(self, holder: object, wake: Callable[[], None], *, is_modest: bool = False) -> None:
        """Call ``wake`` once there is room again, in order of asking."""
        (self._modest_waiting if is_modest else self._waiting)[holder] = wake

    def release(self, byte_count: int) -> None:
        """Give room back, and let those who wait go on while there is some."""
        self.held_bytes -= byte_count
        if self.is_short:
            self._wake()

    def release_whole(self, byte_count: int, *, queued: int = 0) -> None:
        """Give back what whole requests held."""
        self.whole_bytes -= byte_count
        self.queued_count -= queued
        self.release(byte_count)

    def leave(self, holder: object) -> None:
        """Forget a connection that has gone, or that has completed its frame."""
        self._waiting.pop(holder, None)
        self._modest_waiting.pop(holder, None)
        if self._privileged is holder:
            self._privileged = None
            self._wake()

    @property
    def _has_privilege_to_give(self) -> bool:
        return self._privileged is None and self.whole_bytes < self.bytes_max

    @property
    def _has_reserve(self) -> bool:
        return self.held_bytes < self._reserved_bytes_max

    def _wake(self) -> None:
        while self._modest_waiting and self._has_reserve:
            _pop_first(self._modest_waiting)[1]()
        while self._waiting and (self.has_room or self._has_privilege_to_give):
            holder, wake = _pop_first(self._waiting)
            if not self.has_room:
                self._privileged = holder
            wake()


def _pop_first(waiting: dict[object, Callable[[], None]]) -> tuple[object, Callable[[], None]]:
    holder = next(iter(waiting))
    return holder, waiting.pop(holder)
