import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from penstock.broker.control.following import ImageFollower
from penstock.metadata.image import ClusterImage
from penstock.metadata.records import FeatureLevelRecord
from penstock.model.errors import StorageError

SECONDS_MAX = 10.0


class Log:
    """A metadata log of which only the newest image is left, and a broker that follows it slowly."""

    def __init__(self) -> None:
        self.image = ClusterImage()
        self.offset = 0
        self.followed: list[tuple[int, int]] = []
        self.may_follow = asyncio.Event()
        self.may_follow.set()
        self.failures = 0
        self.follower = ImageFollower(lambda: (self.image, self.offset), self.follow)

    def apply(self, level: int) -> int:
        self.image = self.image.apply([FeatureLevelRecord(name="level", feature_level=level)])
        self.offset += 1
        self.follower.image_changed()
        return self.offset

    async def follow(self, before: ClusterImage, image: ClusterImage) -> None:
        await self.may_follow.wait()
        if self.failures:
            self.failures -= 1
            raise StorageError("the disk would not")
        self.followed.append((before.features.get("level", 0), image.features.get("level", 0)))


@asynccontextmanager
async def following() -> AsyncIterator[Log]:
    log = Log()
    log.follower.begin(log.image, log.offset)
    task = asyncio.create_task(log.follower.run())
    yield log
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_change_is_followed_from_the_last_image_and_then_in_force() -> None:
    async def run() -> None:
        async with following() as log:
            assert await log.follower.wait(log.apply(1), seconds_max=SECONDS_MAX)
            assert await log.follower.wait(log.apply(2), seconds_max=SECONDS_MAX)
            assert log.followed == [(0, 1), (1, 2)]
            assert log.follower.followed_offset == 2

    asyncio.run(run())


def test_changes_that_come_meanwhile_are_followed_together() -> None:
    async def run() -> None:
        async with following() as log:
            log.may_follow.clear()
            log.apply(1)
            await asyncio.sleep(0)
            log.apply(2)
            last = log.apply(3)
            assert log.follower.followed_offset == 0
            log.may_follow.set()
            assert await log.follower.wait(last, seconds_max=SECONDS_MAX)
            assert log.followed == [(0, 1), (1, 3)]

    asyncio.run(run())


def test_wait_ends_with_its_time() -> None:
    async def run() -> None:
        async with following() as log:
            log.may_follow.clear()
            assert not await log.follower.wait(log.apply(1), seconds_max=0.001)

    asyncio.run(run())


def test_entries_that_change_no_image_are_in_force_at_once() -> None:
    async def run() -> None:
        async with following() as log:
            assert await log.follower.wait(log.apply(1), seconds_max=SECONDS_MAX)
            log.offset += 5
            assert log.follower.followed_offset == 6
            assert await log.follower.wait(6, seconds_max=0)

    asyncio.run(run())


def test_nobody_waits_before_anything_is_loaded() -> None:
    async def run() -> None:
        log = Log()
        assert await log.follower.wait(9, seconds_max=0)

    asyncio.run(run())


def test_disk_that_fails_once_does_not_end_it() -> None:
    async def run() -> None:
        async with following() as log:
            log.failures = 1
            assert await log.follower.wait(log.apply(1), seconds_max=SECONDS_MAX)
            assert await log.follower.wait(log.apply(2), seconds_max=SECONDS_MAX)
            assert log.followed == [(1, 2)]

    asyncio.run(run())


def test_following_again_goes_over_the_newest_image() -> None:
    async def run() -> None:
        async with following() as log:
            assert await log.follower.wait(log.apply(1), seconds_max=SECONDS_MAX)
            await log.follower.follow_again()
            assert log.followed == [(0, 1), (1, 1)]

    asyncio.run(run())
