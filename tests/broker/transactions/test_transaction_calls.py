"""Calls to other brokers: what waits together travels together, in order, and nobody waits for ever."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from penstock.broker.peers.peer_error import PeerError
from penstock.broker.tasks import Tasks
from penstock.broker.transaction_calls import CallKind, TransactionCalls
from penstock.model.ids import NodeId

ONE, TWO = NodeId(1), NodeId(2)


class Peer:
    """Remembers what it is asked; answers when it is let, or fails."""

    def __init__(self) -> None:
        self.requests: list[tuple[NodeId, tuple[str, ...]]] = []
        self.may_answer = asyncio.Event()
        self.error: Exception | None = None

    async def send(self, node_id: NodeId, asked: Sequence[str]) -> list[str]:
        self.requests.append((node_id, tuple(asked)))
        await self.may_answer.wait()
        if self.error is not None:
            raise self.error
        return [each.upper() for each in asked]


Story = Callable[[TransactionCalls[str, str], Peer, Tasks], Coroutine[Any, Any, None]]


def tell(story: Story) -> None:
    """Questions are words; those that begin alike have the same key."""

    async def run() -> None:
        peer = Peer()
        kind: CallKind[str, str] = CallKind(
            name="words", send=peer.send, key_of=lambda word: word[0], size_of=lambda word: 1
        )
        loop = asyncio.get_running_loop()
        tasks = Tasks(loop)
        async with asyncio.timeout(10):
            await story(TransactionCalls(kind, loop=loop, tasks=tasks), peer, tasks)
        await tasks.stop()

    asyncio.run(run())


async def until_asked(peer: Peer, count: int) -> None:
    while len(peer.requests) < count:
        await asyncio.sleep(0)


def test_calls_of_one_moment_share_a_request_to_each_broker() -> None:
    async def story(calls: TransactionCalls[str, str], peer: Peer, tasks: Tasks) -> None:
        peer.may_answer.set()
        asked = [calls.ask(ONE, "a"), calls.ask(TWO, "b"), calls.ask(ONE, "c")]
        assert await asyncio.gather(*asked) == ["A", "B", "C"]
        assert sorted(peer.requests) == [(ONE, ("a", "c")), (TWO, ("b",))]

    tell(story)


def test_calls_that_come_while_a_request_is_under_way_make_the_next_one() -> None:
    async def story(calls: TransactionCalls[str, str], peer: Peer, tasks: Tasks) -> None:
        first = calls.ask(ONE, "a")
        await until_asked(peer, 1)
        later = [calls.ask(ONE, word) for word in ("b", "c", "d")]
        await asyncio.sleep(0)
        assert len(peer.requests) == 1
        peer.may_answer.set()
        assert await asyncio.gather(first, *later) == ["A", "B", "C", "D"]
        assert peer.requests == [(ONE, ("a",)), (ONE, ("b", "c", "d"))]

    tell(story)


def test_two_calls_of_a_key_never_share_a_request_and_keep_their_order() -> None:
    async def story(calls: TransactionCalls[str, str], peer: Peer, tasks: Tasks) -> None:
        peer.may_answer.set()
        asked = [calls.ask(ONE, word) for word in ("a1", "b1", "a2", "a3")]
        assert await asyncio.gather(*asked) == ["A1", "B1", "A2", "A3"]
        assert peer.requests == [(ONE, ("a1", "b1")), (ONE, ("a2",)), (ONE, ("a3",))]

    tell(story)


def test_request_names_no_more_partitions_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.broker.transaction_calls.TRANSACTION_PARTITIONS_PER_CALL_MAX", 2)

    async def story(calls: TransactionCalls[str, str], peer: Peer, tasks: Tasks) -> None:
        peer.may_answer.set()
        await asyncio.gather(*[calls.ask(ONE, word) for word in ("a", "b", "c")])
        assert peer.requests == [(ONE, ("a", "b")), (ONE, ("c",))]

    tell(story)


def test_call_that_is_cancelled_before_it_is_sent_is_never_sent() -> None:
    async def story(calls: TransactionCalls[str, str], peer: Peer, tasks: Tasks) -> None:
        first = calls.ask(ONE, "a")
        await until_asked(peer, 1)
        unwanted, wanted = calls.ask(ONE, "b"), calls.ask(ONE, "c")
        unwanted.cancel()
        peer.may_answer.set()
        assert [await first, await wanted] == ["A", "C"]
        assert peer.requests == [(ONE, ("a",)), (ONE, ("c",))]

    tell(story)


def test_more_calls_than_may_wait_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.broker.transaction_calls.TRANSACTION_CALLS_WAITING_MAX", 2)

    async def story(calls: TransactionCalls[str, str], peer: Peer, tasks: Tasks) -> None:
        waiting = [calls.ask(ONE, "a"), calls.ask(ONE, "b")]
        with pytest.raises(PeerError, match="2 calls wait for node 1"):
            calls.ask(ONE, "c")
        peer.may_answer.set()
        assert await asyncio.gather(*waiting) == ["A", "B"]

    tell(story)


def test_broker_that_does_not_answer_fails_those_asked_and_is_asked_again_by_the_next() -> None:
    async def story(calls: TransactionCalls[str, str], peer: Peer, tasks: Tasks) -> None:
        peer.error = PeerError("nobody there", was_sent=False)
        peer.may_answer.set()
        with pytest.raises(PeerError, match="nobody there"):
            await calls.ask(ONE, "a")
        peer.error = None
        assert await calls.ask(ONE, "b") == "B"

    tell(story)


def test_nobody_waits_for_a_broker_that_is_not_asked_any_more() -> None:
    async def story(calls: TransactionCalls[str, str], peer: Peer, tasks: Tasks) -> None:
        sent = calls.ask(ONE, "a")
        await until_asked(peer, 1)
        unsent = calls.ask(ONE, "b")
        await tasks.stop()
        for call in (sent, unsent):
            with pytest.raises(PeerError, match="not asked any more"):
                await call

    tell(story)
