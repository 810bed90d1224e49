"""Clients of the classic protocol in a consumer group."""

import pytest
from tests.groups.actors import Actor, protocols
from tests.groups.modern import Modern, ledger_of, settle
from tests.groups.shell import FixedTopics, Shell

from penstock.groups.consumer_protocol import (
    ConsumerProtocolSubscription,
    ProtocolTopicPartitions,
    read_assignment,
    write_subscription,
)
from penstock.groups.settings import GroupSettings, MigrationPolicy
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.join_group import JoinGroupRequestProtocol
from penstock.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


@pytest.fixture
def shell() -> Shell:
    """A group with one member that speaks the consumer protocol."""
    shell = Shell(settings=GroupSettings(group_consumer_session_timeout_ms=1_000_000))
    Modern(shell, "ann").settle(2)
    return shell


def owning(*numbers: int, name: str = "cooperative-sticky") -> tuple[JoinGroupRequestProtocol, ...]:
    """What a cooperative client says that owns these partitions."""
    owned = (ProtocolTopicPartitions(topic="orders", partitions=numbers),) if numbers else ()
    subscription = ConsumerProtocolSubscription(topics=("orders",), owned_partitions=owned)
    return (JoinGroupRequestProtocol(name=name, metadata=write_subscription(subscription)),)


def join(actor: Actor) -> int:
    actor.join()
    return actor.joined().error_code


def sync(actor: Actor) -> list[int]:
    """The numbers of the partitions that a member is given."""
    actor.sync()
    response = actor.synced()
    assert response.error_code == ErrorCode.NONE
    assignment = read_assignment(response.assignment)
    assert assignment is not None
    return sorted(number for of in assignment.assigned_partitions for number in of.partitions)


def ann_of(shell: Shell) -> Modern:
    """The member that was there first, as its client would be by now."""
    member = ledger_of(shell).members["ann"]
    ann = Modern(shell, "ann", epoch=member.progress.epoch)
    ann.owned = {*member.progress.assigned, *member.progress.revoking}
    return ann


def test_member_is_answered_at_once_and_nobody_leads(shell: Shell) -> None:
    bob = Actor(shell, "bob")
    assert join(bob) == ErrorCode.NONE
    response = bob.joined()
    assert (response.generation_id, response.protocol_type, response.protocol_name) == (
        2,
        "consumer",
        "range",
    )
    assert (response.leader, response.members) == ("", ())
    assert sync(bob) == []


def test_member_learns_from_its_heartbeat_that_partitions_are_free(shell: Shell) -> None:
    ann, bob = ann_of(shell), Actor(shell, "bob")
    join(bob)
    assert sync(bob) == []
    assert bob.heartbeat() == ErrorCode.NONE
    ann.beat()
    assert bob.heartbeat() == ErrorCode.NONE
    ann.beat()
    assert ann.numbers() == [0, 1]
    assert bob.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    join(bob)
    assert sync(bob) == [2, 3]
    assert bob.heartbeat() == ErrorCode.NONE


def test_cooperative_member_lets_go_step_by_step(shell: Shell) -> None:
    ann, bob = ann_of(shell), Actor(shell, "bob", protocols=owning())
    ann.leave()
    shell.with_settings(group_consumer_migration_policy=MigrationPolicy.UPGRADE)
    ann.beat()
    join(bob)
    sync(bob)
    ann.leave()
    join(bob)
    assert sync(bob) == [0, 1, 2, 3]
    ann.beat()
    assert bob.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    bob.protocols = owning(0, 1, 2, 3)
    join(bob)
    generation = bob.generation
    kept = sync(bob)
    assert len(kept) == 2
    assert bob.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    ann.beat()
    assert ann.numbers() == []
    bob.protocols = owning(*kept)
    join(bob)
    assert bob.generation > generation
    assert sync(bob) == kept
    ann.beat()
    assert sorted(ann.numbers() + kept) == [0, 1, 2, 3]


def test_member_of_old_is_admitted_without_an_id(shell: Shell) -> None:
    bob = Actor(shell, "bob", version=3)
    assert join(bob) == ErrorCode.NONE
    assert bob.member_id in ledger_of(shell).members


def test_new_member_is_sent_back_for_an_id_and_any_id_will_do(shell: Shell) -> None:
    bob = Actor(shell, "bob")
    bob.send_join()
    assert bob.joined().error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert len(ledger_of(shell).members) == 1
    bob.member_id = "whoever"
    bob.send_join()
    assert bob.joined().error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    "actor",
    [
        {"protocol_type": "connect"},
        {"protocols": ()},
        {"protocols": (JoinGroupRequestProtocol(name="range", metadata=b"?"),)},
        {"protocols": protocols("sticky")},
    ],
)
def test_member_that_could_not_be_in_a_classic_group_is_refused(
    shell: Shell, actor: dict[str, object]
) -> None:
    join(Actor(shell, "bob", protocols=protocols("range")))
    cal = Actor(shell, "cal")
    for name, value in actor.items():
        setattr(cal, name, value)
    assert join(cal) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_member_that_is_the_only_classic_one_may_change_its_protocol(shell: Shell) -> None:
    bob = Actor(shell, "bob", protocols=protocols("range"))
    join(bob)
    bob.protocols = protocols("sticky")
    assert join(bob) == ErrorCode.NONE


