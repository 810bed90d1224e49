"""One round of group commit: jobs, each brought to its end in the cheapest way it allows.

A plain job, which only adds some bytes to one file, is written by the loop itself: copying a few kilobytes to
the page cache takes less time than handing them to a thread. The kernel then flushes those files side by
side. Everything else (large writes, new segments, files without a descriptor) runs on worker threads.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from penstock.model.errors import FlushFailedError, StorageError
from penstock.storage.log import FlushJob

INLINE_BYTES_MAX = 1024 * 1024
"""A larger write would keep the loop from its clients for longer than a thread costs."""

Outcomes = Sequence[BaseException | None]


class Workers(Protocol):
    """Runs blocking calls away from the loop."""

    def run(self, calls: Sequence[Callable[[], None]], done: Callable[[Outcomes], None]) -> None:
        """Run all calls, side by side where possible; then tell the loop how each of them ended."""


class DescriptorFlusher(Protocol):
    """Flushes files by their descriptors, without a thread."""

    def flush(self, descriptors: Sequence[int], done: Callable[[Outcomes], None]) -> None:
        """Flush all of them; then tell how each of them ended."""


class FlushRound:
    """Runs some jobs, then reports how each of them ended."""

    def __init__(
        self,
        jobs: Sequence[FlushJob],
        *,
        workers: Workers,
        descriptors: DescriptorFlusher | None,
        done: Callable[[Outcomes], None],
    ) -> None:
        self._jobs = jobs
        self._workers = workers
        self._descriptors = descriptors
        self._done = done
        self._outcomes: list[BaseException | None] = [None] * len(jobs)
        self._parts_left = 1

    def start(self) -> None:
        """Begin everything; what needs no waiting is done when this returns."""
        threaded: list[int] = []
        flushing: list[int] = []
        for place, job in enumerate(self._jobs):
            if self._descriptors is None or not job.is_plain or job.size_bytes > INLINE_BYTES_MAX:
                threaded.append(place)
            elif self._write(place) and job.is_durable:
                flushing.append(place)
        self._flush_in_kernel(flushing, threaded)
        if threaded:
            self._parts_left += 1
            calls = [self._jobs[place].run for place in threaded]
            self._workers.run(calls, lambda outcomes: self._part_done(threaded, outcomes))
        self._part_done((), ())

    def _write(self, place: int) -> bool:
        try:
            self._jobs[place].write()
        except StorageError as error:
            self._outcomes[place] = error
            return False
        return True

    def _flush_in_kernel(self, flushing: list[int], threaded: list[int]) -> None:
        """Hand over what has a descriptor; a job without one goes to a thread, which writes it once more."""
        found = [(place, self._jobs[place].flush_descriptor) for place in flushing]
        threaded.extend(place for place, descriptor in found if descriptor is None)
        places = [place for place, descriptor in found if descriptor is not None]
        if places and self._descriptors is not None:
            self._parts_left += 1
            wanted = [descriptor for _, descriptor in found if descriptor is not None]
            self._descriptors.flush(wanted, lambda outcomes: self._part_done(places, outcomes))

    def _part_done(self, places: Sequence[int], outcomes: Outcomes) -> None:
        for place, outcome in zip(places, outcomes, strict=True):
            self._outcomes[place] = outcome
        self._parts_left -= 1
        if not self._parts_left:
            self._done(self._outcomes)


def flush_failure(number: int, reason: str) -> FlushFailedError | None:
    """What the kernel's error number means; nothing for 0."""
    return FlushFailedError(f"A flush failed: {reason}.") if number else None
