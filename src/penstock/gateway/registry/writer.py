"""Carries out changes one after the other, in a thread of its own, as the one writer among all gateways.

A change is: own the transactional id, read the topic to its end, decide, write in a transaction, commit, wait
until our own follower has read it, answer. Whatever goes wrong on the way, the next attempt begins by owning
the id anew, which ends the transaction before for good, and by reading on: if the write is there, it was
committed and is answered; otherwise it is decided again on what others wrote meanwhile. docs/decisions/0023
says why no id can be given twice.
"""

import contextlib
import logging
import queue
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from penstock.gateway.errors import GatewayError
from penstock.gateway.registry.decisions.decision import Decide, Decision
from penstock.gateway.registry.errors import schema_too_large, store_failed, timed_out
from penstock.gateway.registry.follower import Follower
from penstock.gateway.registry.topic.reading import TOPIC, end_offset
from penstock.gateway.registry.topic.writing import TopicWriter, UnfitTopicError, new_write_id
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import PenstockError
from penstock.wire_client.cluster import Cluster
from penstock.wire_client.delivery.failure import DeliveryError
from penstock.wire_client.errors import RefusedError

WAITING_MAX = 256
WRITE_SECONDS_MAX = 20.0
READ_BACK_SECONDS_MAX = 10.0
PAUSE_SECONDS = 0.02
PAUSE_SECONDS_MAX = 1.0
STOP_SECONDS_MAX = 5.0

_TOO_LARGE = frozenset({ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE})
_HOPELESS = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_REPLICATION_FACTOR,
        ErrorCode.POLICY_VIOLATION,
    }
)
"""What does not pass by itself: a person has to do something."""

logger = logging.getLogger("penstock.gateway.registry")


@dataclass(slots=True, kw_only=True)
class _Change:
    """A change on its way, with what was decided last."""

    decide: Decide[Any]
    deadline: float
    write_id: bytes = field(default_factory=new_write_id)
    decision: Decision[Any] | None = None
    answer: Future[Any] = field(default_factory=Future)


