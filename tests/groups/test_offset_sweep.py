"""What is forgotten, when, and how much at a time."""

from collections.abc import Iterable

import pytest
from tests.groups.actors import GROUP, Actor, finish_round, protocols, stable_group
from tests.groups.shell import FixedTopics, Shell

from penstock.coordinator.events import TopicsDeleted
from penstock.groups.records import GroupMetadataRecord, OffsetCommitRecord
from penstock.groups.settings import GroupSettings
from penstock.model.error_codes import ErrorCode
from penstock.model.ids import Millis, TopicId
from penstock.model.limits import GROUP_RECORDS_PER_TICK
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

RETENTION_MS = 7 * 24 * 60 * 60_000
CHECK_MS = 10 * 60_000
MADE_ANEW = FixedTopics({"orders": GROUP_RECORDS_PER_TICK, "payments": 2}, {"orders": TopicId(b"anew" * 4)})


@pytest.fixture
def shell() -> Shell:
    return Shell()


def commit_from_outside(shell: Shell, *, group: str = GROUP, retention_ms: int = -1, offset: int = 1) -> None:
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topic = OffsetCommitRequestTopic(name="orders", partitions=(partition,))
    request = OffsetCommitRequest(group_id=group, retention_time_ms=retention_ms, topics=(topic,))
    shell.send(request, version=4)


def commit_everywhere(shell: Shell, groups: Iterable[str], *, partition_count: int) -> None:
    partitions = tuple(
        OffsetCommitRequestPartition(partition_index=index, committed_offset=1)
        for index in range(partition_count)
    )
    topic = OffsetCommitRequestTopic(name="orders", partitions=partitions)
    for group in groups:
        shell.send(OffsetCommitRequest(group_id=group, topics=(topic,)), version=8)


def commit_in_a_transaction(shell: Shell, *, offset: int) -> None:
    partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topic = TxnOffsetCommitRequestTopic(name="orders", partitions=(partition,))
    request = TxnOffsetCommitRequest(transactional_id="copy", group_id=GROUP, producer_id=7, topics=(topic,))
    shell.send(request, version=3)


def committed(shell: Shell, group: str = GROUP) -> int:
    topic = OffsetFetchRequestTopic(name="orders", partition_indexes=(0,))
    request = OffsetFetchRequest(group_id=group, topics=(topic,))
    response = shell.ask(OffsetFetchResponse, request, version=7)
    return response.topics[0].partitions[0].committed_offset


def offset_tombstones(shell: Shell) -> list[tuple[str, int]]:
    return [
        (record.key.topic, record.key.partition)
        for record in shell.records()
        if isinstance(record, OffsetCommitRecord) and record.value is None
    ]


def is_group_deleted(shell: Shell) -> bool:
    last = [record for record in shell.records() if isinstance(record, GroupMetadataRecord)][-1]
    return last.value is None


