"""One shard on one partition of an internal topic: what it decides is appended, replayed and, once committed,
answered.

A host is *loading* until the partition has been replayed into a new shard, then it *serves*. When a decision
cannot be written it throws the shard away, answers whoever waits, and loads again: what the log says is the
only truth.

It is *in office* while this broker leads the partition in the leader epoch in which it was made. Leadership
may be lost at any moment, before anybody says so here; so a host looks before it decides. Once out of office
it has *left*, for good: the next epoch has a host of its own, even on the same broker, since others may have
written to the log meanwhile.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.broker.coordination.shard_kind import Shard, ShardKind
from penstock.broker.coordination.shard_loading import load_shard, until_settled
from penstock.broker.coordination.steady_clock import SteadyClock
from penstock.broker.partition import Partition
from penstock.broker.tasks import Tasks
from penstock.broker.workers import BlockingWorkers
from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import NOTHING, Outcome, Reply
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, OperatingError
from penstock.model.ids import Millis
from penstock.records.batch import read_header
from penstock.records.builder import build_batch
from penstock.records.control import TransactionMarker, build_transaction_marker
from penstock.records.record import NewRecord
from penstock.storage.log import AppendResult
from penstock.wire.framing import RequestHeader
from penstock.wire.schema import Struct

logger = logging.getLogger(__name__)

RELOAD_SECONDS_MIN = 0.05
RELOAD_SECONDS_MAX = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSurroundings:
    """What all hosts of a broker share."""

    loop: asyncio.AbstractEventLoop
    workers: BlockingWorkers
    tasks: Tasks
    clock: SteadyClock
    #: How many shards may load side by side.
    loading: asyncio.Semaphore


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A request that has not been answered."""

    request: Struct
    api_version: int
    answered: asyncio.Future[Struct]

    def answer(self, response: Struct) -> None:
        """Whoever asked may be gone by now."""
        if not self.answered.done():
            self.answered.set_result(response)


