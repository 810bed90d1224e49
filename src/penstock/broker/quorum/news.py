"""Waiting for something to change: whoever waits looks again after every piece of news."""

import asyncio


class News:
    """Wakes everybody who waits, each time."""

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    def tell(self) -> None:
        """Something changed."""
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    async def wait(self) -> None:
        """Until the next piece of news."""
        told = asyncio.get_running_loop().create_future()
        self._waiting.append(told)
        await told
