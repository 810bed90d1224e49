"""Asking brokers: timeouts, retries, errors; what the parts of an administrator share."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from penstock.client.backoff import Backoff, retried
from penstock.client.config.admin_config import AdminConfig
from penstock.client.error_mapping import exception_from, translated
from penstock.client.errors import BrokerUnavailable, ClosedError, PenstockClientError
from penstock.client.inheritance import BELONGS_TO_PARENT, INHERITABLE
from penstock.client.trouble import Trouble

GRACE_SECONDS = 5.0
"""librdkafka ends requests by itself; this is how much later we believe that it does not."""

IMPATIENCE_SECONDS = 1.0
"""After so long without an answer the cluster is looked at anew, then twice as rarely each time.

A request to the controller waits for the broker that was it when librdkafka last looked, and librdkafka looks
again after minutes: one that died in between would be waited for until the request's own end.
"""

Answer = TypeVar("Answer")


class AdminRequests:
    """One librdkafka admin client."""

    def __init__(self, config: AdminConfig) -> None:
        self.config = config
        self._trouble = Trouble()
        with translated("make an administrator"):
            self._client: Any = AdminClient(self._trouble.settings() | config.librdkafka())
        self._why_closed = "The administrator is closed"
        INHERITABLE.add(self)

    def leave_to_parent(self) -> object:
        """Be closed in a child of ``fork``, which has none of librdkafka's threads."""
        client, self._client = self._client, None
        self._why_closed = BELONGS_TO_PARENT.format("administrator")
        return client

    def _raw(self) -> Any:
        if self._client is None:
            raise ClosedError(self._why_closed)
        return self._client

    def _ask(self, doing: str, call: Callable[[float], "Future[Answer]"], timeout: float | None) -> Answer:
        """The answer to one request; it is asked again if it cannot have reached a broker."""

        def attempt(seconds: float) -> Answer:
            try:
                return self._answered(call(seconds), seconds).result(0)
            except PenstockClientError:
                raise
            except Exception as error:
                raise self._explained(error, doing) from error

        return retried(attempt, seconds=self._seconds(timeout), backoff=self._backoff())

    def _ask_each(
        self,
        doing: str,
        call: Callable[[float], Mapping[Any, "Future[Any]"]],
        timeout: float | None,
        *,
        error_in: Callable[[Any], PenstockClientError | None] = lambda _: None,
    ) -> dict[Any, Any]:
        """The answers for several things; the first error is raised when all are answered.

        ``error_in`` finds errors inside an answer that librdkafka takes for a good one.
        """

        def attempt(seconds: float) -> dict[Any, Any]:
            with translated(doing):
                futures = call(seconds)
            errors: dict[Any, BaseException] = {}
            for name, future in futures.items():
                error = _error_of(self._answered(future, seconds))
                if error is not None:
                    errors[name] = error
            for name, error in errors.items():
                raise self._explained(error, f"{doing} ({name})" if len(futures) > 1 else doing) from error
            answers = {name: future.result(0) for name, future in futures.items()}
            for inner in filter(None, map(error_in, answers.values())):
                raise self._explained(inner, doing)
            return answers

        return retried(attempt, seconds=self._seconds(timeout), backoff=self._backoff())

    def _answered(self, future: "Future[Answer]", seconds: float) -> "Future[Answer]":
        """The future when it has ended, or when it should have."""
        deadline = time.monotonic() + seconds + GRACE_SECONDS
        pause = IMPATIENCE_SECONDS
        while not wait([future], min(pause, max(0.0, deadline - time.monotonic()))).done:
            if time.monotonic() >= deadline:
                break
            self._look_at_cluster(min(pause, max(0.001, deadline - time.monotonic())))
            pause *= 2
        return future

    def _look_at_cluster(self, seconds: float) -> None:
        """Have librdkafka learn who is there and who is the controller."""
        try:
            self._raw().list_topics(timeout=seconds)
        except KafkaException as error:
            self._trouble.note(error.args[0])

    def _explained(self, error: BaseException, doing: str) -> PenstockClientError:
        """Only what did not reach its broker is tried again: anything else may have been done."""
        made = exception_from(error, doing=self._trouble.explain(doing))
        made.is_retriable = made.is_retriable and isinstance(made, BrokerUnavailable)
        return made

    def _seconds(self, timeout: float | None) -> float:
        return self.config.request_timeout_ms / 1000 if timeout is None else timeout

    def _timeouts(self, seconds: float) -> dict[str, float]:
        operation = min(seconds, self.config.operation_timeout_ms / 1000)
        return {"request_timeout": seconds, "operation_timeout": operation}

    def _backoff(self) -> Backoff:
        return Backoff(first_ms=self.config.retry_backoff_ms, most_ms=self.config.retry_backoff_max_ms)


def _error_of(future: "Future[Any]") -> BaseException | None:
    try:
        return future.exception(0)
    except TimeoutError as error:
        return error
