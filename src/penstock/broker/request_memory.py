"""One bound on the requests in the broker, over all connections: on their bytes, and on how many are queued.

A connection asks before it takes in more; refused, it stops reading its socket until somebody gives room
back. One connection at a time, the privileged one, is let through beyond the bound: otherwise many half-sent
frames could hold all memory and none of them could ever be completed.
"""

from collections.abc import Callable


class RequestMemory:
    """Counts what requests hold and wakes those that wait for room."""

    def __init__(self, *, bytes_max: int, queued_max: int) -> None:
        self._bytes_max = bytes_max
        self._queued_max = queued_max
        #: Of frames in progress, of queued requests, and of those under way.
        self.held_bytes = 0
        #: Requests that wait for an earlier one of their connection.
        self.queued_count = 0
        self._privileged: object | None = None
        self._waiting: dict[object, Callable[[], None]] = {}

    @property
    def has_room(self) -> bool:
        """Whether anybody may read on."""
        return self.held_bytes < self._bytes_max and self.queued_count < self._queued_max

    def admit(self, holder: object) -> bool:
        """Whether ``holder`` may read on: there is room, or it is the one let through."""
        if self.has_room:
            return True
        if self._privileged is None:
            self._privileged = holder
        return self._privileged is holder

    def hold(self, byte_count: int, *, queued: int = 0) -> None:
        """Count what was taken in."""
        self.held_bytes += byte_count
        self.queued_count += queued

    def wait(self, holder: object, wake: Callable[[], None]) -> None:
        """Call ``wake`` once there is room again, in order of asking."""
        self._waiting[holder] = wake

    def release(self, byte_count: int, *, queued: int = 0) -> None:
        """Give room back, and let those who wait go on while there is some."""
        self.held_bytes -= byte_count
        self.queued_count -= queued
        if self._waiting:
            self._wake()

    def leave(self, holder: object) -> None:
        """Forget a connection that has gone, or that has completed its frame."""
        self._waiting.pop(holder, None)
        if self._privileged is holder:
            self._privileged = None
            self._wake()

    def _wake(self) -> None:
        while self._waiting and (self.has_room or self._privileged is None):
            holder = next(iter(self._waiting))
            wake = self._waiting.pop(holder)
            if not self.has_room:
                self._privileged = holder
            wake()
