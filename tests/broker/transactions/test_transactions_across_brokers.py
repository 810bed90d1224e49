"""Transactions whose coordinator, partitions and groups are on different brokers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from tests.broker.coordination.living_broker import committed, find_group, new_disk
from tests.broker.transactions.neighbours import (
    NOBODY,
    ONE,
    THREE,
    TWO,
    Neighbour,
    Neighbourhood,
    share_out,
    tell,
)
from tests.broker.transactions.producer_client import Client, Producer, connected, read
from tests.broker.transactions.stories import PROTOCOLS, settle, until_state, write_marker

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import NodeId
from penstock.wire.messages.find_coordinator import TRANSACTION, FindCoordinatorRequest

MARKERS = (TWO, "WriteTxnMarkersRequest")
WORD = (ONE, "AddPartitionsToTxnRequest")


class Distant:
    """A transactional producer that talks to the coordinator on one broker and to a leader on another."""

    def __init__(self, near: Client, far: Client, name: str = "t", *, is_second: bool) -> None:
        self.producer = Producer(near, name, is_second=is_second)
        self._near, self._far = near, far

    async def begin(self) -> None:
        """Know who it is and, by the first protocol, say what it will write to."""
        assert await self.producer.init() == ErrorCode.NONE
        if not self.producer.is_second:
            assert await self.producer.add("orders", 1) == ErrorCode.NONE

    async def produce(self, value: bytes) -> int:
        """To partition 1, which the other broker leads; the error code."""
        self.producer.client = self._far
        try:
            return await self.producer.produce(value, partition=1)
        finally:
            self.producer.client = self._near


@asynccontextmanager
async def clients(one: Neighbour, two: Neighbour) -> AsyncIterator[tuple[Client, Client]]:
    async with connected(one) as near, connected(two) as far:
        yield near, far


@PROTOCOLS
@pytest.mark.parametrize("is_commit", [True, False])
def test_transaction_is_ended_on_another_broker(is_second: bool, is_commit: bool) -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with clients(one, two) as (near, far):
            distant = Distant(near, far, is_second=is_second)
            await distant.begin()
            assert await distant.produce(b"x") == ErrorCode.NONE
            assert await distant.produce(b"y") == ErrorCode.NONE
            assert neighbourhood.asked == [WORD], "the second batch is vouched for by the log"
            assert await distant.producer.end(is_commit=is_commit) == ErrorCode.NONE
            await settle(far, 3, partition=1)
            await until_state(near, "CompleteCommit" if is_commit else "CompleteAbort")
            found = await read(far, partition=1)
            assert (found.values, found.markers) == ([b"x", b"y"] if is_commit else [], [2])
            assert neighbourhood.asked == [WORD, MARKERS]

    tell(story)


def test_batch_of_a_transaction_that_its_distant_coordinator_does_not_know_is_refused() -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with clients(one, two) as (near, far):
            distant = Distant(near, far, is_second=False)
            assert await distant.producer.init() == ErrorCode.NONE
            assert await distant.produce(b"x") == ErrorCode.TRANSACTION_ABORTABLE
            assert (await read(far, partition=1, committed=False)).high_watermark == 0

    tell(story)


@PROTOCOLS
def test_offsets_of_a_group_on_another_broker_count_when_the_transaction_commits(is_second: bool) -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        await find_group(two, "g")
        neighbourhood.place("__consumer_offsets", 0, TWO)
        async with clients(one, two) as (near, far):
            producer = Producer(near, is_second=is_second)
            assert await producer.init() == ErrorCode.NONE
            if not is_second:
                assert await producer.add_offsets("g") == ErrorCode.NONE
            producer.client = far
            assert await producer.commit_offset("g", 7) == ErrorCode.NONE
            assert await committed(two, "g") == -1
            producer.client = near
            assert await producer.end() == ErrorCode.NONE
            async with asyncio.timeout(10):
                while await committed(two, "g") != 7:
                    await asyncio.sleep(0.002)
            await until_state(near, "CompleteCommit")

    tell(story)


def test_many_transactions_that_end_together_share_requests() -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with AsyncExitStack() as stack:
            everybody = []
            for number in range(20):
                near, far = await stack.enter_async_context(clients(one, two))
                everybody.append(Distant(near, far, f"t{number}", is_second=True))
                await everybody[-1].begin()
            assert await asyncio.gather(*(each.produce(b"x") for each in everybody)) == [0] * 20
            assert await asyncio.gather(*(each.producer.end() for each in everybody)) == [0] * 20
            await settle(far, 40, partition=1)
            assert (await read(far, partition=1)).values == [b"x"] * 20
            assert 2 <= len(neighbourhood.asked) < 20

    tell(story)


@PROTOCOLS
def test_marker_waits_for_a_broker_that_is_down_and_finds_it_where_it_comes_back(is_second: bool) -> None:
    async def run() -> None:
        neighbourhood, disk = Neighbourhood(), new_disk()
        async with neighbourhood.living(ONE) as one, connected(one) as near:
            async with neighbourhood.living(TWO, disk) as two, connected(two) as far:
                await share_out(neighbourhood, one)
                distant = Distant(near, far, is_second=is_second)
                await distant.begin()
                assert await distant.produce(b"x") == ErrorCode.NONE
            assert await distant.producer.end() == ErrorCode.NONE
            await until_asked(neighbourhood, MARKERS, 2)
            async with neighbourhood.living(TWO, disk) as two, connected(two) as far:
                await settle(far, 2, partition=1)
                assert (await read(far, partition=1)).values == [b"x"]
                await until_state(near, "CompleteCommit")

    asyncio.run(run())


async def until_asked(neighbourhood: Neighbourhood, request: tuple[NodeId, str], count: int) -> None:
    async with asyncio.timeout(10):
        while neighbourhood.asked.count(request) < count:
            await asyncio.sleep(0.002)


@pytest.mark.parametrize("former", [NOBODY, ONE, THREE], ids=["nobody", "one without it", "a dead one"])
def test_marker_follows_the_partition_to_its_next_leader(former: NodeId) -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with clients(one, two) as (near, far):
            distant = Distant(near, far, is_second=True)
            await distant.begin()
            assert await distant.produce(b"x") == ErrorCode.NONE
            neighbourhood.place("orders", 1, former)
            if former is ONE:
                one.replicas.by_name("orders", 1).abandon()
            assert await distant.producer.end() == ErrorCode.NONE
            await asyncio.sleep(0.05)
            assert not (await read(far, partition=1)).values
            neighbourhood.place("orders", 1, TWO)
            await settle(far, 2, partition=1)
            assert (await read(far, partition=1)).values == [b"x"]
            await until_state(near, "CompleteCommit")

    tell(story)


def test_partition_that_a_broker_does_not_have_is_led_by_another() -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with connected(two) as far:
            assert await write_marker(far, 7, 5, partitions=(0,)) == [ErrorCode.NOT_LEADER_OR_FOLLOWER]
            assert await write_marker(far, 7, 5, partitions=(1,)) == [ErrorCode.NONE]

    tell(story)


def test_former_coordinator_is_fenced_where_its_successor_has_been() -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with clients(one, two) as (near, far):
            distant = Distant(near, far, is_second=False)
            await distant.begin()
            assert await distant.produce(b"x") == ErrorCode.NONE
            producer = distant.producer
            # Its successor, of a later epoch, aborts what it does not know to be decided.
            done = await write_marker(
                far, producer.producer_id, producer.epoch, partitions=(1,), coordinator_epoch=9
            )
            assert done == [ErrorCode.NONE]
            assert await producer.end() == ErrorCode.NONE
            await until_state(near, "CompleteCommit")
            found = await read(far, partition=1)
            assert (found.values, found.markers) == ([], [1]), "the late marker has changed nothing"

    tell(story)


def test_producer_is_told_to_come_back_while_its_coordinator_cannot_be_reached() -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with clients(one, two) as (near, far):
            distant = Distant(near, far, is_second=True)
            await distant.begin()
            neighbourhood.place("__transaction_state", 0, THREE)
            assert await distant.produce(b"x") == ErrorCode.NOT_ENOUGH_REPLICAS
            neighbourhood.place("__transaction_state", 0, NOBODY)
            assert await distant.produce(b"x") == ErrorCode.NOT_ENOUGH_REPLICAS
            neighbourhood.place("__transaction_state", 0, ONE)
            distant.producer.sequences.clear()
            assert await distant.produce(b"x") == ErrorCode.NONE

    tell(story)


def test_coordinator_that_has_moved_is_found_while_the_batch_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with neighbourhood.living(THREE) as three, clients(one, two) as (near, far):
            distant = Distant(near, far, is_second=True)
            await distant.begin()
            neighbourhood.place("__transaction_state", 0, THREE)
            ask = two.peers.ask

            async def ask_and_learn(node_id: NodeId, *rest: Any, **more: Any) -> Any:
                answer = await ask(node_id, *rest, **more)
                neighbourhood.place("__transaction_state", 0, ONE)
                return answer

            monkeypatch.setattr(two.peers, "ask", ask_and_learn)
            assert not list(three.transactions.hosts)
            assert await distant.produce(b"x") == ErrorCode.NONE
            assert neighbourhood.asked == [(THREE, WORD[1]), WORD]

    tell(story)


def test_every_broker_knows_the_coordinator() -> None:
    async def story(neighbourhood: Neighbourhood, one: Neighbour, two: Neighbour) -> None:
        async with clients(one, two) as both:
            for client in both:
                request = FindCoordinatorRequest(key_type=TRANSACTION, coordinator_keys=("t",))
                (found,) = (await client.ask(request)).coordinators
                assert (found.error_code, found.node_id) == (ErrorCode.NONE, ONE)
                assert f"{found.host}:{found.port}" == one.address

    tell(story)
