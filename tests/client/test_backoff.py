"""Trying again."""

import time
from collections.abc import Callable

import pytest

from penstock.client.backoff import Backoff, retried
from penstock.client.errors import BrokerUnavailable, PenstockClientError, UnknownTopic


def failing(times: int, error: PenstockClientError) -> tuple[list[float], Callable[[float], str]]:
    calls: list[float] = []

    def call(seconds: float) -> str:
        calls.append(seconds)
        if len(calls) <= times:
            raise error
        return "done"

    return calls, call


def test_retriable_error_is_tried_again_until_it_succeeds() -> None:
    calls, call = failing(3, BrokerUnavailable("away", is_retriable=True))
    pauses: list[float] = []
    assert (
        retried(call, seconds=60, backoff=Backoff(first_ms=100, most_ms=300), sleep=pauses.append) == "done"
    )
    assert len(calls) == 4
    assert [0.08, 0.16, 0.24] <= pauses <= [0.12, 0.24, 0.36]


def test_other_error_is_raised_at_once() -> None:
    calls, call = failing(3, UnknownTopic("gone"))
    with pytest.raises(UnknownTopic):
        retried(call, seconds=60, backoff=Backoff())
    assert len(calls) == 1


def test_last_error_is_raised_when_there_is_no_time_for_another_attempt() -> None:
    calls, call = failing(99, BrokerUnavailable("away", is_retriable=True))
    with pytest.raises(BrokerUnavailable):
        retried(call, seconds=0.05, backoff=Backoff(first_ms=20, most_ms=20))
    assert 1 < len(calls) < 5


def test_pause_that_outlasts_the_deadline_is_followed_by_no_attempt() -> None:
    calls, call = failing(99, BrokerUnavailable("away", is_retriable=True))
    with pytest.raises(BrokerUnavailable):
        retried(call, seconds=0.1, backoff=Backoff(first_ms=1), sleep=lambda _: time.sleep(0.1))
    assert len(calls) == 1


def test_pause_grows_and_has_an_end() -> None:
    backoff = Backoff(first_ms=100, most_ms=1000)
    assert 0.08 <= backoff.seconds(0) <= 0.12
    assert 0.32 <= backoff.seconds(2) <= 0.48
    assert 0.8 <= backoff.seconds(10_000) <= 1.2
