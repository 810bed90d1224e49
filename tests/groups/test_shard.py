"""The door of a shard: the order of things, what it must not be asked, what it forgets and notices."""

from dataclasses import replace

import pytest
from tests.groups.actors import GROUP, Actor, stable_group
from tests.groups.shell import DEFAULTS, START, TOPICS, Shell, numbered_uuids

from penstock.coordinator.events import RequestReceived
from penstock.coordinator.outcome import CoordinatorRecord, Outcome
from penstock.groups.classic_group import ClassicGroup
from penstock.groups.group_record import encoded, group_tombstone
from penstock.groups.records import (
    OffsetCommitKey,
    OffsetCommitRecord,
    OffsetCommitValue,
)
from penstock.groups.shard import GroupShard
from penstock.model.errors import InvariantError
from penstock.model.ids import Millis, TopicPartition
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from penstock.wire.messages.list_groups import ListGroupsRequest


@pytest.fixture
def shell() -> Shell:
    return Shell()


def make_shard() -> GroupShard:
    uuids = numbered_uuids()
    return GroupShard(settings=DEFAULTS, topics=TOPICS, new_uuid=lambda: next(uuids))


def group_of(shell: Shell) -> ClassicGroup:
    group = shell.shard._state.groups[GROUP]
    assert isinstance(group, ClassicGroup)
    return group


def offset_record(offset: int | None) -> CoordinatorRecord:
    key = OffsetCommitKey(group_id=GROUP, topic="orders", partition=0)
    value = None if offset is None else OffsetCommitValue(offset=offset)
    return encoded(OffsetCommitRecord(key=key, value=value))


def test_shard_that_is_not_loaded_has_nothing_to_do() -> None:
    shard = make_shard()
    assert shard.next_deadline() is None
    assert shard.loaded(Millis(START)) == Outcome()
    assert shard.next_deadline() == START + DEFAULTS.offsets_retention_check_interval_ms


def test_request_that_is_not_about_groups_is_a_bug(shell: Shell) -> None:
    with pytest.raises(InvariantError, match="no request about groups"):
        shell.send(InitProducerIdRequest(), version=0)


def test_request_before_the_replay_of_a_decision_is_a_bug(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    members = (MemberIdentity(member_id=ann.member_id),)
    leave = RequestReceived(
        token=99, request=LeaveGroupRequest(group_id=GROUP, members=members), api_version=3
    )
    outcome = shell.shard.handle(leave, Millis(shell.now))
    assert outcome.records
    with pytest.raises(InvariantError, match="not replayed"):
        shell.shard.handle(replace(leave, token=100), Millis(shell.now))
    with pytest.raises(InvariantError, match="not replayed"):
        shell.shard.validate()


def test_deadlines_of_a_group_that_has_decided_wait_for_the_replay(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob", session_ms=12_000)
    stable_group(shell, ann)
    bob.send_join()
    ann.leave()
    # Before the shell comes to look the join phase has ended, with nobody in it, and then the time of bob.
    shell.now += 20_000
    first = shell.shard.tick(Millis(shell.now))
    assert len(first.records) == 1
    assert shell.shard.next_deadline() == shell.now
    shell.take(first)
    second = shell.shard.tick(Millis(shell.now))
    assert second == Outcome()
    shell.take(second)
    assert not group_of(shell).live.members.pending


def test_records_of_other_kinds_of_group_are_passed_over() -> None:
    shard = make_shard()
    share_group = CoordinatorRecord(key=bytes.fromhex("000b000167"), value=bytes(2))
    shard.replay(share_group, offset=0)
    assert shard.group_count == 0


def test_group_whose_record_is_gone_keeps_its_offsets(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.commit(1)
    ann.leave()
    shell.take(Outcome(records=(group_tombstone(GROUP),)))
    assert group_of(shell).stored is None
    shell.take(Outcome(records=(offset_record(None),)))
    assert shell.shard.group_count == 0


def test_tombstone_of_an_unknown_group_means_nothing(shell: Shell) -> None:
    shell.take(Outcome(records=(group_tombstone("nobody"), offset_record(None))))
    assert shell.shard.group_count == 0


def test_deletion_of_a_group_in_which_members_wait_is_a_bug(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    ann.join()
    with pytest.raises(InvariantError, match="while members wait"):
        shell.shard.replay(group_tombstone(GROUP), offset=100)


def test_story_of_a_group_is_loaded_to_its_end(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    for _ in range(3):
        stable_group(shell, ann)
        ann.leave()
        ann.member_id = ""
    stable_group(shell, ann)
    before = shell.shard.hard_state()
    shell.crash()
    assert shell.shard.hard_state() == before
    assert group_of(shell).live.generation == 7


def test_validation_notices_offsets_of_a_group_that_does_not_exist(shell: Shell) -> None:
    shell.take(Outcome(records=(offset_record(1),)))
    del shell.shard._state.groups[GROUP]
    with pytest.raises(InvariantError, match="has offsets and does not exist"):
        shell.shard.validate()


def test_validation_notices_a_group_that_is_kept_for_nothing(shell: Shell) -> None:
    shell.shard._create(GROUP)
    with pytest.raises(InvariantError, match="kept for nothing"):
        shell.shard.validate()


def test_validation_notices_a_generation_that_is_not_in_the_log(shell: Shell) -> None:
    stable_group(shell, Actor(shell, "ann"))
    group_of(shell).live.generation = 2
    with pytest.raises(InvariantError, match="not in the log"):
        shell.shard.validate()
    group_of(shell).live.generation = 0
    with pytest.raises(InvariantError, match="back at generation 0"):
        shell.shard.validate()


def test_validation_notices_an_assignment_that_is_not_in_the_log(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    group_of(shell).live.members[ann.member_id].assignment = b"more"
    with pytest.raises(InvariantError, match="other members than the log"):
        shell.shard.validate()


def test_validation_notices_a_member_nobody_would_miss(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    group_of(shell).live.timers.end_session(ann.member_id)
    with pytest.raises(InvariantError, match="every member that can speak has a session"):
        shell.shard.validate()


def test_list_of_an_empty_shard_is_empty(shell: Shell) -> None:
    token = shell.send(ListGroupsRequest(), version=5)
    assert getattr(shell.answers[token], "groups", None) == ()


def test_summary_tells_members_state_and_offsets(shell: Shell) -> None:
    stable_group(shell, Actor(shell, "one"), Actor(shell, "two"))
    shell.shard.replay(offset_record(7), offset=100)
    (summary,) = shell.shard.summaries()
    assert (summary.group_id, summary.member_count, summary.state_name) == (GROUP, 2, "Stable")
    assert summary.offsets == {TopicPartition("orders", 0): 7}
