"""Coordinators of groups: what they answer when, what they know after a start, and how long they speak."""

import asyncio

from tests.broker.coordination.leadership import give_other_up, lose, spread_news, win
from tests.broker.coordination.living_broker import (
    commit,
    commit_of,
    committed,
    committed_once_loaded,
    find_group,
    header,
    living_broker,
    make_topic,
    new_disk,
)
from tests.broker.coordination.test_shard_host import host_of, tell
from tests.broker.transactions.producer_client import connected
from tests.broker.transactions.stories import FEW
from tests.broker.transactions.test_transactional_offsets import (
    holding_offsets,
    stable_code,
    until_committed,
)
from tests.groups.actors import Actor, finish_round, stable_group
from tests.groups.shell import Shell
from tests.scenarios.cluster.story import about, story

from penstock.broker.broker import Broker
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.offset_commit import OffsetCommitRequest

SECONDS_MAX = 10.0
TURNS = 10
"""Of the loop: enough to begin what need not wait for anything."""


@about("coordinator-answers-early", breaks="a commit is answered that one replica has")
@story
def commit_waits_for_another_replica() -> None:
    async def told(broker: Broker) -> None:
        win(host_of(broker).partition, with_other=True)
        spread_news(broker)
        answered = host_of(broker).ask(commit_of("g", 5), header(OffsetCommitRequest, 8))
        for _ in range(TURNS):
            await asyncio.sleep(0)
        assert not answered.done(), "a commit is answered that one replica has"
        give_other_up(host_of(broker).partition)
        await asyncio.wait_for(answered, SECONDS_MAX)

    tell(told)


@about("coordinator-loads-nothing", breaks="a committed offset is forgotten")
@story
def coordinator_is_started_again() -> None:
    async def told() -> None:
        disk = new_disk()
        async with living_broker(disk) as broker:
            await make_topic(broker)
            await find_group(broker, "g")
            assert await commit(broker, "g", 42) == ErrorCode.NONE
        async with living_broker(disk) as broker:
            assert await committed_once_loaded(broker, "g") == 42, "a committed offset is forgotten"

    asyncio.run(told())


@about("pending-offsets-forgotten", breaks="offsets of an open transaction are forgotten")
@story
def coordinator_is_started_again_in_a_transaction() -> None:
    async def told() -> None:
        disk = new_disk()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await make_topic(broker)
            await holding_offsets(broker, client, is_second=True)
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            assert await committed_once_loaded(broker, "g") == -1
            is_open = await stable_code(client) == ErrorCode.UNSTABLE_OFFSET_COMMIT
            assert is_open, "offsets of an open transaction are forgotten"

    asyncio.run(told())


@about("offset-markers-forgotten", breaks="offsets of a committed transaction are forgotten")
@story
def coordinator_is_started_again_after_a_transaction() -> None:
    async def told() -> None:
        disk = new_disk()
        async with living_broker(disk, **FEW) as broker, connected(broker) as client:
            await make_topic(broker)
            producer = await holding_offsets(broker, client, is_second=True)
            assert await producer.end() == ErrorCode.NONE
            await until_committed(broker, 7)
        async with living_broker(disk, **FEW) as broker:
            offset = await committed_once_loaded(broker, "g")
            assert offset == 7, "offsets of a committed transaction are forgotten"

    asyncio.run(told())


@about("generations-unchecked", breaks="a member commits for a generation that is over")
@story
def member_commits_late() -> None:
    """The partition is another member's by now, whose offset the commit would take back."""
    shell = Shell()
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann)
    former = ann.generation
    bob.join()
    ann.join()
    finish_round(ann, bob)
    ann.generation = former
    code = ann.commit(5)
    assert code == ErrorCode.ILLEGAL_GENERATION, "a member commits for a generation that is over"


@about("coordinator-loads-too-soon", breaks="it is read before all of it is committed")
@story
def coordinator_waits_for_what_it_will_read() -> None:
    """Nobody knows yet whether the last commit will stay. What is loaded in vain is tried later and later."""

    async def told(broker: Broker) -> None:
        partition = host_of(broker).partition
        win(partition, with_other=True)
        spread_news(broker)
        undecided = host_of(broker).ask(commit_of("g", 5), header(OffsetCommitRequest, 8))
        win(partition, with_other=True)
        spread_news(broker)
        host = host_of(broker)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        assert host._failures == 0, "it is read before all of it is committed"
        give_other_up(partition)
        await asyncio.wait_for(undecided, SECONDS_MAX)
        assert await committed_once_loaded(broker, "g") == 5

    tell(told)


@about("coordinator-outlives-its-epoch", breaks="a shard decides in the term of its successor")
@story
def leadership_is_lost_and_won_again() -> None:
    """Somebody else has led meanwhile: what this shard knows may be out of date, and nobody has told it."""

    async def told(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == ErrorCode.NONE
        partition = host_of(broker).partition
        lose(partition)
        win(partition)
        assert await commit(broker, "g", 6) == ErrorCode.NOT_COORDINATOR, (
            "a shard decides in the term of its successor"
        )
        spread_news(broker)
        assert await committed_once_loaded(broker, "g") == 5
        assert await committed(broker, "g") == 5

    tell(told)


STORIES = (
    commit_waits_for_another_replica,
    coordinator_is_started_again,
    coordinator_is_started_again_in_a_transaction,
    coordinator_is_started_again_after_a_transaction,
    member_commits_late,
    coordinator_waits_for_what_it_will_read,
    leadership_is_lost_and_won_again,
)