def test_group_that_is_full_takes_nobody_else(shell: Shell) -> None:
    shell.with_settings(group_consumer_max_size=1)
    assert join(Actor(shell, "bob")) == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_sync_is_refused_to_whoever_it_is_not_for(shell: Shell) -> None:
    bob = Actor(shell, "bob")
    join(bob)

    def code(**changes: object) -> int:
        said: dict[str, object] = {"generation_id": bob.generation, "member_id": bob.member_id}
        request = SyncGroupRequest(group_id=bob.group, **(said | changes))  # type: ignore[arg-type]
        return shell.ask(SyncGroupResponse, request, version=5).error_code

    assert code() == ErrorCode.NONE
    assert code(member_id="nobody") == ErrorCode.UNKNOWN_MEMBER_ID
    assert code(member_id="ann") == ErrorCode.UNKNOWN_MEMBER_ID
    assert code(generation_id=1) == ErrorCode.ILLEGAL_GENERATION
    assert code(protocol_name="sticky") == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert code(protocol_type="connect") == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert code(protocol_type="consumer", protocol_name="range") == ErrorCode.NONE
    assert code(group_instance_id="desk") == ErrorCode.UNKNOWN_MEMBER_ID


def test_sync_after_the_epoch_has_grown_is_for_another_join(shell: Shell) -> None:
    bob = Actor(shell, "bob")
    join(bob)
    Modern(shell, "cal").beat()
    bob.sync()
    assert bob.synced().error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_member_that_does_not_join_again_in_time_is_removed(shell: Shell) -> None:
    bob = Actor(shell, "bob", rebalance_ms=8_000, session_ms=20_000)
    join(bob)
    sync(bob)
    Modern(shell, "cal").beat()
    for _ in range(2):
        assert bob.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
        shell.wait(4_000)
    assert bob.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_member_that_does_not_sync_in_time_is_removed(shell: Shell) -> None:
    bob = Actor(shell, "bob", rebalance_ms=8_000, session_ms=20_000)
    join(bob)
    shell.wait(8_000)
    assert bob.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_member_that_falls_silent_is_removed_after_its_own_session(shell: Shell) -> None:
    bob = Actor(shell, "bob", session_ms=6_000)
    join(bob)
    sync(bob)
    shell.wait(5_999)
    assert bob.heartbeat() == ErrorCode.NONE
    shell.wait(6_000)
    assert bob.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_heartbeat_notices_that_topics_have_changed(shell: Shell) -> None:
    bob = Actor(shell, "bob")
    join(bob)
    sync(bob)
    shell.change_topics(FixedTopics({"orders": 8}))
    assert bob.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS


def test_static_member_that_restarts_takes_its_place(shell: Shell) -> None:
    bob = Actor(shell, "bob", instance="desk")
    join(bob)
    ann = ann_of(shell)
    ann.settle()
    join(bob)
    assert sync(bob) == [2, 3]
    epoch = ledger_of(shell).epoch
    again = Actor(shell, "bob", instance="desk")
    assert join(again) == ErrorCode.NONE
    assert again.member_id != bob.member_id
    assert sync(again) == [2, 3]
    assert ledger_of(shell).epoch == epoch
    assert bob.heartbeat() == ErrorCode.FENCED_INSTANCE_ID
    bob.send_join()
    assert bob.joined().error_code == ErrorCode.FENCED_INSTANCE_ID


def test_static_member_may_change_its_protocol_both_ways(shell: Shell) -> None:
    bob = Actor(shell, "bob", instance="desk")
    join(bob)
    ann = ann_of(shell)
    ann.settle()
    modern = Modern(shell, "bob-2", instance="desk")
    modern.settle()
    assert modern.numbers() == [2, 3]
    classic = Actor(shell, "bob", instance="desk")
    join(classic)
    assert sync(classic) == [2, 3]
    assert modern.beat() == ErrorCode.FENCED_INSTANCE_ID


def test_each_member_that_is_to_go_has_its_own_outcome(shell: Shell) -> None:
    bob, cal = Actor(shell, "bob"), Actor(shell, "cal", instance="desk")
    join(bob)
    join(cal)
    identities = (
        MemberIdentity(member_id=bob.member_id),
        MemberIdentity(member_id="nobody"),
        MemberIdentity(group_instance_id="desk"),
        MemberIdentity(member_id=bob.member_id, group_instance_id="desk"),
        MemberIdentity(member_id=bob.member_id),
    )
    request = LeaveGroupRequest(group_id=bob.group, members=identities)
    response = shell.ask(LeaveGroupResponse, request, version=5)
    assert [each.error_code for each in response.members] == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.NONE,
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]
    assert list(ledger_of(shell).members) == ["ann"]


def test_administrator_takes_out_members_that_speak_the_consumer_protocol(shell: Shell) -> None:
    ann, bob, cal = ann_of(shell), Modern(shell, "bob", instance="desk"), Modern(shell, "cal")
    settle(ann, bob, cal)
    bob.go_away()
    identities = (MemberIdentity(member_id="ann"), MemberIdentity(group_instance_id="desk"))
    request = LeaveGroupRequest(group_id=cal.group, members=identities)
    response = shell.ask(LeaveGroupResponse, request, version=5)
    assert [each.error_code for each in response.members] == [ErrorCode.NONE, ErrorCode.NONE]
    assert list(ledger_of(shell).members) == ["cal"]
    settle(cal)
    assert cal.numbers() == [0, 1, 2, 3]
    assert ann.beat() == ErrorCode.UNKNOWN_MEMBER_ID, "it may come back, as a new member"


def test_member_that_leaves_frees_what_it_had(shell: Shell) -> None:
    ann, bob = ann_of(shell), Actor(shell, "bob")
    join(bob)
    settle(ann)
    assert ann.numbers() == [0, 1]
    assert bob.leave() == ErrorCode.NONE
    ann.beat()
    assert ann.numbers() == [0, 1, 2, 3]


def test_commit_of_a_classic_member_is_for_its_generation(shell: Shell) -> None:
    bob = Actor(shell, "bob")
    join(bob)
    assert bob.commit(5) == ErrorCode.NONE
    bob.generation -= 1
    assert bob.commit(6) == ErrorCode.ILLEGAL_GENERATION
