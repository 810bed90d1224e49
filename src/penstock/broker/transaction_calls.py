"""What transactions ask of other brokers: one request at a time to each, with all that waited for it.

Whatever is asked while a request is under way makes the next one, so that many transactions that end, or
begin, at the same moment share requests; the slower a broker answers, the more they share. That two requests
are never under way at once also keeps what is asked in order.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from penstock.broker.peers.peer_error import PeerError
from penstock.broker.tasks import Tasks
from penstock.model.ids import NodeId
from penstock.model.limits import TRANSACTION_CALLS_WAITING_MAX, TRANSACTION_PARTITIONS_PER_CALL_MAX

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKind(Generic[Asked, Answer]):
    """How one kind of question is put into requests."""

    name: str
    #: Asks all of these in one request; answers come in the same order, or ``PeerError`` for all.
    send: Callable[[NodeId, Sequence[Asked]], Awaitable[Sequence[Answer]]]
    #: A request has one question of a key at most, since answers name only keys.
    key_of: Callable[[Asked], Hashable]
    #: How many partitions a question names.
    size_of: Callable[[Asked], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call(Generic[Asked, Answer]):
    """A question without an answer; whoever asked cancels it by cancelling ``answered``."""

    asked: Asked
    answered: "asyncio.Future[Answer]"

    def answer(self, answer: Answer) -> None:
        """Hand it over, if anybody still wants it."""
        if not self.answered.done():
            self.answered.set_result(answer)

    def fail(self, error: PeerError) -> None:
        """There is no answer."""
        if not self.answered.done():
            self.answered.set_exception(error)


class TransactionCalls(Generic[Asked, Answer]):
    """Questions of one kind, to all other brokers."""

    def __init__(
        self, kind: CallKind[Asked, Answer], *, loop: asyncio.AbstractEventLoop, tasks: Tasks
    ) -> None:
        self._kind = kind
        self._loop = loop
        self._tasks = tasks
        #: For all and only the brokers that are being asked.
        self._waiting: dict[NodeId, deque[_Call[Asked, Answer]]] = {}

    def ask(self, node_id: NodeId, asked: Asked) -> "asyncio.Future[Answer]":
        """Have a broker asked, soon or when it has answered others; there may come ``PeerError`` instead."""
        waiting = self._waiting.get(node_id)
        if waiting is None:
            waiting = self._waiting[node_id] = deque()
            name = f"ask node {node_id} about {self._kind.name}"
            self._tasks.start(self._work_off(node_id, waiting), name=name)
        if len(waiting) >= TRANSACTION_CALLS_WAITING_MAX:
            raise PeerError(f"{len(waiting)} calls wait for node {node_id} already", was_sent=False)
        call: _Call[Asked, Answer] = _Call(asked=asked, answered=self._loop.create_future())
        waiting.append(call)
        return call.answered

    async def _work_off(self, node_id: NodeId, waiting: "deque[_Call[Asked, Answer]]") -> None:
        taken: list[_Call[Asked, Answer]] = []
        try:
            while taken := self._take(waiting):
                await self._send(node_id, taken)
        finally:
            # Usually nobody is left; when the broker stops, or on a bug, nobody may wait for ever.
            del self._waiting[node_id]
            for call in (*taken, *waiting):
                call.fail(PeerError(f"node {node_id} is not asked any more", was_sent=True))

    async def _send(self, node_id: NodeId, calls: "list[_Call[Asked, Answer]]") -> None:
        try:
            answers = await self._kind.send(node_id, [call.asked for call in calls])
        except PeerError as error:
            for call in calls:
                call.fail(error)
        else:
            for call, answer in zip(calls, answers, strict=True):
                call.answer(answer)

    def _take(self, waiting: "deque[_Call[Asked, Answer]]") -> "list[_Call[Asked, Answer]]":
        """The next ones that fit into a request and still want an answer."""
        taken: dict[Hashable, _Call[Asked, Answer]] = {}
        postponed: list[_Call[Asked, Answer]] = []
        size = 0
        while waiting and size < TRANSACTION_PARTITIONS_PER_CALL_MAX:
            call = waiting.popleft()
            key = self._kind.key_of(call.asked)
            if call.answered.done():
                continue
            if key in taken:
                postponed.append(call)
            else:
                taken[key] = call
                size += self._kind.size_of(call.asked)
        waiting.extendleft(reversed(postponed))
        return list(taken.values())
