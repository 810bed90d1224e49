"""The kernel's asynchronous flush, on real files; and what the loop makes of it."""

import asyncio
import os
from pathlib import Path

import pytest

from penstock.broker.flush_round import Outcomes
from penstock.broker.kernel_flusher import KernelFlusher
from penstock.model.errors import FlushFailedError
from penstock.storage.kernel_flush import IN_FLIGHT_MAX, KernelFlush


@pytest.fixture
def queue() -> KernelFlush:
    opened = KernelFlush.open()
    if opened is None:
        pytest.skip("this kernel has no asynchronous flush")
    return opened


def flush_all(queue: KernelFlush, descriptors: list[int]) -> Outcomes:
    async def main() -> Outcomes:
        loop = asyncio.get_running_loop()
        flusher = KernelFlusher(loop, queue)
        done: asyncio.Future[Outcomes] = loop.create_future()
        flusher.flush(descriptors, done.set_result)
        try:
            return await asyncio.wait_for(done, 30)
        finally:
            flusher.close()

    return asyncio.run(main())


def test_flush_of_several_files_succeeds(queue: KernelFlush, tmp_path: Path) -> None:
    descriptors = [os.open(tmp_path / str(number), os.O_RDWR | os.O_CREAT) for number in range(5)]
    for descriptor in descriptors:
        os.pwrite(descriptor, b"x" * 5000, 0)
    assert flush_all(queue, descriptors) == [None] * 5
    for descriptor in descriptors:
        os.close(descriptor)


def test_flush_of_more_files_than_the_queue_holds_goes_in_portions(
    queue: KernelFlush, tmp_path: Path
) -> None:
    descriptor = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    outcomes = flush_all(queue, [descriptor] * (IN_FLIGHT_MAX + 10))
    assert len(outcomes) == IN_FLIGHT_MAX + 10
    assert not any(outcomes)
    os.close(descriptor)


def test_flush_of_what_cannot_be_flushed_fails_only_there(queue: KernelFlush, tmp_path: Path) -> None:
    good = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    reading, writing = os.pipe()
    outcomes = flush_all(queue, [good, writing])
    assert outcomes[0] is None
    assert isinstance(outcomes[1], FlushFailedError)
    for descriptor in (good, reading, writing):
        os.close(descriptor)


def test_flush_of_nothing_that_is_open_fails(queue: KernelFlush) -> None:
    (outcome,) = flush_all(queue, [987_654])
    assert isinstance(outcome, FlushFailedError)
