"""The hand on a broker's clock, and what follows from moving it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from penstock.model.errors import UsageError
from penstock.testing.movable_clock import MovableClock


class BrokerClock:
    """Moves the time of a broker, or of all brokers of a cluster, forward. Clients' clocks stay."""

    def __init__(self, clocks: list[MovableClock], advance: Callable[[float], None]) -> None:
        self._clocks = clocks
        self._advance = advance

    @property
    def offset(self) -> timedelta:
        """By how much the brokers are ahead of everybody else."""
        return timedelta(seconds=max(clock.offset_seconds for clock in self._clocks))

    def now(self) -> datetime:
        """The time as the broker sees it, in UTC."""
        return datetime.fromtimestamp(self._clocks[0].wall_ms() / 1000, tz=UTC)

    def advance(
        self,
        *,
        days: float = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        milliseconds: float = 0,
    ) -> None:
        """Let so much time have passed; returns when what follows from that has happened.

        That is: whatever was to happen by then happens now, once. Records that have outlived their retention
        are gone, members whose session is over are out of their groups, transactions that took too long are
        aborted.
        """
        step = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
        if step <= timedelta(0):
            raise UsageError(f"Time only moves forward: a step of {step} cannot be taken.")
        self._advance(step.total_seconds())
