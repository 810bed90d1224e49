"""Methods of a client that blocks as coroutines of one that does not."""

import asyncio
import functools
import weakref
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from penstock.client.asynchronous.worker import Worker

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class OffLoop:
    """A client whose calls are made by a worker."""

    _inner: Any
    _worker: Worker

    def _employ(self, worker: Worker) -> None:
        """Have it do the work from now on; its thread ends also if nobody closes this client."""
        self._worker = worker
        weakref.finalize(self, worker.close)

    async def _call(self, function: Callable[[], Answer]) -> Answer:
        """What it returns, when the worker has got round to it."""
        return await asyncio.wrap_future(self._worker.submit(function))

    async def _call_alone(self, function: Callable[[], Answer]) -> Answer:
        """As ``_call``, but not while a job of the worker serves others."""
        return await asyncio.wrap_future(self._worker.submit(function, is_alone=True))


def off_loop(
    method: Callable[Concatenate[Any, Parameters], Answer], *, is_alone: bool = False
) -> Callable[Concatenate[Any, Parameters], Coroutine[Any, Any, Answer]]:
    """The coroutine that has the worker call ``method`` of the client inside."""

    @functools.wraps(method)
    async def call(self: OffLoop, *arguments: Parameters.args, **options: Parameters.kwargs) -> Answer:
        have_called = self._call_alone if is_alone else self._call
        return await have_called(partial(method, self._inner, *arguments, **options))

    return call  # type: ignore[return-value]