class ShardHost:
    """Drives one shard, for one term of office."""

    def __init__(self, partition: Partition, kind: ShardKind, around: HostSurroundings) -> None:
        self.partition = partition
        self._leader_epoch = partition.leader_epoch
        self._kind = kind
        self._around = around
        self._tokens = itertools.count(1)
        #: Requests that the shard has taken in and not answered yet.
        self._parked: dict[int, _Question] = {}
        #: None while loading, and after leaving.
        self._shard: Shard | None = None
        self._has_left = False
        #: While loading.
        self._load_task: asyncio.Task[None] | None = None
        #: Everything appended for this shard is below.
        self._appended_end = 0
        #: Events that came while loading and must not be lost.
        self._untold: list[object] = []
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = Millis(0)
        self._failures = 0

    def __str__(self) -> str:
        return f"shard {self.partition}"

    @property
    def shard(self) -> Shard | None:
        """The shard while it serves."""
        return self._shard

    @property
    def is_loading(self) -> bool:
        """Whether it will serve, but does not yet."""
        return self._shard is None and not self._has_left

    @property
    def is_in_office(self) -> bool:
        """Whether it speaks for its keys: nobody else has led the partition since it was made."""
        partition = self.partition
        is_leading = partition.is_leader and partition.leader_epoch == self._leader_epoch
        return is_leading and not self._has_left

    def start(self) -> None:
        """Load the shard, in the background unless there is nothing to load."""
        log = self.partition.log
        if log.log_end_offset == log.log_start_offset:
            self._serve(self._kind.make_shard(self._leader_epoch))
        else:
            self._begin_load(0.0)

    def leave(self, code: ErrorCode = ErrorCode.NOT_COORDINATOR) -> None:
        """Serve no more: whoever waits for others, and not for the log, is answered with ``code``."""
        if self._has_left:
            return
        self._has_left = True
        self._untold.clear()
        if self._load_task is not None:
            self._load_task.cancel()
        self._drop_shard(code)
        self._kind.leave(self)

    def ask(
        self,
        request: Struct,
        header: RequestHeader,
        event: type[RequestReceived] = RequestReceived,
        **findings: Any,
    ) -> "asyncio.Future[Struct]":
        """Have the shard decide on a request; the answer comes when it may be given.

        ``findings`` are the fields that ``event`` has beside those of a request.
        """
        answered: asyncio.Future[Struct] = self._around.loop.create_future()
        question = _Question(request=request, api_version=header.api_version, answered=answered)
        shard = self._serving()
        if shard is None:
            answered.set_result(self._refusal(question))
            return answered
        token = next(self._tokens)
        self._parked[token] = question
        received = event(
            token=token,
            request=request,
            api_version=header.api_version,
            client_id=header.client_id or "",
            client_host=header.client_host,
            **findings,
        )
        self._decide(lambda now: shard.handle(received, now))
        return answered

    def tell(self, event: object, *, is_kept_while_loading: bool = False) -> None:
        """Let the shard know something that nobody waits for."""
        shard = self._serving()
        if shard is not None:
            self._decide(lambda now: shard.handle(event, now))
        elif is_kept_while_loading and not self._has_left:
            self._untold.append(event)

    def append_marker(self, marker: TransactionMarker) -> AppendResult:
        """End a producer's transaction in this partition, and so in the shard."""
        shard = self._serving()
        if shard is None:
            loading, gone = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_LEADER_OR_FOLLOWER
            raise ApiError(gone if self._has_left else loading)
        now = self._around.clock.now()
        batch = build_transaction_marker(marker, timestamp=now)
        result = self.partition.append(batch, read_header(batch), now, is_client=False)
        self._appended_end = result.last_offset + 1
        shard.complete_transaction(marker.producer_id, marker.producer_epoch, is_commit=marker.is_commit)
        self.partition.await_commit(result.last_offset, _Decided(self, NOTHING, []))
        return result

    # From a decision to its answers.

    def _serving(self) -> Shard | None:
        """The shard, if there is one and it may decide."""
        if not self.is_in_office:
            self.leave()
        return self._shard

    def _decide(self, decide: Callable[[Millis], Outcome]) -> None:
        """Carry one step of the shard through; one that fails for no known reason costs the shard."""
        try:
            self._take(decide(self._around.clock.now()))
        except Exception:
            logger.exception("shard failed and is loaded again", extra={"shard": str(self)})
            self.decision_lost(ErrorCode.UNKNOWN_SERVER_ERROR)
        self._arm()

    def _take(self, outcome: Outcome) -> None:
        """Append, replay, and answer when everything appended so far is committed."""
        try:
            self._append(outcome)
        except ApiError as error:
            logger.warning("decision cannot be written", extra={"shard": str(self), "reason": str(error)})
            self.decision_lost(error.code)
            return
        decided = _Decided(self, outcome, self._claim(outcome.replies))
        if self.partition.high_watermark >= self._appended_end:
            decided.settle(ErrorCode.NONE)
        elif outcome is not NOTHING:
            self.partition.await_commit(self._appended_end - 1, decided)

    def _claim(self, replies: tuple[Reply, ...]) -> list[tuple[_Question, Struct]]:
        """From here on their outcome answers these; who is still parked when a decision fails is told so."""
        answers = [(self._parked[reply.token], reply.response) for reply in replies]
        for reply in replies:
            self._parked.pop(reply.token, None)
        return answers

    def _append(self, outcome: Outcome) -> None:
        if not outcome.records:
            return
        assert self._shard is not None
        self.partition.leader.check_enough_replicas()
        now = self._around.clock.now()
        producer_id, epoch = -1, -1
        if outcome.transaction is not None:
            producer_id, epoch = outcome.transaction.producer_id, outcome.transaction.producer_epoch
        batch = build_batch(
            [NewRecord(key=record.key, value=record.value, timestamp=now) for record in outcome.records],
            producer_id=producer_id,
            producer_epoch=epoch,
            transactional=outcome.transaction is not None,
        )
        result = self.partition.append(batch, read_header(batch), now, is_client=False)
        self._appended_end = result.last_offset + 1
        for position, record in enumerate(outcome.records):
            self._shard.replay(
                record, offset=result.base_offset + position, producer_id=producer_id, producer_epoch=epoch
            )

    def decision_committed(self, outcome: Outcome) -> None:
        """Carry out what was ordered."""
        if outcome.records:
            self._failures = 0
        if self.is_in_office:
            for effect in outcome.effects:
                self._kind.carry_out(self, effect)

    def decision_lost(self, code: ErrorCode) -> None:
        """The shard has decided what the log does not say: begin again from the log."""
        if self._has_left or self._shard is None:
            return
        self._drop_shard(code)
        self._load_again()

    def refuse_lost(self, question: _Question, code: ErrorCode) -> Struct:
        """The answer to a request whose decision could not be written."""
        return self._kind.refuse_after_failed_append(question.request, question.api_version, code)

    # Time.

    def _arm(self) -> None:
        """Come back when something is due; a deadline moved later is found too early, and put off."""
        due = None if self._shard is None else self._shard.next_deadline()
        if due is None or (self._timer is not None and self._timer_due <= due):
            return
        if self._timer is not None:
            self._timer.cancel()
        delay_ms = max(0, due - self._around.clock.now())
        self._timer_due = due
        self._timer = self._around.loop.call_later(delay_ms / 1000, self._tick)

    def _tick(self) -> None:
        self._timer = None
        shard = self._serving()
        if shard is not None:
            self._decide(shard.tick)

    # Coming and going.

    def _begin_load(self, delay: float) -> None:
        self._load_task = self._around.tasks.start(self._load(delay), name=f"load {self}")

    async def _load(self, delay: float) -> None:
        await asyncio.sleep(delay)
        try:
            shard = await self._loaded_shard()
        except Exception as error:
            # Whatever it is: a shard that nobody loads again would refuse its groups for good.
            if self.is_in_office:
                self._complain(error)
            self._load_again()
            return
        self._load_task = None
        if self.is_in_office:
            self._serve(shard)
        else:
            self.leave()

    def _complain(self, error: Exception) -> None:
        logger.error(
            "shard cannot be loaded",
            exc_info=None if isinstance(error, (ApiError, OperatingError)) else error,
            extra={"shard": str(self), "reason": str(error)},
        )

    async def _loaded_shard(self) -> Shard:
        await until_settled(self.partition)  # which may take long, and others may load meanwhile
        async with self._around.loading:
            shard = self._kind.make_shard(self._leader_epoch)
            await load_shard(shard, self.partition, self._around.workers, leader_epoch=self._leader_epoch)
        return shard

    def _load_again(self) -> None:
        if not self.is_in_office:
            self.leave()
            return
        delay = min(RELOAD_SECONDS_MAX, RELOAD_SECONDS_MIN * 2 ** min(self._failures, 16))
        self._failures += 1
        self._begin_load(delay)

    def _serve(self, shard: Shard) -> None:
        self._kind.refresh(shard)
        self._shard = shard
        self._appended_end = self.partition.log.log_end_offset
        logger.debug("shard loaded", extra={"shard": str(self)})
        self._decide(shard.loaded)
        untold, self._untold = self._untold, []
        for event in untold:
            self.tell(event, is_kept_while_loading=True)

    def _drop_shard(self, code: ErrorCode) -> None:
        self._shard = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        parked, self._parked = self._parked, {}
        for question in parked.values():
            question.answer(self.refuse_lost(question, code))

    def _refusal(self, question: _Question) -> Struct:
        if self._has_left:
            code = ErrorCode.NOT_COORDINATOR
            return self._kind.refuse(question.request, question.api_version, code)
        return self._kind.refuse_while_loading(question.request, question.api_version)


class _Decided:
    """An outcome on its way to the disk, with the questions that it answers."""

    __slots__ = ("_answers", "_host", "_outcome")

    def __init__(self, host: ShardHost, outcome: Outcome, answers: list[tuple[_Question, Struct]]) -> None:
        self._host = host
        self._outcome = outcome
        self._answers = answers

    def settle(self, code: ErrorCode) -> None:
        """It is committed, or lost."""
        if code is ErrorCode.NONE:
            for question, response in self._answers:
                question.answer(response)
            self._host.decision_committed(self._outcome)
        else:
            for question, _ in self._answers:
                question.answer(self._host.refuse_lost(question, code))
            self._host.decision_lost(code)
