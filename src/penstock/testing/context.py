"""What brokers and clusters have in common as context managers, in ordinary and in asynchronous tests."""

import asyncio
import atexit
import os
import threading
from collections.abc import Callable
from typing import Self
from weakref import WeakSet


class Context:
    """Something that is started and closed, in a ``with`` or ``async with`` block or by hand."""

    #: Whether a child of ``fork`` has this from its parent: then it is not its own to end or to clean up.
    is_inherited = False

    def start(self) -> Self:
        """Start it; returns when clients may connect."""
        raise NotImplementedError

    def close(self) -> None:
        """End it and leave nothing behind; may be called at any time, and again."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self._start_or_close()

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await in_thread(self._start_or_close, undo=self.close)
        return self

    async def __aexit__(self, *_: object) -> None:
        await in_thread(self.close)

    def _start_or_close(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise


OPEN: "WeakSet[Context]" = WeakSet()
"""Brokers that were started; the last net under a test run that ends without a word."""


@atexit.register
def close_all() -> None:
    """Leave no process and no file behind."""
    for context in list(OPEN):
        context.close()


def _leave_to_parent() -> None:
    """A child of ``fork`` that ends leaves its parent's brokers alone, by whichever way it ends."""
    for context in list(OPEN):
        context.is_inherited = True
    OPEN.clear()


os.register_at_fork(after_in_child=_leave_to_parent)


async def in_thread(function: Callable[[], object], *, undo: Callable[[], object] | None = None) -> None:
    """Await something that blocks, on a thread that ends with it; undo it if nobody waits any more."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def finish(error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    def work() -> None:
        error: BaseException | None = None
        try:
            function()
        except BaseException as caught:  # carried to whoever awaits
            error = caught
        loop.call_soon_threadsafe(finish, error)

    thread = threading.Thread(target=work, name="penstock-testing", daemon=True)
    thread.start()
    try:
        await asyncio.shield(done)
    except asyncio.CancelledError:
        thread.join()
        if undo is not None:
            undo()
        raise
    thread.join()
