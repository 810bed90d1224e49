"""One loop over many sockets, with as little Python as possible for each answer.

A *lane* is a connection with requests in flight. It keeps the sockets' business to itself; the loop only says
when bytes may be had or room is there again. One thread serves all lanes: the work between two system calls
is a few microseconds, less than threads would lose to each other.
"""

import select
import time
from collections.abc import Callable, Sequence
from typing import Protocol

_POLL_SECONDS_MAX = 0.1
STALL_SECONDS_MAX = 60.0
"""No answer on any lane for so long is a failure of the broker."""


class Lane(Protocol):
    """A connection with requests in flight."""

    @property
    def is_done(self) -> bool:
        """Whether nothing more is expected."""

    @property
    def wants_room(self) -> bool:
        """Whether output waits until the socket takes more."""

    def fileno(self) -> int:
        """The socket's descriptor."""

    def on_readable(self, now_ns: int) -> None:
        """Take what has arrived."""

    def on_writable(self, now_ns: int) -> None:
        """Send what waited."""


def run_lanes(lanes: Sequence[Lane], *, on_turn: Callable[[int], None]) -> None:
    """Serve ``lanes`` until all are done; ``on_turn(now_ns)`` is called once in every turn of the loop."""
    with select.epoll() as poller:
        open_lanes = {lane.fileno(): lane for lane in lanes}
        masks = {fd: _mask(lane) for fd, lane in open_lanes.items()}
        for fd, mask in masks.items():
            poller.register(fd, mask)
        while not all(lane.is_done for lane in lanes):
            events = poller.poll(_POLL_SECONDS_MAX)
            now_ns = time.monotonic_ns()
            for fd, event in events:
                lane = open_lanes[fd]
                if event & ~select.EPOLLOUT:
                    lane.on_readable(now_ns)
                if event & select.EPOLLOUT:
                    lane.on_writable(now_ns)
            on_turn(now_ns)
            for fd, lane in open_lanes.items():
                if masks[fd] != (mask := _mask(lane)):
                    masks[fd] = mask
                    poller.modify(fd, mask)


def _mask(lane: Lane) -> int:
    return select.EPOLLIN | select.EPOLLOUT if lane.wants_room else select.EPOLLIN
