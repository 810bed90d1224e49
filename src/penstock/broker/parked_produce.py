"""A Produce request between its append and its answer, and what is left of it if that came too early."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from penstock.broker.deadlines import Deadlines, Tick
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.storage.append_result import AppendResult

if TYPE_CHECKING:
    from penstock.broker.partition import Partition

NO_ACKS = 0
LEADER_ACKS = 1
ALL_ACKS = -1


class ProduceOutcome:
    """What became of one partition's batch; waits in the partition until that is known."""

    __slots__ = ("_parked", "code", "error", "index", "partition", "result")

    def __init__(self, parked: "ParkedProduce", index: int) -> None:
        self._parked = parked
        self.index = index
        #: REQUEST_TIMED_OUT until somebody knows better.
        self.code = ErrorCode.REQUEST_TIMED_OUT
        self.error: ApiError | None = None
        #: Set together, once the batch is appended.
        self.partition: Partition | None = None
        self.result: AppendResult | None = None
        parked.add(self)

    def fail(self, error: ApiError) -> None:
        """The batch was not appended."""
        self.error = error
        self.settle(error.code)

    def await_acks(self, acks: int) -> None:
        """The batch is appended: settle once it is as safe as its producer asked."""
        assert self.partition is not None
        self.partition.await_safety(self, is_replicated=acks == ALL_ACKS)

    @property
    def is_unwritten(self) -> bool:
        """Whether time was up before the batch was on the disk here."""
        return (
            self.code is ErrorCode.REQUEST_TIMED_OUT
            and self.partition is not None
            and self.result is not None
            and self.result.last_offset >= self.partition.log.flushed_offset
        )

    def settle(self, code: ErrorCode) -> None:
        """The outcome is known."""
        self.code = code
        self._parked.one_settled()


class ParkedProduce:
    """Counts down the partitions whose outcome is not known; answers at the last one, or when time is up."""

    __slots__ = (
        "_answer",
        "_deadlines",
        "_is_complete",
        "_tick",
        "_waiting_count",
        "outcomes",
    )

    def __init__(self, answer: Callable[[list[ProduceOutcome]], None]) -> None:
        #: None once it has been called.
        self._answer: Callable[[list[ProduceOutcome]], None] | None = answer
        #: One per partition, in the order of the request.
        self.outcomes: list[ProduceOutcome] = []
        self._waiting_count = 0
        self._is_complete = False
        self._deadlines: Deadlines | None = None
        self._tick = Tick(0)

    def add(self, outcome: ProduceOutcome) -> None:
        """One more partition to wait for."""
        self.outcomes.append(outcome)
        self._waiting_count += 1

    def one_settled(self) -> None:
        """One partition less to wait for."""
        self._waiting_count -= 1
        if not self._waiting_count and self._is_complete:
            if self._deadlines is not None:
                self._deadlines.leave(self._tick, self)
            self.expire()

    def finish_or_wait(self, deadlines: Deadlines, timeout_ms: int) -> None:
        """All partitions are added: answer when nothing is waited for, or at the deadline."""
        if self._waiting_count:
            self._deadlines = deadlines
            self._tick = deadlines.add(timeout_ms, self)
        self.finish()

    def finish(self) -> None:
        """All partitions are added: answer when nothing is waited for, however long that takes."""
        self._is_complete = True
        if not self._waiting_count:
            self.expire()

    def expire(self) -> None:
        """Answer with what is known now."""
        answer, self._answer = self._answer, None
        if answer is None:
            return
        # Outcomes know us and we know them: let go, or request and records stay until the next collection.
        # After a timeout those that wait on stay in their partitions, and the answer knows the request.
        outcomes, self.outcomes = self.outcomes, []
        answer(outcomes)


class UnwrittenBatches:
    """Batches of a request that was answered at its deadline; they are in memory until they are written."""

    __slots__ = ("_count", "_when_written")

    def __init__(self, outcomes: Iterable[ProduceOutcome], when_written: Callable[[], None]) -> None:
        self._when_written = when_written
        self._count = 0
        for outcome in outcomes:
            assert outcome.partition is not None
            assert outcome.result is not None
            self._count += 1
            outcome.partition.waiters.flush.add(outcome.result.last_offset, self)

    def settle(self, code: ErrorCode) -> None:
        """One of them is written, or never will be."""
        self._count -= 1
        if not self._count:
            self._when_written()
