"""Brings this broker in line with the newest image, one step at a time.

The metadata log does not wait for us: while logs are made and roles are taken for one image, more may be
applied. They are then followed together, from the last image that was followed to the newest. Whoever must
not answer before a change is in force here waits for the offset behind it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from penstock.metadata.image import ClusterImage
from penstock.model.errors import StorageError

logger = logging.getLogger(__name__)

Follow = Callable[[ClusterImage, ClusterImage], Awaitable[None]]


class ImageFollower:
    """One task that follows, and everybody who waits for it."""

    def __init__(self, newest: Callable[[], tuple[ClusterImage, int]], follow: Follow) -> None:
        self._newest = newest
        self._follow = follow
        self._before = ClusterImage()
        self._before_offset = 0
        self._changed = asyncio.Event()
        self._waiting: dict[asyncio.Future[None], int] = {}
        #: Of those who want one more turn, whatever has changed.
        self._turns: list[asyncio.Future[None]] = []
        self._is_running = False

    @property
    def followed_offset(self) -> int:
        """Everything below is in force on this broker."""
        image, offset = self._newest()
        # Not every entry of the log is about the image: those of elections and voters are not.
        return offset if image is self._before else self._before_offset

    def begin(self, image: ClusterImage, offset: int) -> None:
        """What this image says is in force, since everything was just loaded from it."""
        self._before, self._before_offset = image, offset
        self._is_running = True
        if self._newest()[0] is not image:
            self._changed.set()

    def image_changed(self) -> None:
        """There is something to follow."""
        self._changed.set()

    async def follow_again(self) -> None:
        """Follow the newest image once more, since not all of it could be followed before."""
        turn = asyncio.get_running_loop().create_future()
        self._turns.append(turn)
        self._changed.set()
        await turn

    async def run(self) -> None:
        """Follow, for ever."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            turns, self._turns = self._turns, []
            image, offset = self._newest()
            try:
                await self._follow(self._before, image)
            except StorageError as error:
                # What could be done is done; the next image, or the next start, tries the rest again.
                logger.error("metadata could not be followed in full", extra={"reason": str(error)})
            self._before, self._before_offset = image, offset
            self._wake(turns)

    async def wait(self, offset: int, *, seconds_max: float) -> bool:
        """Whether everything below ``offset`` came into force within the time; at once before it runs."""
        if not self._is_running or self.followed_offset >= offset:
            return True
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[waiting] = offset
        try:
            async with asyncio.timeout(seconds_max):
                await waiting
        except TimeoutError:
            return False
        finally:
            self._waiting.pop(waiting, None)
        return True

    def _wake(self, turns: list[asyncio.Future[None]]) -> None:
        followed = self.followed_offset
        done = [waiting for waiting, offset in self._waiting.items() if offset <= followed]
        for waiting in (*done, *turns):
            if not waiting.done():
                waiting.set_result(None)
