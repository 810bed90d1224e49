"""Getting messages out of librdkafka, as soon as there are any and as many as there are."""

import time
from typing import Any

from confluent_kafka import KafkaError
from confluent_kafka import Message as RawMessage

from penstock.client.error_mapping import error_from, translated
from penstock.client.errors import BrokerUnavailable, RequestTimedOut
from penstock.client.trouble import Trouble

SLICE_SECONDS = 0.2
"""librdkafka does not see signals while it waits; so often it is left to look for Ctrl-C."""

_error = RawMessage.error
_reading = translated("read")


class Intake:
    """Lists of librdkafka's messages; errors come when all before them have been returned."""

    def __init__(self, raw: Any, trouble: Trouble) -> None:
        self._raw = raw
        self._trouble = trouble
        self._pending: Exception | None = None

    def fetch(self, most: int, seconds: float) -> list[Any]:
        """Up to ``most`` messages, at once if there is one; none if there is none in time."""
        if self._pending is not None:
            error, self._pending = self._pending, None
            raise error
        with _reading:
            found = self._raw.consume(most, 0) or self._wait(most, seconds)
        if not found:
            self._trouble.raise_hopeless()
            return found
        return self._without_errors(found) if any(map(_error, found)) else found

    def fetch_more(self, most: int) -> list[Any]:
        """Up to ``most`` of those that are there; an error comes when more are fetched, not before these."""
        if self._pending is not None:
            return []
        try:
            return self.fetch(most, 0.0)
        except Exception as error:
            self._pending = error
            return []

    def _wait(self, most: int, seconds: float) -> list[Any]:
        """For the first message, then whatever came with it: ``consume`` would wait for all it may return."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            first = self._raw.poll(min(left, SLICE_SECONDS))
            if first is not None:
                return [first, *self._raw.consume(most - 1, 0)] if most > 1 else [first]
        return []

    def _without_errors(self, found: list[Any]) -> list[Any]:
        good = []
        for raw in found:
            if raw.error() is None:
                good.append(raw)
            elif raw.error().code() != KafkaError._PARTITION_EOF:
                self._take_note(raw)
        if not good and self._pending is not None:
            error, self._pending = self._pending, None
            raise error
        return good

    def _take_note(self, raw: Any) -> None:
        """What librdkafka gets over by itself is only noted; the rest is for the caller, the first of it."""
        where = f"{raw.topic()}-{raw.partition()}" if raw.topic() else "subscribed topics"
        error = error_from(raw.error(), doing=f"read {where}")
        if isinstance(error, BrokerUnavailable | RequestTimedOut) and error.is_retriable:
            self._trouble.note(raw.error())
        elif self._pending is None:
            self._pending = error
