"""One fault: which requests it strikes, how often, and what it does to them."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from penstock.model.error_codes import ErrorCode
from penstock.testing.movable_clock import steady_seconds
from penstock.testing.request_log import Request

WAIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Fail:
    """Answer with an error, without carrying the request out."""

    error: ErrorCode
    name = "fail"


@dataclass(frozen=True, slots=True)
class Delay:
    """Carry the request out at once, and answer later."""

    seconds: float
    name = "delay"


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection instead of answering, before or after the request was carried out."""

    is_carried_out: bool
    name = "drop"


Effect = Fail | Delay | Drop


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Which requests are meant."""

    api: str
    topic: str | None
    client_id: str | None

    def __str__(self) -> str:
        topic = f" of topic {self.topic}" if self.topic else ""
        return f"{self.api}{topic}{f' by {self.client_id}' if self.client_id else ''}"


class Fault:
    """A fault that stands until it is used up or removed; as a context manager, until the block ends."""

    def __init__(
        self, target: Target, effect: Effect, *, times: int | None, on_remove: "Callable[[Fault], None]"
    ) -> None:
        self.target = target
        self.effect = effect
        self._left = times
        self._on_remove = on_remove
        self._hits = 0
        self._changed = threading.Condition()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        left = "" if self._left is None else f", {self._left} left"
        return f"<{self.effect.name} {self.target}: {self._hits} hits{left}>"

    @property
    def hits(self) -> int:
        """How many requests it has struck."""
        return self._hits

    @property
    def is_used_up(self) -> bool:
        """Whether it strikes no more."""
        return self._left == 0

    def remove(self) -> None:
        """Let it strike no more."""
        self._on_remove(self)

    def wait(self, count: int = 1, *, seconds: float = WAIT_SECONDS) -> None:
        """Return when it has struck so often; ``TimeoutError`` if it does not within the time."""
        deadline = steady_seconds() + seconds
        with self._changed:
            while self._hits < count:
                if not self._changed.wait(max(0.0, deadline - steady_seconds())):
                    raise TimeoutError(f"{self!r}, not {count} within {seconds:g} s")

    def strikes(self, request: Request) -> bool:
        """Whether it strikes this request; if so, it is counted."""
        target = self.target
        if not request.matches(target.api, target.topic, target.client_id):
            return False
        with self._changed:
            if self._left == 0:
                return False
            if self._left is not None:
                self._left -= 1
            self._hits += 1
            self._changed.notify_all()
        return True
