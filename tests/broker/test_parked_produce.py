"""A produce request that waits, and what is left of it afterwards."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from tests.broker.coordination.living_broker import living_broker, make_topic, new_disk
from tests.raw_kafka import PRODUCE, Reader, produce_body, read_produce, request_frame, values_batch

from penstock.broker.deadlines import Deadlines
from penstock.broker.offset_waiters import OffsetWaiters
from penstock.broker.parked_produce import ParkedProduce, ProduceOutcome, UnwrittenBatches
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError

if TYPE_CHECKING:
    from penstock.broker.partition import Partition
    from penstock.storage.append_result import AppendResult


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


@pytest.mark.slow
def test_batch_that_was_not_written_in_time_counts_as_memory_until_it_is() -> None:
    """Producers whose time is up soon would else fill the memory under a slow disk, batch upon batch."""

    async def scenario() -> None:
        async with living_broker(new_disk()) as broker:
            await make_topic(broker)
            mark_dirty, memory = broker.flusher.mark_dirty, broker.server.memory
            broker.flusher.mark_dirty = lambda owner, *, durably=False: None  # type: ignore[method-assign]
            host, _, port = broker.address.rpartition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            body = produce_body("orders", 0, values_batch(bytes(1_000)), acks=1, timeout_ms=0)
            writer.write(request_frame(PRODUCE, 8, body))
            async with asyncio.timeout(30):
                answer = Reader(await reader.readexactly(int.from_bytes(await reader.readexactly(4))))
            answer.number("i")  # the correlation id
            assert read_produce(answer).error_code == ErrorCode.REQUEST_TIMED_OUT
            assert memory.held_bytes > 1_000
            mark_dirty(broker.replicas.by_name("orders", 0))
            await broker.flusher.drain()
            assert (memory.held_bytes, memory.whole_bytes) == (0, 0)
            broker.flusher.mark_dirty = mark_dirty  # type: ignore[method-assign]
            writer.close()

    asyncio.run(scenario())


def test_memory_of_several_late_batches_is_let_go_with_the_last_written() -> None:
    released: list[str] = []
    parked = ParkedProduce(lambda outcomes: None)
    outcomes = [ProduceOutcome(parked, index) for index in range(2)]
    waiters = [OffsetWaiters(), OffsetWaiters()]
    for outcome, flush in zip(outcomes, waiters, strict=True):
        log, around = SimpleNamespace(flushed_offset=5), SimpleNamespace(flush=flush)
        outcome.partition = cast("Partition", SimpleNamespace(log=log, waiters=around))
        assert not outcome.is_unwritten
        outcome.result = cast("AppendResult", SimpleNamespace(last_offset=5))
        assert outcome.is_unwritten
    UnwrittenBatches(outcomes, lambda: released.append("all"))
    waiters[1].pass_offset(6)
    waiters[0].pass_offset(5)
    assert released == []
    waiters[0].fail(ErrorCode.KAFKA_STORAGE_ERROR)
    assert released == ["all"]
