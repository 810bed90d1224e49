"""Group commit: one round of writes and flushes serves every batch that arrived while the last one ran.

The loop marks logs dirty; at the end of its turn all dirty logs hand over their pending writes as jobs, the
jobs run (``flush_round``), and the loop learns of their end in one call. While a round runs, new appends
gather for the next: the slower the disk, the larger the rounds.

A flush that fails leaves nothing to believe in: ``on_fatal`` is told, and no waiter of that round or of a
later one is ever answered with success.
"""

import asyncio
from collections.abc import Callable, Collection
from functools import partial
from typing import Protocol

from penstock.broker.flush_round import DescriptorFlusher, FlushRound, Outcomes, Workers
from penstock.broker.metrics.flush_meter import FlushMeter
from penstock.model.errors import DiskFullError, FlushFailedError, StorageError
from penstock.storage.log import FlushJob, Log


class FlushOwner(Protocol):
    """Whoever wants to know that its log moved on."""

    log: Log

    def flush_finished(self, job: FlushJob) -> None:
        """The log's durable end may have moved."""

    def flush_failed(self, error: StorageError) -> None:
        """Everything above the log's durable end is gone."""


class Flusher:
    """Keeps at most one round under way."""

    def __init__(
        self,
        workers: Workers,
        descriptors: DescriptorFlusher | None,
        call_soon: Callable[[Callable[[], None]], object],
        *,
        on_full: Callable[[], None],
        on_fatal: Callable[[StorageError], None],
        meter: FlushMeter | None = None,
    ) -> None:
        self._workers = workers
        self._descriptors = descriptors
        self._call_soon = call_soon
        self._on_full = on_full
        self._on_fatal = on_fatal
        self._meter = meter
        #: Who waits for the next round, and whether it must flush even where the topic does not ask for it.
        self._dirty: dict[FlushOwner, bool] = {}
        self._round_is_due = False
        self._round: list[tuple[FlushOwner, FlushJob]] = []
        self._round_ended: list[asyncio.Future[None]] = []
        self._has_failed = False
        self.rounds = 0

    @property
    def is_idle(self) -> bool:
        """Whether everything appended so far has been dealt with."""
        return not self._dirty and not self._round

    def mark_dirty(self, owner: FlushOwner, *, durably: bool = False) -> None:
        """Have the owner's log written, and flushed as its topic asks, in the next round."""
        self._dirty[owner] = durably or self._dirty.get(owner, False)
        if not self._round_is_due and not self._round:
            self._round_is_due = True
            self._call_soon(self._start_round)

    async def release(self, owners: Collection[FlushOwner]) -> None:
        """Have nothing more to do with these: what waits is dropped, what is under way is awaited."""
        for owner in owners:
            self._dirty.pop(owner, None)
        while any(owner in owners for owner, _ in self._round):
            ended = asyncio.get_running_loop().create_future()
            self._round_ended.append(ended)
            await ended

    async def drain(self) -> None:
        """Wait until everything appended so far is durable, or has failed."""
        while not self.is_idle and not self._has_failed:
            ended = asyncio.get_running_loop().create_future()
            self._round_ended.append(ended)
            await ended

    def _start_round(self) -> None:
        self._round_is_due = False
        if self._has_failed or self._round:
            return
        dirty, self._dirty = self._dirty, {}
        for owner, durably in dirty.items():
            job = owner.log.begin_flush(durably=durably)
            if job is not None:
                self._round.append((owner, job))
        if self._round:
            self.rounds += 1
            if self._meter is not None:
                self._meter.round_began()
            jobs = [job for _, job in self._round]
            FlushRound(
                jobs, workers=self._workers, descriptors=self._descriptors, done=self._round_done
            ).start()

    def _round_done(self, outcomes: Outcomes) -> None:
        finished, self._round = self._round, []
        if self._meter is not None:
            self._meter.round_ended(len(finished))
        for (owner, job), error in zip(finished, outcomes, strict=True):
            try:
                self._settle(owner, job, error)
            except Exception as bug:
                # Whoever waited for this log made it; the other logs of the round must not pay for that.
                self._report(bug)
        if self._dirty and not self._has_failed and not self._round_is_due:
            self._round_is_due = True
            self._call_soon(self._start_round)
        waiting, self._round_ended = self._round_ended, []
        for ended in waiting:
            if not ended.done():  # whoever waited may have been cancelled
                ended.set_result(None)

    def _settle(self, owner: FlushOwner, job: FlushJob, error: BaseException | None) -> None:
        if error is None and not self._has_failed:
            owner.log.finish_flush(job)
            owner.flush_finished(job)
        elif isinstance(error, DiskFullError):
            owner.log.fail_flush(job, error)
            owner.flush_failed(error)
            self._on_full()
        elif isinstance(error, FlushFailedError | StorageError):
            self._has_failed = True
            self._on_fatal(error)
        elif error is not None:
            self._has_failed = True
            self._report(error)
            unknown = FlushFailedError(f"A flush ended as none should: {error!r}")
            self._call_soon(partial(self._on_fatal, unknown))

    def _report(self, bug: BaseException) -> None:
        """Raise it where the loop sees it, and nobody else."""

        def fail() -> None:
            raise bug

        self._call_soon(fail)
