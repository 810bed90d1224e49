"""Topics that come or go while the disk is full, or files cannot be made or renamed for another reason."""

import asyncio

import pytest
from tests.broker.coordination.living_broker import ask, living_broker, make_topic, new_disk

from penstock.broker import partitions
from penstock.metadata.image import ClusterImage
from penstock.metadata.replication_rules import TopicRules, topic_rules
from penstock.model.errors import StorageError
from penstock.model.ids import Millis
from penstock.wire.messages.delete_topics import DeleteTopicsRequest


def test_topic_created_on_a_full_disk_is_served_once_there_is_room() -> None:
    """Its metadata was written; only its directories had no room."""

    async def scenario() -> tuple[int, int, int]:
        disk = new_disk()
        async with living_broker(disk) as broker:
            metadata_bytes = 1000
            capacity, disk.capacity_bytes = disk.capacity_bytes, disk.used_bytes + metadata_bytes
            make_directory = disk.make_directory

            def fill_then_make(path: str) -> None:
                disk.capacity_bytes = disk.used_bytes
                make_directory(path)

            disk.make_directory = fill_then_make  # type: ignore[method-assign] # the disk fills up just then
            await make_topic(broker)
            refused = len(broker.replicas.unavailable)
            disk.make_directory = make_directory  # type: ignore[method-assign]
            disk.capacity_bytes = capacity
            await broker.recover_from_full_disk()
            return refused, len(broker.replicas.unavailable), len(broker.replicas.of_topic("orders"))

    assert asyncio.run(scenario()) == (2, 0, 2)


def test_topic_whose_files_cannot_be_made_keeps_nothing_from_others_and_is_tried_again() -> None:
    """As when too many files are open for a moment."""

    async def scenario() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            make_directory = disk.make_directory

            def fail(path: str) -> None:
                raise StorageError(f"Could not make directory {path}: Too many open files")

            disk.make_directory = fail  # type: ignore[method-assign] # for a moment
            await make_topic(broker)
            assert len(broker.replicas.unavailable) == 2
            disk.make_directory = make_directory  # type: ignore[method-assign]
            await broker.recover_from_full_disk()
            assert not broker.replicas.unavailable
            assert len(broker.replicas.of_topic("orders")) == 2

    asyncio.run(scenario())


def test_partitions_that_cannot_be_made_are_tried_again_without_a_look_at_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is done every second, and there may be a hundred thousand others."""

    async def scenario() -> None:
        looked_at: list[str] = []

        def watched(image: ClusterImage, topic: str) -> TopicRules:
            looked_at.append(topic)
            return topic_rules(image, topic)

        def fail(path: str) -> None:
            raise StorageError(f"Could not make directory {path}: Too many open files")

        disk = new_disk()
        async with living_broker(disk) as broker:
            await make_topic(broker, "payments")
            disk.make_directory = fail  # type: ignore[method-assign] # for good
            await make_topic(broker, "orders")
            monkeypatch.setattr(partitions, "topic_rules", watched)
            await broker.recover_from_full_disk()
            assert set(looked_at) == {"orders"}

    asyncio.run(scenario())


def test_topic_whose_directories_cannot_be_put_aside_keeps_nothing_from_others() -> None:
    async def scenario() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            await make_topic(broker)
            sync_directory, follow = disk.sync_directory, broker.replication.follow
            followed: list[bool] = []

            def fail(path: str) -> None:
                raise StorageError(f"Could not open {path}: Too many open files")

            def watched(image: ClusterImage) -> None:
                followed.append("orders" in image.topics)
                follow(image)

            disk.sync_directory = fail  # type: ignore[method-assign] # for a moment
            broker.replication.follow = watched  # type: ignore[method-assign]
            (deleted,) = (await ask(broker, DeleteTopicsRequest(topic_names=("orders",)), 5)).responses
            disk.sync_directory = sync_directory  # type: ignore[method-assign]
            assert (deleted.error_code, followed) == (0, [False])
            later = broker.clock.wall_ms() + 60_000
            removal = broker.log_directory.begin_removal(Millis(later))
            assert removal is not None
            removal.run()
            assert not any("orders" in name for name in disk.list_directory("/data"))
            await make_topic(broker)
            assert len(broker.replicas.of_topic("orders")) == 2

    asyncio.run(scenario())