class Writer:
    """The thread that writes; any thread may ask for a change."""

    def __init__(self, connect: Callable[[], Cluster], follower: Follower) -> None:
        self._connect = connect
        self._follower = follower
        self._waiting: queue.Queue[_Change | None] = queue.Queue(WAITING_MAX)
        self._thread = threading.Thread(target=self._run, name="penstock-schemas-writer", daemon=True)
        self._cluster: Cluster | None = None
        self._topic: TopicWriter | None = None
        self._is_stopping = False

    def start(self) -> None:
        """Begin to take changes; nothing is connected to before there is one."""
        self._thread.start()

    def stop(self) -> None:
        """End after the change that is under way; those that wait are refused."""
        self._is_stopping = True
        with contextlib.suppress(queue.Full):  # A full queue is looked at without being woken.
            self._waiting.put_nowait(None)
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS_MAX)

    def change(self, decide: Decide[Any], *, seconds_max: float = WRITE_SECONDS_MAX) -> Any:
        """Carry out what ``decide`` decides and return its answer, once it is written and read back."""
        change = _Change(decide=decide, deadline=time.monotonic() + seconds_max)
        try:
            self._waiting.put_nowait(change)
        except queue.Full:
            raise GatewayError(
                503, f"{WAITING_MAX} changes of schemas wait already; try again in a moment."
            ) from None
        try:
            return change.answer.result(seconds_max + READ_BACK_SECONDS_MAX)
        except TimeoutError:
            raise timed_out(
                f"The change was not carried out within {seconds_max + READ_BACK_SECONDS_MAX:g} s; it may "
                "still be. Look before you ask again."
            ) from None

    def _run(self) -> None:
        while not self._is_stopping and (change := self._waiting.get()) is not None:
            self._answer(change)
        while not self._waiting.empty():
            if (left := self._waiting.get_nowait()) is not None:
                left.answer.set_exception(store_failed("The gateway is stopping; ask another one."))
        self._hang_up()

    def _answer(self, change: _Change) -> None:
        self._follower.expect(change.write_id)
        try:
            change.answer.set_result(self._carry_out(change))
        except PenstockError as error:
            change.answer.set_exception(error)
        except Exception as error:
            # A bug in a decision must not end all writing; whoever asked hears of it, and so does the log.
            logger.exception("a change of schemas failed")
            change.answer.set_exception(error)
        finally:
            self._follower.forget(change.write_id)

    def _carry_out(self, change: _Change) -> Any:
        pause = PAUSE_SECONDS
        while True:
            try:
                return self._attempt(change)
            except GatewayError:
                raise
            except PenstockError as error:
                self._recover(error, change)
            # Two gateways that take the id from each other must fall out of step, or neither ever commits.
            time.sleep(random.uniform(0, pause))
            pause = min(pause * 2, PAUSE_SECONDS_MAX)

    def _attempt(self, change: _Change) -> Any:
        self._check_loss()
        topic = self._own()
        self._read_to_end(topic, change)
        if change.decision is not None and self._follower.has_seen(change.write_id):
            return change.decision.answer
        change.decision = change.decide(self._follower.progress.state)
        if not change.decision.records:
            return change.decision.answer
        topic.write(change.decision.records, change.write_id, timestamp_ms=int(time.time() * 1000))
        if not self._wait(lambda: self._follower.has_seen(change.write_id), READ_BACK_SECONDS_MAX):
            raise timed_out(
                f"The change is written, but was not read back within {READ_BACK_SECONDS_MAX:g} s: "
                f"{self._follower.progress.trouble or 'an open transaction of somebody else is in the way'}."
            )
        return change.decision.answer

    def _own(self) -> TopicWriter:
        if self._cluster is None or self._topic is None:
            self._cluster = self._connect()
            self._topic = TopicWriter(self._cluster)
        if not self._topic.is_owner:
            self._topic.take()
            self._follower.poke()
        return self._topic

    def _read_to_end(self, topic: TopicWriter, change: _Change) -> None:
        """Everything committed before we became the owner is read after this; nothing was committed since.

        If something was, we are fenced, and the commit of what is decided now will fail.
        """
        assert self._cluster is not None
        end = end_offset(self._cluster)
        seconds_max = min(READ_BACK_SECONDS_MAX, change.deadline - time.monotonic())
        if not self._wait(lambda: self._has_read(end), seconds_max):
            topic.let_go()
            raise store_failed(
                f"Topic {TOPIC!r} was not read to its end, offset {end}, within {max(seconds_max, 0):g} s: "
                f"{self._follower.progress.trouble or 'an open transaction of somebody else is in the way'}."
            )

    def _has_read(self, end: int) -> bool:
        progress = self._follower.progress
        return progress.topic_id is not None and progress.position >= end

    def _wait(self, is_enough: Callable[[], bool], seconds_max: float) -> bool:
        return (
            self._follower.wait_until(lambda now: is_enough() or bool(now.loss), seconds_max) and is_enough()
        )

    def _check_loss(self) -> None:
        progress = self._follower.progress
        if progress.loss or progress.is_gone:
            raise store_failed(
                f"Nothing can be registered, since {progress.trouble}. What this gateway still knows can be "
                "saved with 'penstock schema export'; then restart all gateways and import it."
            )

    def _recover(self, error: PenstockError, change: _Change) -> None:
        """Make ready for the next attempt, or give up."""
        if self._topic is not None:
            self._topic.let_go()
        if isinstance(error, DeliveryError) and error.code in _TOO_LARGE:
            raise schema_too_large(
                f"The schema is larger than topic {TOPIC!r} takes: raise its max.message.bytes, or split the "
                "schema with references."
            ) from error
        if not isinstance(error, RefusedError | DeliveryError):
            self._hang_up()
        is_hopeless = isinstance(error, UnfitTopicError) or getattr(error, "code", None) in _HOPELESS
        if is_hopeless or time.monotonic() > change.deadline or self._is_stopping:
            raise store_failed(f"The schemas cannot be written at present: {error}") from error
        logger.info("a change of schemas is tried again: %s", error)

    def _hang_up(self) -> None:
        if self._cluster is not None:
            self._cluster.close()
        self._cluster = self._topic = None
