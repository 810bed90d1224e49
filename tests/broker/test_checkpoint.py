"""Checkpoints of derived files, and what may happen to a log meanwhile."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.broker.coordination.living_broker import ask, living_broker, make_topic, new_disk

from penstock.broker.broker import Broker
from penstock.model.errors import StorageError
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.record import NewRecord
from penstock.storage.log import CheckpointJob
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState


def append(broker: Broker) -> None:
    """Something whose leader epoch is not on disk yet."""
    batch = build_batch([NewRecord(value=b"x", timestamp=1)])
    broker.replicas.by_name("orders", 0).append(batch, read_header(batch), broker.clock.wall_ms())


def before_the_first(broker: Broker, act: Callable[[], Any]) -> Callable[..., Any]:
    """The broker's way to run blocking work, with something that happens just before a checkpoint is."""
    call = broker.workers.call
    has_acted = False

    async def run(function: Callable[..., Any], *arguments: object) -> Any:
        nonlocal has_acted
        if isinstance(getattr(function, "__self__", None), CheckpointJob) and not has_acted:
            has_acted = True
            await act()
        return await call(function, *arguments)

    return run


def test_topic_deleted_while_its_checkpoint_is_written_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with living_broker(new_disk()) as broker:
            await make_topic(broker)
            append(broker)

            async def delete() -> None:
                await ask(broker, DeleteTopicsRequest(topics=(DeleteTopicState(name="orders"),)))

            monkeypatch.setattr(broker.workers, "call", before_the_first(broker, delete))
            await broker.checkpoint_derived_files()
            assert "orders" not in broker.image.topics

    asyncio.run(run())


def test_checkpoint_of_a_topic_that_is_there_reports_its_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with living_broker(new_disk()) as broker:
            await make_topic(broker)
            append(broker)

            async def fail() -> None:
                raise StorageError("the disk is gone")

            with monkeypatch.context() as patched:
                patched.setattr(broker.workers, "call", before_the_first(broker, fail))
                with pytest.raises(StorageError):
                    await broker.checkpoint_derived_files()
            await broker.checkpoint_derived_files()

    asyncio.run(run())
