"""The connections of one lane to one peer, and the questions that wait for them.

Questions leave in the order they were asked, on the first connection that has room; while there is none,
another connection is opened, up to the lane's limit, one at a time. A question that is given up takes its
connection with it: its answer would come later, and whoever asks next would wait behind it.

After a failure the line rests before it connects again, longer each time, and questions asked meanwhile fail
at once. The rest is counted from the beginning of the attempt that failed: one that took long has waited
enough. A connection that is lost before it carried any answer counts as failed, too; else a peer that accepts
and hangs up would be called again without a pause. Questions that merely got no answer in time do not count:
their time has set the pace.
"""

import asyncio
import logging
import os
from collections import deque
from dataclasses import dataclass
from typing import Any

from penstock.broker.clock import Clock
from penstock.broker.frames import FrameReader
from penstock.broker.peers.address import Address
from penstock.broker.peers.lane import Lane
from penstock.broker.peers.peer_connection import PeerConnection
from penstock.broker.peers.peer_error import PeerError
from penstock.broker.peers.question import Question
from penstock.broker.tasks import Tasks
from penstock.model.limits import PEER_QUESTIONS_WAITING_MAX
from penstock.wire.api_keys import APIS, ApiKey
from penstock.wire.framing import encode_request
from penstock.wire.schema import Struct

logger = logging.getLogger(__name__)

CONNECT_SECONDS_MAX = 1.5
"""Kernels ask a second time after one second, and a third time when we would rather begin anew."""

REST_SECONDS_MIN = 0.05
REST_SECONDS_MAX = 1.0
NUMBER_MAX = 0x7FFF_FFFF

_KEYS: dict[str, ApiKey] = {f"{spec.name}Request": spec.key for spec in APIS.values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSurroundings:
    """What all lines of a broker share."""

    loop: asyncio.AbstractEventLoop
    clock: Clock
    tasks: Tasks
    client_id: str
    scratch: bytearray
    frame_bytes_max: int


class Line:
    """Asks one peer for one purpose."""

    def __init__(self, address: Address, lane: Lane, surroundings: PeerSurroundings) -> None:
        self._address = address
        self._lane = lane
        self._around = surroundings
        self._waiting: deque[Question] = deque()
        self._connections: dict[PeerConnection, None] = {}
        self._connecting: asyncio.Task[None] | None = None
        self._connecting_since = 0.0
        self._number = 0
        self._rest_seconds = REST_SECONDS_MIN  # after the next failure
        self._rests_until = 0.0
        self._reason = ""

    async def ask(self, request: Struct, version: int, *, seconds_max: float) -> Any:
        """The peer's answer; when it is given up or cancelled, nothing of the question stays behind."""
        question = self._enqueue(request, version)
        try:
            async with asyncio.timeout(seconds_max):
                return await question.answered
        except TimeoutError as error:
            reason = f"{self._address} did not answer {question} within {seconds_max:g} s"
            raise PeerError(reason, was_sent=question.was_sent) from error
        finally:
            if not question.is_over:
                self._give_up(question)

    def close(self, reason: str) -> None:
        """Hang up. The line must not be asked any more."""
        if self._connecting is not None:
            self._connecting.cancel()
        connections, self._connections = self._connections, {}
        for connection in connections:
            connection.close(reason)
        self._refuse_waiting(reason)

    @property
    def _is_resting(self) -> bool:
        return self._around.clock.monotonic() < self._rests_until

    def _enqueue(self, request: Struct, version: int) -> Question:
        if len(self._waiting) >= PEER_QUESTIONS_WAITING_MAX:
            reason = (
                f"{self._address} has {len(self._waiting)} questions waiting in lane {self._lane} already"
            )
            raise PeerError(reason, was_sent=False)
        self._number = self._number % NUMBER_MAX + 1
        key = _KEYS[type(request).__name__]
        frame = encode_request(key, version, self._number, request, client_id=self._around.client_id)
        answered = self._around.loop.create_future()
        question = Question(number=self._number, api_key=key, version=version, frame=frame, answered=answered)
        self._waiting.append(question)
        self._send_waiting()
        return question

    def _give_up(self, question: Question) -> None:
        if question in self._waiting:
            self._waiting.remove(question)
        for connection in list(self._connections):
            if connection.is_asked(question):
                self._forget(connection)
                connection.close(f"was hung up on, since it kept {question} waiting")
        self._send_waiting()

    def _send_waiting(self) -> None:
        while self._waiting:
            connection = next((each for each in self._connections if each.has_room), None)
            if connection is None:
                self._open_another()
                return
            question = self._waiting.popleft()
            if not question.answered.done():
                connection.send(question)

    def _open_another(self) -> None:
        if self._connecting is not None or len(self._connections) >= self._lane.connections_max:
            return
        if not self._is_resting:
            self._connecting_since = self._around.clock.monotonic()
            self._connecting = self._around.tasks.start(
                self._connect(), name=f"connect to {self._address} for {self._lane}"
            )
        elif not self._connections:
            self._refuse_waiting(self._reason)

    async def _connect(self) -> None:
        connection = self._new_connection()
        try:
            async with asyncio.timeout(CONNECT_SECONDS_MAX):
                await self._around.loop.create_connection(lambda: connection, *self._address)
            if connection.is_closed:
                self._fail(connection.reason)
            else:
                self._connections[connection] = None
        except (OSError, ValueError, OverflowError) as error:  # the last two: no such host or port can exist
            self._fail(f"cannot be reached: {_reason_of(error)}")
        finally:
            self._connecting = None
            if connection not in self._connections:
                connection.close("is not wanted any more")
        self._send_waiting()

    def _new_connection(self) -> PeerConnection:
        around = self._around
        reader = FrameReader(around.scratch, around.frame_bytes_max, is_trusting=True)
        return PeerConnection(
            self._address,
            reader,
            questions_max=self._lane.questions_max,
            on_room=self._send_waiting,
            on_lost=self._lose,
        )

    def _lose(self, connection: PeerConnection) -> None:
        """A connection has ended by itself; those that we close are forgotten before."""
        if connection in self._connections:
            self._forget(connection)
            if not connection.has_answered:
                self._fail(connection.reason)
            self._send_waiting()

    def _forget(self, connection: PeerConnection) -> None:
        del self._connections[connection]
        if connection.has_answered:
            self._rest_seconds = REST_SECONDS_MIN

    def _fail(self, reason: str) -> None:
        if self._rest_seconds == REST_SECONDS_MIN:
            facts = {"address": str(self._address), "lane": self._lane.value, "reason": reason}
            logger.info("peer fails", extra=facts)
        self._reason = reason
        self._rests_until = self._connecting_since + self._rest_seconds
        self._rest_seconds = min(2 * self._rest_seconds, REST_SECONDS_MAX)
        if not self._connections:
            self._refuse_waiting(reason)

    def _refuse_waiting(self, reason: str) -> None:
        waiting, self._waiting = self._waiting, deque()
        for question in waiting:
            question.fail(f"{self._address} {reason}")


def _reason_of(error: Exception) -> str:
    if not isinstance(error, OSError):
        return str(error)
    if isinstance(error, TimeoutError) and error.errno is None:
        return f"no connection within {CONNECT_SECONDS_MAX:g} s"
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    return error.strerror or str(error)
