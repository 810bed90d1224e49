"""Shards whose partitions change hands: one speaks for its keys only while it may, and knows all it must."""

import asyncio
from typing import Any

import pytest
from tests.broker.coordination.leadership import give_other_up, lose, spread_news, win
from tests.broker.coordination.living_broker import (
    ask,
    commit,
    commit_of,
    committed,
    committed_once_loaded,
    header,
    make_topic,
)
from tests.broker.coordination.test_shard_host import host_of, join, tell

from penstock.broker.broker import Broker
from penstock.broker.coordination.shard_host import ShardHost
from penstock.broker.coordination.shard_loading import load_shard
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError
from penstock.records.control import TransactionMarker
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.heartbeat import HeartbeatRequest
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire.messages.offset_commit import OffsetCommitRequest

MARKER = TransactionMarker(is_commit=True, coordinator_epoch=0, producer_id=7, producer_epoch=0)
HEARTBEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


async def committing(broker: Broker, offset: int) -> "asyncio.Future[Any]":
    """A commit that is appended, and waits."""
    waiting = host_of(broker).ask(commit_of("g", offset), header(OffsetCommitRequest, 8))
    while host_of(broker).partition.log.is_dirty or not broker.flusher.is_idle:
        await asyncio.sleep(0.001)
    assert not waiting.done()
    return waiting


def condition_of(host: ShardHost) -> str:
    if host.is_loading:
        return "loading"
    return "gone" if host.shard is None else "serving"


def code_of(answer: Any) -> int:
    return int(answer.topics[0].partitions[0].error_code)


def test_shard_leaves_with_the_leadership_and_is_loaded_when_it_comes_back() -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        former = host_of(broker)
        member_id = (await ask(broker, join("g"))).member_id
        waiting = asyncio.ensure_future(ask(broker, join("g", member_id)))
        await asyncio.sleep(0)
        lose(former.partition)
        spread_news(broker)
        assert (await waiting).error_code == ErrorCode.NOT_COORDINATOR
        assert await commit(broker, "g", 6) == ErrorCode.NOT_COORDINATOR
        assert (await ask(broker, HEARTBEAT)).error_code == ErrorCode.NOT_COORDINATOR
        (described,) = (await ask(broker, DescribeGroupsRequest(groups=("g",)))).groups
        assert described.error_code == ErrorCode.NOT_COORDINATOR
        listed = await ask(broker, ListGroupsRequest())
        assert (listed.error_code, listed.groups) == (ErrorCode.NONE, ())
        win(former.partition)
        spread_news(broker)
        assert await committed_once_loaded(broker, "g") == 5
        assert host_of(broker) is not former
        assert await commit(broker, "g", 6) == 0

    tell(story)


def test_topic_deleted_and_made_anew_while_somebody_else_coordinates_begins_without_offsets() -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        partition = host_of(broker).partition
        lose(partition)
        spread_news(broker)
        await ask(broker, DeleteTopicsRequest(topics=(DeleteTopicState(name="orders"),)))
        await make_topic(broker)
        win(partition)
        spread_news(broker)
        assert await committed_once_loaded(broker, "g") == -1
        assert await commit(broker, "g", 6) == 0
        assert await committed(broker, "g") == 6

    tell(story)


def test_shard_that_has_not_heard_of_its_loss_decides_nothing_more() -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        host = host_of(broker)
        end = host.partition.log.log_end_offset
        lose(host.partition)
        assert condition_of(host) == "serving", "nobody has told it"
        assert await committed(broker, "g") == -1000 - ErrorCode.NOT_COORDINATOR
        assert condition_of(host) == "gone"
        win(host.partition)
        assert await commit(broker, "g", 6) == ErrorCode.NOT_COORDINATOR, "it is another term"
        assert host.partition.log.log_end_offset == end

    tell(story)


def test_time_does_not_pass_for_a_shard_out_of_office() -> None:
    async def story(broker: Broker) -> None:
        member_id = (await ask(broker, join("g"))).member_id
        waiting = asyncio.ensure_future(ask(broker, join("g", member_id)))
        await asyncio.sleep(0)
        partition = host_of(broker).partition
        lose(partition)
        win(partition)  # Whatever it appended now would be under the epoch of its successor.
        assert (await waiting).error_code == ErrorCode.NOT_COORDINATOR
        assert partition.log.log_end_offset == 0

    tell(story, **{"group.initial.rebalance.delay.ms": "30"})


