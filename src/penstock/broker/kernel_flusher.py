"""The kernel's asynchronous flush on an event loop."""

import asyncio
import os
from collections.abc import Callable, Sequence

from penstock.broker.flush_round import Outcomes, flush_failure
from penstock.model.errors import InvariantError
from penstock.storage.kernel_flush import IN_FLIGHT_MAX, KernelFlush


class KernelFlusher:
    """Submits one list of descriptors at a time, in portions as large as the kernel takes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, queue: KernelFlush) -> None:
        self._loop = loop
        self._queue = queue
        self._descriptors: Sequence[int] = ()
        self._outcomes: list[BaseException | None] = []
        self._begun_count = 0
        self._portion_start = 0
        self._left_count = 0
        self._done: Callable[[Outcomes], None] | None = None
        loop.add_reader(queue.event_descriptor, self._some_completed)

    def flush(self, descriptors: Sequence[int], done: Callable[[Outcomes], None]) -> None:
        """Flush all of them; then tell how each of them ended."""
        if self._done is not None:
            raise InvariantError("a list of flushes is still under way")
        self._descriptors = descriptors
        self._outcomes = [None] * len(descriptors)
        self._begun_count = 0
        self._done = done
        self._submit_portion()

    def close(self) -> None:
        """Stop listening to the kernel."""
        self._loop.remove_reader(self._queue.event_descriptor)
        self._queue.close()

    def _submit_portion(self) -> None:
        self._portion_start = self._begun_count
        portion = self._descriptors[self._portion_start : self._portion_start + IN_FLIGHT_MAX]
        taken = self._queue.submit(portion)
        if taken == 0:
            # It is no file, or the system's limit on such requests is used up: do this one the plain way.
            self._flush_here(portion[0])
            return
        self._begun_count += taken
        self._left_count = taken

    def _flush_here(self, descriptor: int) -> None:
        try:
            os.fdatasync(descriptor)
        except OSError as error:
            self._outcomes[self._begun_count] = flush_failure(error.errno or -1, str(error.strerror))
        self._begun_count += 1
        self._portion_ended()

    def _some_completed(self) -> None:
        for place, number in self._queue.completed():
            if number:
                self._outcomes[self._portion_start + place] = flush_failure(number, os.strerror(number))
            self._left_count -= 1
        if not self._left_count:
            self._portion_ended()

    def _portion_ended(self) -> None:
        if self._begun_count < len(self._descriptors):
            self._submit_portion()
            return
        done, self._done = self._done, None
        if done is not None:
            done(self._outcomes)