def keep_alive(actor: Actor, duration_ms: int) -> None:
    for _ in range(duration_ms // 1_700_000 + 1):
        actor.shell.wait(1_700_000)
        assert actor.heartbeat() == ErrorCode.NONE


def test_offsets_of_a_group_without_members_are_kept_since_the_last_member_left(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=1_800_000)
    stable_group(shell, ann)
    ann.commit(1)
    keep_alive(ann, RETENTION_MS)
    ann.leave()
    shell.wait(RETENTION_MS - CHECK_MS)
    assert offset_tombstones(shell) == []
    shell.wait(2 * CHECK_MS)
    assert offset_tombstones(shell) == [("orders", 0)]


def test_offset_committed_after_the_last_member_left_is_kept_since_its_commit(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.leave()
    commit_from_outside(shell)
    shell.wait(RETENTION_MS - CHECK_MS)
    commit_from_outside(shell)
    shell.wait(RETENTION_MS - CHECK_MS)
    assert offset_tombstones(shell) == []
    shell.wait(2 * CHECK_MS)
    assert offset_tombstones(shell) == [("orders", 0)]


def test_group_goes_with_its_last_offset(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.commit(1)
    ann.leave()
    shell.wait(RETENTION_MS + CHECK_MS)
    assert is_group_deleted(shell)
    assert shell.shard.group_count == 0


def test_group_without_members_and_offsets_goes_with_the_next_check(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.leave()
    shell.wait(CHECK_MS)
    assert is_group_deleted(shell)


def test_group_that_expects_a_member_is_kept(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.leave()
    bob = Actor(shell, "bob", session_ms=1_800_000)
    bob.send_join()
    shell.wait(CHECK_MS)
    assert not is_group_deleted(shell)
    shell.wait(1_800_000)
    assert is_group_deleted(shell)


def test_stable_group_of_consumers_forgets_topics_it_no_longer_reads(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=1_800_000)
    stable_group(shell, ann)
    ann.commit(1, topic="orders")
    ann.commit(1, topic="payments")
    keep_alive(ann, RETENTION_MS + CHECK_MS)
    assert offset_tombstones(shell) == [("payments", 0)]


def test_group_in_a_round_forgets_nothing(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=1_800_000, rebalance_ms=2_000_000_000)
    bob = Actor(shell, "bob", session_ms=1_800_000)
    stable_group(shell, ann, bob)
    ann.commit(1, topic="payments")
    ann.join()
    bob.join()
    assert ann.joined().generation_id == bob.joined().generation_id == 2
    for _ in range(RETENTION_MS // 1_700_000 + 1):
        shell.wait(1_700_000)
        ann.heartbeat()
        bob.heartbeat()
    assert offset_tombstones(shell) == []
    finish_round(ann, bob)
    shell.wait(CHECK_MS)
    assert offset_tombstones(shell) == [("payments", 0)]


def test_group_of_something_else_forgets_nothing_while_it_has_members(shell: Shell) -> None:
    worker = Actor(shell, "worker", protocol_type="connect", session_ms=1_800_000)
    stable_group(shell, worker)
    worker.commit(1)
    keep_alive(worker, RETENTION_MS + CHECK_MS)
    assert offset_tombstones(shell) == []


def test_group_that_only_has_offsets_forgets_them_since_their_commit(shell: Shell) -> None:
    commit_from_outside(shell)
    shell.wait(RETENTION_MS - CHECK_MS)
    assert shell.shard.group_count == 1
    shell.wait(2 * CHECK_MS)
    assert offset_tombstones(shell) == [("orders", 0)]
    assert shell.shard.group_count == 0


def test_retention_time_of_a_commit_is_honoured(shell: Shell) -> None:
    commit_from_outside(shell, retention_ms=2 * CHECK_MS)
    shell.wait(CHECK_MS)
    assert offset_tombstones(shell) == []
    shell.wait(CHECK_MS)
    assert offset_tombstones(shell) == [("orders", 0)]


def test_offsets_of_an_open_transaction_never_expire(shell: Shell) -> None:
    commit_from_outside(shell)
    commit_in_a_transaction(shell, offset=2)
    shell.wait(RETENTION_MS + CHECK_MS)
    assert offset_tombstones(shell) == []
    shell.end_transaction(7, is_commit=False)
    shell.wait(CHECK_MS)
    assert offset_tombstones(shell) == [("orders", 0)]


def test_offsets_of_deleted_topics_are_forgotten_at_once(shell: Shell) -> None:
    ann = Actor(shell, "ann", protocols=protocols("range", topics=("orders", "payments")))
    stable_group(shell, ann)
    ann.commit(1, topic="orders")
    ann.commit(1, topic="payments", partition=1)
    shell.delete_topics("payments", "never-read")
    assert offset_tombstones(shell) == [("payments", 1)]


def test_offsets_committed_to_a_topic_made_anew_outlive_the_sweep_for_the_former_one() -> None:
    shell = Shell(topics=FixedTopics({"orders": GROUP_RECORDS_PER_TICK, "payments": 2}))
    commit_everywhere(shell, ("a", "b"), partition_count=GROUP_RECORDS_PER_TICK)
    shell.begin_to_forget("orders")
    shell.take(shell.shard.tick(Millis(shell.now)))
    shell.change_topics(MADE_ANEW)
    commit_from_outside(shell, group="b", offset=4)
    commit_from_outside(shell, group="z", offset=5)
    shell.wait(0)
    assert len(offset_tombstones(shell)) == 2 * GROUP_RECORDS_PER_TICK - 1
    assert [committed(shell, group) for group in ("a", "b", "z")] == [-1, 4, 5]


def test_offset_in_a_topic_made_anew_that_waits_for_its_transaction_outlives_the_sweep(shell: Shell) -> None:
    commit_from_outside(shell)
    former = shell.topics.id_of("orders")
    shell.change_topics(MADE_ANEW)
    commit_in_a_transaction(shell, offset=5)
    shell.take(shell.shard.handle(TopicsDeleted(topics={"orders": former}), Millis(shell.now)))
    shell.wait(0)
    assert committed(shell) == -1
    shell.end_transaction(7, is_commit=True)
    assert committed(shell) == 5


def test_former_offset_below_an_aborted_one_stays_hidden_and_is_forgotten_with_the_next_check(
    shell: Shell,
) -> None:
    commit_from_outside(shell)
    former = shell.topics.id_of("orders")
    shell.change_topics(MADE_ANEW)
    commit_in_a_transaction(shell, offset=5)
    shell.take(shell.shard.handle(TopicsDeleted(topics={"orders": former}), Millis(shell.now)))
    shell.wait(0)
    shell.end_transaction(7, is_commit=False)
    assert committed(shell) == -1
    assert offset_tombstones(shell) == []
    shell.wait(CHECK_MS)
    assert offset_tombstones(shell) == [("orders", 0)]


@pytest.mark.parametrize("topics", [MADE_ANEW, FixedTopics({"payments": 2})], ids=["made anew", "gone"])
def test_offsets_of_a_topic_that_went_while_nobody_coordinated_mean_nothing_and_go(
    shell: Shell, topics: FixedTopics
) -> None:
    commit_from_outside(shell)
    commit_in_a_transaction(shell, offset=2)
    shell.topics = topics
    shell.crash()
    shell.end_transaction(7, is_commit=True)
    assert committed(shell) == -1
    shell.wait(CHECK_MS)
    assert offset_tombstones(shell) == [("orders", 0)]
    assert shell.shard.group_count == 0


def test_offsets_of_a_sweep_that_was_cut_off_go_with_the_next_check(shell: Shell) -> None:
    commit_from_outside(shell)
    shell.begin_to_forget("orders")
    shell.topics = MADE_ANEW
    shell.crash()
    commit_from_outside(shell, group="z", offset=5)
    shell.wait(CHECK_MS)
    assert offset_tombstones(shell) == [("orders", 0)]
    assert committed(shell, "z") == 5


def test_check_leaves_offsets_that_do_not_say_which_topic_they_are_of(shell: Shell) -> None:
    commit_from_outside(shell, retention_ms=2 * CHECK_MS)
    shell.topics = MADE_ANEW
    shell.crash()
    shell.wait(CHECK_MS)
    assert offset_tombstones(shell) == []
    assert committed(shell) == 1
    shell.delete_topics("orders")
    assert offset_tombstones(shell) == [("orders", 0)]


def test_sweep_writes_no_more_than_a_batch_at_a_time() -> None:
    partition_count = GROUP_RECORDS_PER_TICK // 2 + 1
    shell = Shell(topics=FixedTopics({"orders": partition_count}), settings=GroupSettings())
    commit_everywhere(shell, ("a", "b", "c"), partition_count=partition_count)
    shell.now += RETENTION_MS + CHECK_MS
    sizes = []
    for _ in range(3):
        outcome = shell.shard.tick(Millis(shell.now))
        sizes.append(len(outcome.records))
        shell.take(outcome)
    assert sizes == [2 * partition_count, partition_count, 0]
    assert shell.shard.group_count == 0
    due = shell.shard.next_deadline()
    assert due is not None
    assert due > shell.now


def test_group_id_that_is_empty_is_swept_too(shell: Shell) -> None:
    commit_from_outside(shell, group="")
    shell.wait(RETENTION_MS + CHECK_MS)
    assert offset_tombstones(shell) == [("orders", 0)]
