"""A produce request that waits, and what is left of it afterwards."""

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from penstock.broker.deadlines import Deadlines
from penstock.broker.parked_produce import ParkedProduce, ProduceOutcome
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError


@pytest.fixture
def deadlines() -> Iterator[Deadlines]:
    loop = asyncio.new_event_loop()
    yield Deadlines(loop)
    loop.close()


def test_answer_comes_when_the_last_partition_is_settled(deadlines: Deadlines) -> None:
    answers: list[list[ErrorCode]] = []
    parked = ParkedProduce(lambda outcomes: answers.append([each.code for each in outcomes]))
    first, second = ProduceOutcome(parked, 0), ProduceOutcome(parked, 1)
    first.settle(ErrorCode.NONE)
    parked.finish_or_wait(deadlines, 30_000)
    assert answers == []
    second.settle(ErrorCode.KAFKA_STORAGE_ERROR)
    assert answers == [[ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR]]
    assert len(deadlines) == 0


def test_answer_at_the_deadline_names_what_was_not_safe_by_then(deadlines: Deadlines) -> None:
    answers: list[list[ErrorCode]] = []
    parked = ParkedProduce(lambda outcomes: answers.append([each.code for each in outcomes]))
    failed, late = ProduceOutcome(parked, 0), ProduceOutcome(parked, 1)
    failed.fail(ApiError(ErrorCode.CORRUPT_MESSAGE))
    parked.finish_or_wait(deadlines, 0)
    parked.expire()
    late.settle(ErrorCode.NONE)
    assert answers == [[ErrorCode.CORRUPT_MESSAGE, ErrorCode.REQUEST_TIMED_OUT]]


def test_nothing_of_an_answered_request_waits_for_the_collector(deadlines: Deadlines) -> None:
    class Request:
        """Stands for a frame full of records."""

    request = Request()
    witness = weakref.ref(request)
    parked = ParkedProduce(lambda outcomes, request=request: None)  # type: ignore[misc]
    outcome = ProduceOutcome(parked, 0)
    parked.finish_or_wait(deadlines, 30_000)
    gc.disable()
    try:
        outcome.settle(ErrorCode.NONE)
        del parked, outcome, request
        assert witness() is None
    finally:
        gc.enable()


def test_request_answered_at_its_deadline_is_let_go_though_its_batch_is_waited_for(
    deadlines: Deadlines,
) -> None:
    class Request:
        """Stands for a frame full of records."""

    request = Request()
    witness = weakref.ref(request)
    parked = ParkedProduce(lambda outcomes, request=request: None)  # type: ignore[misc]
    waiting = ProduceOutcome(parked, 0)
    parked.finish_or_wait(deadlines, 30_000)
    gc.disable()
    try:
        parked.expire()
        del request
        assert witness() is None
        waiting.settle(ErrorCode.NONE)
    finally:
        gc.enable()
