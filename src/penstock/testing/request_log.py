"""What clients have asked a broker, for tests to look at."""

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.testing.api_names import find_api
from penstock.testing.movable_clock import steady_seconds

REQUESTS_KEPT_MAX = 10_000
WAIT_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request of a client."""

    #: As Kafka calls it: ``Produce``, ``OffsetCommit``.
    api: str
    version: int
    client_id: str
    #: The topics it names, by name; those of an unknown id are left out.
    topics: tuple[str, ...]
    #: What was done to it: ``fail``, ``delay`` or ``drop``; empty for a request served as usual.
    fault: str = ""

    def matches(self, api: str | None, topic: str | None, client_id: str | None) -> bool:
        """Whether it is one of those; None means any."""
        return (
            (api is None or api == self.api)
            and (topic is None or topic in self.topics)
            and (client_id is None or client_id == self.client_id)
        )


class RequestLog:
    """The newest requests of clients, oldest first. Other brokers' are not among them."""

    def __init__(self) -> None:
        self._requests: deque[Request] = deque(maxlen=REQUESTS_KEPT_MAX)
        self._changed = threading.Condition()

    def __iter__(self) -> Iterator[Request]:
        with self._changed:
            return iter(list(self._requests))

    def __len__(self) -> int:
        return len(self._requests)

    def note(self, request: Request) -> None:
        """A request has arrived."""
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()

    def of(
        self, api: str | None = None, *, topic: str | None = None, client_id: str | None = None
    ) -> list[Request]:
        """Those of one API, naming one topic, from one client."""
        name = None if api is None else find_api(api).name
        return [request for request in self if request.matches(name, topic, client_id)]

    def count(self, api: str | None = None, *, topic: str | None = None, client_id: str | None = None) -> int:
        """How many of those there are."""
        return len(self.of(api, topic=topic, client_id=client_id))

    def wait(
        self,
        api: str,
        *,
        count: int = 1,
        topic: str | None = None,
        client_id: str | None = None,
        seconds: float = WAIT_SECONDS,
    ) -> list[Request]:
        """Return when there are so many of those; ``TimeoutError`` says what was there instead."""
        deadline = steady_seconds() + seconds
        with self._changed:
            while len(found := self.of(api, topic=topic, client_id=client_id)) < count:
                if not self._changed.wait(max(0.0, deadline - steady_seconds())):
                    seen = sorted({request.api for request in self._requests})
                    raise TimeoutError(
                        f"{len(found)} of {count} requests {api} within {seconds:g} s; seen were {seen}"
                    )
        return found

    def clear(self) -> None:
        """Forget them."""
        with self._changed:
            self._requests.clear()
