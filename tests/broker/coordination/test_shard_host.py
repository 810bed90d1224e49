"""Shards in a living broker: nothing is answered before it is committed, nothing committed is ever lost."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.broker.coordination.living_broker import (
    ask,
    commit,
    commit_of,
    committed,
    committed_once_loaded,
    fetch_of,
    find_group,
    header,
    living_broker,
    make_topic,
    new_disk,
)

from penstock.broker.broker import Broker
from penstock.broker.coordination.shard_host import ShardHost
from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import Outcome, answer
from penstock.groups.shard import GroupShard
from penstock.model.error_codes import ErrorCode
from penstock.model.errors import CorruptLogError, InvariantError
from penstock.model.ids import Millis
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire.messages.offset_commit import OffsetCommitRequest
from penstock.wire.messages.offset_fetch import OffsetFetchRequest

Story = Callable[[Broker], Coroutine[Any, Any, None]]


def tell(story: Story, **settings: str) -> None:
    """Run a story on a new broker that has a topic and knows where groups are."""

    async def run() -> None:
        async with living_broker(new_disk(), **settings) as broker:
            await make_topic(broker)
            await find_group(broker, "g")
            await story(broker)

    asyncio.run(run())


def host_of(broker: Broker, group: str = "g") -> ShardHost:
    return broker.groups.host_for(group)


def join(group: str, member_id: str = "") -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=(JoinGroupRequestProtocol(name="range", metadata=b""),),
    )


def test_group_request_before_anybody_asked_for_a_coordinator_is_not_coordinator() -> None:
    async def run() -> None:
        async with living_broker(new_disk()) as broker:
            await make_topic(broker)
            assert await commit(broker, "g", 5) == ErrorCode.NOT_COORDINATOR

    asyncio.run(run())


def test_find_coordinator_makes_the_topic_compacted_and_names_this_broker() -> None:
    async def story(broker: Broker) -> None:
        found = await find_group(broker, "g", "h")
        assert [(each.key, each.node_id, each.error_code) for each in found.coordinators] == [
            ("g", 1, 0),
            ("h", 1, 0),
        ]
        assert len(broker.image.topics["__consumer_offsets"].partitions) == 2
        assert broker.image.topic_configs("__consumer_offsets")["cleanup.policy"] == "compact"

    tell(story)


def test_commit_is_answered_only_after_its_flush_and_what_follows_waits_for_it() -> None:
    async def story(broker: Broker) -> None:
        host = host_of(broker)
        order: list[str] = []
        commit_answered = host.ask(commit_of("g", 7), header(OffsetCommitRequest, 8))
        fetch_answered = host.ask(fetch_of("g"), header(OffsetFetchRequest, 8))
        commit_answered.add_done_callback(lambda _: order.append("commit"))
        fetch_answered.add_done_callback(lambda _: order.append("fetch"))
        before = host.partition.high_watermark
        assert not commit_answered.done()
        assert not fetch_answered.done(), "it may tell what a crash would take back"
        await asyncio.gather(commit_answered, fetch_answered)
        assert host.partition.high_watermark > before
        assert order == ["commit", "fetch"]

    tell(story)


@pytest.mark.parametrize("is_power_lost", [False, True])
def test_committed_offset_survives_the_death_of_the_process(is_power_lost: bool) -> None:
    disk = new_disk()

    async def first() -> None:
        async with living_broker(disk) as broker:
            await make_topic(broker)
            await find_group(broker, "g")
            assert await commit(broker, "g", 42) == 0
            disk.power_loss() if is_power_lost else disk.crash()

    async def second() -> None:
        async with living_broker(disk) as broker:
            assert await committed_once_loaded(broker, "g") == 42

    asyncio.run(first())
    asyncio.run(second())


def test_requests_while_loading_are_told_so_and_heartbeats_are_trusted() -> None:
    disk = new_disk()

    async def first() -> None:
        async with living_broker(disk) as broker:
            await make_topic(broker)
            await find_group(broker, "g")
            assert await commit(broker, "g", 42) == 0

    async def second() -> None:
        async with living_broker(disk) as broker:
            host = host_of(broker)
            assert host.is_loading, "the broker serves before its groups are read"
            assert await committed(broker, "g") == -1000 - ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            answer = await ask(broker, HeartbeatRequest(group_id="g", generation_id=1, member_id="m"))
            assert answer.error_code == ErrorCode.NONE
            listed = await ask(broker, ListGroupsRequest())
            assert listed.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            assert await committed_once_loaded(broker, "g") == 42

    asyncio.run(first())
    asyncio.run(second())


def test_decision_that_finds_the_disk_full_is_refused_and_the_shard_says_what_the_log_says() -> None:
    disk = new_disk()

    async def run() -> None:
        async with living_broker(disk) as broker:
            await make_topic(broker)
            await find_group(broker, "g")
            assert await commit(broker, "g", 1) == 0
            room, disk.capacity_bytes = disk.capacity_bytes, 0
            assert await commit(broker, "g", 2) == ErrorCode.NOT_COORDINATOR
            disk.capacity_bytes = room
            assert await committed_once_loaded(broker, "g") == 1
            for _ in range(500):
                if await commit(broker, "g", 3) == 0:
                    break
                await asyncio.sleep(0.01)
            assert await committed_once_loaded(broker, "g") == 3

    asyncio.run(run())


def test_shard_that_fails_is_loaded_again_and_whoever_waited_is_answered(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        with monkeypatch.context() as patched:
            patched.setattr(GroupShard, "handle", broken)
            assert await commit(broker, "g", 6) == ErrorCode.UNKNOWN_SERVER_ERROR
        assert await committed_once_loaded(broker, "g") == 5
        assert await commit(broker, "g", 6) == 0

    def broken(self: GroupShard, event: object, now: Millis) -> Outcome:
        raise RuntimeError("a bug")

    tell(story)
    assert "shard failed and is loaded again" in caplog.text


def test_decision_that_cannot_be_replayed_is_answered_like_any_other_bug(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        with monkeypatch.context() as patched:
            patched.setattr(GroupShard, "replay", broken)
            assert await commit(broker, "g", 6) == ErrorCode.UNKNOWN_SERVER_ERROR
        assert await committed_once_loaded(broker, "g") == 6, "it was written before it was replayed"

    def broken(self: GroupShard, *_: object, **__: object) -> None:
        raise InvariantError("a move that is not in the table")

    tell(story)
    assert "shard failed and is loaded again" in caplog.text


def test_shard_that_answers_what_nobody_asked_leaves_nobody_without_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(broker: Broker) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(GroupShard, "handle", confused)
            assert await commit(broker, "g", 5) == ErrorCode.UNKNOWN_SERVER_ERROR
        assert await committed_once_loaded(broker, "g") == -1

    def confused(self: GroupShard, event: RequestReceived, now: Millis) -> Outcome:
        return answer(event.token, HeartbeatResponse()) + answer(event.token + 1, HeartbeatResponse())

    tell(story)


@pytest.mark.parametrize("bug", [InvariantError("a bug"), RuntimeError("a bug")], ids=["known", "unknown"])
def test_shard_that_cannot_be_loaded_for_a_bug_says_where_and_is_tried_again(
    bug: Exception, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        with monkeypatch.context() as patched:
            patched.setattr(GroupShard, "replay", broken)
            host_of(broker).decision_lost(ErrorCode.UNKNOWN_SERVER_ERROR)
            async with asyncio.timeout(10):
                while len(complaints(caplog)) < 2:
                    await asyncio.sleep(0.002)
        assert await committed_once_loaded(broker, "g") == 5

    def broken(self: GroupShard, *_: object, **__: object) -> None:
        raise bug

    tell(story)
    assert {record.exc_info[1] for record in complaints(caplog) if record.exc_info} == {bug}


def test_shard_that_cannot_be_loaded_for_the_disk_says_only_why(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        with monkeypatch.context() as patched:
            patched.setattr("penstock.broker.coordination.shard_host.load_shard", unreadable)
            host_of(broker).decision_lost(ErrorCode.UNKNOWN_SERVER_ERROR)
            async with asyncio.timeout(10):
                while not complaints(caplog):
                    await asyncio.sleep(0.002)
        assert await committed_once_loaded(broker, "g") == 5

    async def unreadable(*_: object, **__: object) -> None:
        raise CorruptLogError("bytes that nobody wrote")

    tell(story)
    assert not any(record.exc_info for record in complaints(caplog))


def complaints(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.getMessage() == "shard cannot be loaded"]


def test_stop_answers_members_who_wait_for_others() -> None:
    async def run() -> None:
        async with living_broker(new_disk()) as broker:
            await find_group(broker, "g")
            member_id = (await ask(broker, join("g"))).member_id
            waiting = asyncio.ensure_future(ask(broker, join("g", member_id)))
            await asyncio.sleep(0)
            assert not waiting.done()
        assert (await waiting).error_code == ErrorCode.NOT_COORDINATOR

    asyncio.run(run())


def test_time_passes_for_a_group_whose_first_generation_is_due() -> None:
    async def story(broker: Broker) -> None:
        member_id = (await ask(broker, join("g"))).member_id
        answer = await ask(broker, join("g", member_id))
        assert (answer.error_code, answer.generation_id, answer.leader) == (0, 1, member_id)

    tell(story, **{"group.initial.rebalance.delay.ms": "30"})


def test_offsets_of_a_deleted_topic_are_forgotten() -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        await ask(broker, DeleteTopicsRequest(topics=(DeleteTopicState(name="orders"),)))
        for _ in range(500):
            if await committed(broker, "g") == -1:
                return
            await asyncio.sleep(0.01)
        raise AssertionError("the offset is still there")

    tell(story)


def test_offsets_of_a_topic_made_anew_outlive_the_news_of_the_former_one() -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        before = broker.image
        await ask(broker, DeleteTopicsRequest(topics=(DeleteTopicState(name="orders"),)))
        await make_topic(broker)
        assert await committed(broker, "g") == -1
        assert await commit(broker, "g", 6) == 0
        broker.groups.follow(before, broker.image)
        for _ in range(3):  # A sweep begins with the next turn of the loop.
            await asyncio.sleep(0)
            assert await committed(broker, "g") == 6
        assert await commit(broker, "h", 7) == 0, "everything decided before is committed"
        assert await committed(broker, "g") == 6

    tell(story, **{"offsets.topic.num.partitions": "1"})


def test_shard_loaded_while_an_image_is_being_followed_is_not_ahead_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        may_follow = asyncio.Event()
        follow = broker.partitions.follow

        async def follow_later(*arguments: Any) -> None:
            await may_follow.wait()
            await follow(*arguments)

        monkeypatch.setattr(broker.partitions, "follow", follow_later)
        making = asyncio.ensure_future(make_topic(broker, "late"))
        async with asyncio.timeout(10):
            while "late" not in broker.image.topics:
                await asyncio.sleep(0.002)
        host_of(broker).decision_lost(ErrorCode.UNKNOWN_SERVER_ERROR)
        assert await committed_once_loaded(broker, "g") == 5
        assert await commit_to_late(broker) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        may_follow.set()
        await making
        assert await commit_to_late(broker) == 0

    async def commit_to_late(broker: Broker) -> int:
        response = await ask(broker, commit_of("g", 1, topic="late"), 8)
        return int(response.topics[0].partitions[0].error_code)

    tell(story)


def test_deleted_internal_topic_takes_its_groups_along_and_is_made_again_when_asked_for() -> None:
    async def story(broker: Broker) -> None:
        assert await commit(broker, "g", 5) == 0
        await ask(broker, DeleteTopicsRequest(topics=(DeleteTopicState(name="__consumer_offsets"),)))
        assert await commit(broker, "g", 6) == ErrorCode.NOT_COORDINATOR
        await find_group(broker, "g")
        assert await committed_once_loaded(broker, "g") == -1
        assert await commit(broker, "g", 6) == 0

    tell(story)


def test_internal_topic_that_cannot_be_made_leaves_the_coordinator_unavailable() -> None:
    async def run() -> None:
        async with living_broker(new_disk()) as broker:
            # Its name in metrics collides with one that is there already.
            topic = CreatableTopic(name="__consumer.offsets", num_partitions=1, replication_factor=1)
            await ask(broker, CreateTopicsRequest(topics=(topic,)))
            (found,) = (await find_group(broker, "g")).coordinators
            assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
            assert found.node_id == -1

    asyncio.run(run())
