"""The faults of a broker, or of all brokers of a cluster: what tests order, and what requests meet."""

import threading
from typing import Literal

from penstock.model.errors import UsageError
from penstock.testing.api_names import find_api, find_error
from penstock.testing.error_answers import check_expressible
from penstock.testing.fault import Delay, Drop, Effect, Fail, Fault, Target
from penstock.testing.request_log import Request
from penstock.testing.request_topics import can_name_topics

FAULTS_MAX = 1_000


class Faults:
    """Strikes requests of clients; the oldest fault that fits a request is the one it meets.

    Without ``times`` a fault stands until it is removed, cleared, or its ``with`` block ends.
    """

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._faults)

    def __repr__(self) -> str:
        return f"<Faults {self._faults!r}>"

    def fail(
        self,
        api: str,
        *,
        error: str | int,
        times: int | None = None,
        topic: str | None = None,
        client_id: str | None = None,
    ) -> Fault:
        """Answer with an error. The request is not carried out; other topics' part of it is."""
        spec, code = find_api(api), find_error(error)
        check_expressible(spec, code)
        return self._add(_target(api, topic, client_id), Fail(code), times)

    def delay(
        self,
        api: str,
        *,
        seconds: float,
        times: int | None = None,
        topic: str | None = None,
        client_id: str | None = None,
    ) -> Fault:
        """Carry requests out at once, but answer so much later."""
        if seconds < 0:
            raise UsageError(f"A delay of {seconds} s cannot be had: it must not be below 0.")
        return self._add(_target(api, topic, client_id), Delay(seconds), times)

    def drop(
        self,
        api: str,
        *,
        when: Literal["before", "after"] = "before",
        times: int | None = None,
        topic: str | None = None,
        client_id: str | None = None,
    ) -> Fault:
        """Close the connection without an answer, ``before`` or ``after`` the request was carried out."""
        if when not in ("before", "after"):
            raise UsageError(f"Requests are dropped 'before' or 'after' they are carried out, not {when!r}.")
        return self._add(_target(api, topic, client_id), Drop(when == "after"), times)

    def clear(self) -> None:
        """Remove all."""
        with self._lock:
            self._faults.clear()

    def strike(self, request: Request) -> Fault | None:
        """The fault that a request meets; None for most. Uses up one of its times."""
        if not self._faults:
            return None
        with self._lock:
            for fault in self._faults:
                if fault.strikes(request):
                    self._faults = [each for each in self._faults if not each.is_used_up]
                    return fault
        return None

    def _add(self, target: Target, effect: Effect, times: int | None) -> Fault:
        if times is not None and times < 1:
            raise UsageError(f"A fault that strikes {times} times is none: times must be at least 1.")
        fault = Fault(target, effect, times=times, on_remove=self._remove)
        with self._lock:
            if len(self._faults) >= FAULTS_MAX:
                raise UsageError(f"There are {FAULTS_MAX} faults already; clear() removes them.")
            self._faults.append(fault)
        return fault

    def _remove(self, fault: Fault) -> None:
        with self._lock:
            self._faults = [each for each in self._faults if each is not fault]


def _target(api: str, topic: str | None, client_id: str | None) -> Target:
    spec = find_api(api)
    if topic is not None and not can_name_topics(spec.request):
        raise UsageError(
            f"{spec.name} names no topics, so this would never strike: leave topic={topic!r} out."
        )
    return Target(api=spec.name, topic=topic, client_id=client_id)
