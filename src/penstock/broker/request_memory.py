"""One bound on the bytes of all requests in the broker, over all connections.

A connection asks before it takes in more; refused, it stops reading its socket until somebody gives bytes
back. One connection at a time, the privileged one, is let through beyond the bound: otherwise many half-sent
frames could hold all memory and none of them could ever be completed.
"""

from collections.abc import Callable


class RequestMemory:
    """Counts the bytes held by requests and wakes those that wait for room."""

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self.held_bytes = 0
        self._privileged: object | None = None
        self._waiting: dict[object, Callable[[], None]] = {}

    def has_room(self) -> bool:
        """Whether anybody may read on."""
        return self.held_bytes < self.capacity_bytes

    def admit(self, holder: object) -> bool:
        """Whether ``holder`` may read on: there is room, or it is the one let through."""
        if self.held_bytes < self.capacity_bytes:
            return True
        if self._privileged is None:
            self._privileged = holder
        return self._privileged is holder

    def hold(self, count: int) -> None:
        """Count bytes taken in."""
        self.held_bytes += count

    def wait(self, holder: object, wake: Callable[[], None]) -> None:
        """Call ``wake`` once there is room again, in order of asking."""
        self._waiting[holder] = wake

    def release(self, count: int) -> None:
        """Give bytes back, and let those who wait go on while there is room."""
        self.held_bytes -= count
        self._wake()

    def leave(self, holder: object) -> None:
        """Forget a connection that has gone, or that has completed its frame."""
        self._waiting.pop(holder, None)
        if self._privileged is holder:
            self._privileged = None
            self._wake()

    def _wake(self) -> None:
        while self._waiting and (self.held_bytes < self.capacity_bytes or self._privileged is None):
            holder = next(iter(self._waiting))
            wake = self._waiting.pop(holder)
            if self.held_bytes >= self.capacity_bytes:
                self._privileged = holder
            wake()
