"""Deadlines, on a loop whose clock the test moves."""

import asyncio
from collections.abc import Callable

from penstock.broker.deadlines import Deadlines


class MovedLoop(asyncio.SelectorEventLoop):
    """A loop that believes what the test says about time, and runs its timers when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: object, *args: object, context: object = None) -> object:  # type: ignore[override]
        assert callable(callback)
        self.timers.append((self.now + delay, callback))
        return None

    def move(self, seconds: float) -> None:
        """Let time pass, second by second."""
        for _ in range(int(seconds)):
            self.now += 1
            due = [each for each in self.timers if each[0] <= self.now]
            self.timers = [each for each in self.timers if each[0] > self.now]
            for _, callback in due:
                callback()


class Named:
    """Remembers that it expired, in a list shared with others."""

    def __init__(self, name: str, called: list[str]) -> None:
        self._name = name
        self._called = called

    def expire(self) -> None:
        self._called.append(self._name)


def test_deadlines_are_kept_in_order_and_never_early() -> None:
    loop = MovedLoop()
    called: list[str] = []
    deadlines = Deadlines(loop)
    deadlines.add(5_000, Named("five", called))
    deadlines.add(1_000, Named("one", called))
    loop.move(1)
    assert called == []
    loop.move(2)
    assert called == ["one"]
    loop.move(1)
    assert called == ["one"]
    loop.move(3)
    assert called == ["one", "five"]
    loop.close()


def test_deadlines_stop_ticking_when_nothing_is_left() -> None:
    loop = MovedLoop()
    deadlines = Deadlines(loop)
    deadlines.add(0, Named("now", []))
    loop.move(3)
    assert loop.timers == []
    deadlines.add(0, Named("again", []))
    assert len(loop.timers) == 1
    loop.close()


def test_deadlines_keep_nothing_of_those_who_left() -> None:
    loop = MovedLoop()
    called: list[str] = []
    deadlines = Deadlines(loop)
    answered, waiting = Named("answered", called), Named("waiting", called)
    tick = deadlines.add(30_000, answered)
    deadlines.add(30_000, waiting)
    deadlines.leave(tick, answered)
    assert len(deadlines) == 1
    loop.move(32)
    assert called == ["waiting"]
    deadlines.leave(tick, answered)
    loop.close()


def test_deadlines_far_off_leave_nothing_behind_once_nobody_waits_for_them() -> None:
    loop = MovedLoop()
    deadlines = Deadlines(loop)
    patient = Named("patient", [])
    for _ in range(100):
        deadlines.leave(deadlines.add(2**31 - 1, patient), patient)
        loop.move(1)
    assert deadlines.tick_count == 0
    assert loop.timers == []
    loop.close()


def test_deadlines_go_on_when_one_that_passes_takes_away_whoever_waits_for_another() -> None:
    loop = MovedLoop()
    called: list[str] = []
    deadlines = Deadlines(loop)
    answered = Named("answered", called)
    tick = deadlines.add(2_000, answered)

    class Leading(Named):
        def expire(self) -> None:
            super().expire()
            deadlines.leave(tick, answered)

    deadlines.add(1_000, Leading("leading", called))
    loop.now += 5  # the loop was held for so long
    loop.move(1)
    deadlines.add(1_000, Named("later", called))
    loop.move(3)
    assert called == ["leading", "later"]
    loop.close()