def test_decision_under_way_when_leadership_is_lost_is_not_answered_for() -> None:
    async def story(broker: Broker) -> None:
        host = host_of(broker)
        win(host.partition, with_other=True)
        spread_news(broker)
        waiting = await committing(broker, 5)
        host = host_of(broker)
        lose(host.partition)
        assert code_of(await waiting) == ErrorCode.NOT_COORDINATOR
        assert condition_of(host) == "gone"
        spread_news(broker)
        assert not [each for each in broker.groups.hosts if each is host]

    tell(story)


def test_decision_under_way_survives_a_new_epoch_of_the_same_leader() -> None:
    async def story(broker: Broker) -> None:
        partition = host_of(broker).partition
        win(partition, with_other=True)
        spread_news(broker)
        former = host_of(broker)
        waiting = await committing(broker, 5)
        win(partition, with_other=True)
        spread_news(broker)
        assert host_of(broker) is not former
        for _ in range(3):
            await asyncio.sleep(0.01)
            assert await committed(broker, "g") == -1000 - ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert not waiting.done(), "whether it is committed is not known"
        with pytest.raises(ApiError) as refused:
            broker.groups.append_marker(partition.index, MARKER)
        assert refused.value.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        give_other_up(partition)
        assert code_of(await waiting) == ErrorCode.NONE
        assert await committed_once_loaded(broker, "g") == 5

    tell(story)


def test_shard_that_waits_to_be_loaded_keeps_no_other_from_it() -> None:
    async def story(broker: Broker) -> None:
        stuck, other = (host.partition for host in broker.groups.hosts)
        names = {broker.groups.index_for(name): name for name in ("g", "h", "i", "j")}
        assert await commit(broker, names[other.index], 8) == 0
        win(stuck, with_other=True)
        spread_news(broker)
        host = broker.groups.host_for(names[stuck.index])
        unsettled = host.ask(commit_of(names[stuck.index], 5), header(OffsetCommitRequest, 8))
        win(stuck, with_other=True)
        win(other)
        spread_news(broker)
        assert await committed_once_loaded(broker, names[other.index]) == 8
        assert not unsettled.done()

    tell(story)


def test_loading_stops_when_leadership_is_lost(caplog: pytest.LogCaptureFixture) -> None:
    async def story(broker: Broker) -> None:
        partition = host_of(broker).partition
        win(partition, with_other=True)
        spread_news(broker)
        await committing(broker, 5)
        win(partition, with_other=True)
        spread_news(broker)
        host = host_of(broker)
        await asyncio.sleep(0.01)
        assert condition_of(host) == "loading"
        lose(partition)
        spread_news(broker)
        assert condition_of(host) == "gone"
        await asyncio.sleep(0.01)
        assert not [task for task in asyncio.all_tasks() if task.get_name() == f"load {host}"]

    tell(story)
    assert "shard cannot be loaded" not in caplog.text


def test_leadership_lost_in_the_middle_of_reading_ends_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        partition = host_of(broker).partition

        async def load_and_lose(*arguments: Any, **choices: Any) -> None:
            await load_shard(*arguments, **choices)
            lose(partition)

        win(partition)
        with monkeypatch.context() as patched:
            patched.setattr("penstock.broker.coordination.shard_host.load_shard", load_and_lose)
            spread_news(broker)
            host = host_of(broker)
            async with asyncio.timeout(10):
                while condition_of(host) == "loading":
                    await asyncio.sleep(0.001)
        assert condition_of(host) == "gone"
        win(partition)
        spread_news(broker)
        assert await committed_once_loaded(broker, "g") == 5

    tell(story)


def test_decision_is_refused_while_too_few_replicas_are_in_sync() -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        partition = host_of(broker).partition
        win(partition, min_insync_replicas=2)
        spread_news(broker)
        assert await committed_once_loaded(broker, "g") == 5
        assert await commit(broker, "g", 6) == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert await committed_once_loaded(broker, "g") == 5
        win(partition)
        spread_news(broker)
        assert await committed_once_loaded(broker, "g") == 5
        assert await commit(broker, "g", 6) == 0

    tell(story)


def test_marker_for_a_partition_that_was_lost_is_for_another_leader() -> None:
    async def story(broker: Broker) -> None:
        partition = host_of(broker).partition
        lose(partition)
        for _ in range(2):
            with pytest.raises(ApiError) as refused:
                broker.groups.append_marker(partition.index, MARKER)
            assert refused.value.code == ErrorCode.NOT_LEADER_OR_FOLLOWER
            spread_news(broker)

    tell(story)
