"""Groups change their kind while they work."""

import pytest
from tests.groups.actors import GROUP, Actor, protocols, stable_group
from tests.groups.eager import Eager
from tests.groups.modern import Modern, ledger_of, settle
from tests.groups.shell import Shell

from penstock.groups.classic_group import ClassicGroup
from penstock.groups.consumer.consumer_group import ConsumerGroup
from penstock.groups.consumer_protocol import (
    ConsumerProtocolAssignment,
    ProtocolTopicPartitions,
    read_assignment,
    write_assignment,
)
from penstock.groups.group_state import GroupState
from penstock.groups.records import GroupMetadataRecord
from penstock.groups.settings import GroupSettings, MigrationPolicy
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse


@pytest.fixture
def shell() -> Shell:
    return Shell(settings=GroupSettings(group_initial_rebalance_delay_ms=0))


def kind(shell: Shell) -> type:
    return type(shell.shard._state.groups[GROUP])


def work(shell: Shell, *clients: Eager | Modern, rounds: int = 12) -> None:
    for _ in range(rounds):
        for client in clients:
            client.beat() if isinstance(client, Modern) else client.act()
        shell.wait(100)


def share(*numbers: int) -> bytes:
    part = ProtocolTopicPartitions(topic="orders", partitions=numbers)
    return write_assignment(ConsumerProtocolAssignment(assigned_partitions=(part,)))


def total(*clients: Eager | Modern) -> list[int]:
    return sorted(each.partition for client in clients for each in client.owned)


def test_classic_group_becomes_a_consumer_group_and_back_while_it_works(shell: Shell) -> None:
    bob, cal = Eager(shell, "bob"), Eager(shell, "cal")
    work(shell, bob, cal)
    assert kind(shell) is ClassicGroup
    assert total(bob, cal) == [0, 1, 2, 3]
    ann = Modern(shell, "ann")
    work(shell, bob, cal, ann)
    assert kind(shell) is ConsumerGroup
    assert shell.shard._state.groups[GROUP].state_name == "Stable"
    assert total(ann, bob, cal) == [0, 1, 2, 3]
    assert len(ann.owned) in (1, 2)
    ann.leave()
    shell.wait(0)
    assert kind(shell) is ClassicGroup
    work(shell, bob, cal)
    assert total(bob, cal) == [0, 1, 2, 3]
    assert shell.shard._state.groups[GROUP].state_name == "Stable"


def test_members_of_the_generation_keep_what_they_have(shell: Shell) -> None:
    bob, cal = Actor(shell, "bob"), Actor(shell, "cal", instance="desk")
    for actor in (bob, cal):
        actor.join()
    shell.wait(0)
    for actor in (bob, cal):
        actor.joined()
    bob.sync({bob.member_id: share(0, 1), cal.member_id: share(1, 2, 9)})
    Modern(shell, "ann").beat()
    members = ledger_of(shell).members
    assert [
        sorted(p.partition for p in members[each.member_id].progress.assigned) for each in (bob, cal)
    ] == [
        [0, 1],
        [2],
    ]
    assert ledger_of(shell).static_ids == {"desk": cal.member_id}
    assert members[bob.member_id].progress.epoch == 1
    assert ledger_of(shell).epoch == 2
    assert bob.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS


def test_whoever_waits_in_a_round_is_told_of_another_one(shell: Shell) -> None:
    bob, cal = Actor(shell, "bob"), Actor(shell, "cal")
    stable_group(shell, bob)
    cal.join()
    assert not cal.is_answered
    ann = Modern(shell, "ann")
    ann.topics = ("payments",)
    assert ann.beat() == ErrorCode.GROUP_ID_NOT_FOUND
    assert not cal.is_answered


def test_round_under_way_ends_with_the_upgrade(shell: Shell) -> None:
    bob, cal, dan = Eager(shell, "bob"), Eager(shell, "cal"), Eager(shell, "dan")
    work(shell, bob, cal)
    dan.act()
    dan.act()
    assert dan.is_waiting
    assert not dan.actor.is_answered
    ann = Modern(shell, "ann")
    ann.beat()
    assert dan.actor.joined().error_code == ErrorCode.REBALANCE_IN_PROGRESS
    work(shell, ann, bob, cal, dan)
    assert total(ann, bob, cal, dan) == [0, 1, 2, 3]


def test_upgrade_in_the_first_round_takes_everybody_along(shell: Shell) -> None:
    bob = Eager(shell, "bob")
    bob.act()
    bob.act()
    ann = Modern(shell, "ann")
    ann.beat()
    assert kind(shell) is ConsumerGroup
    work(shell, ann, bob)
    assert total(ann, bob) == [0, 1, 2, 3]


def test_upgrade_that_is_refused_changes_nothing(shell: Shell) -> None:
    bob = Eager(shell, "bob")
    work(shell, bob)
    length = len(shell.log)
    ann = Modern(shell, "ann", pattern="(")
    assert ann.beat() == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert len(shell.log) == length
    assert bob.actor.heartbeat() == ErrorCode.NONE


@pytest.mark.parametrize(
    "settings",
    [
        {"group_consumer_migration_policy": MigrationPolicy.DISABLED},
        {"group_consumer_migration_policy": MigrationPolicy.DOWNGRADE},
        {"group_consumer_max_size": 0},
    ],
)
def test_group_that_may_not_become_a_consumer_group_is_not_found(
    shell: Shell, settings: dict[str, object]
) -> None:
    shell.with_settings(**settings)
    bob = Eager(shell, "bob")
    work(shell, bob)
    assert Modern(shell, "ann").beat() == ErrorCode.GROUP_ID_NOT_FOUND
    assert kind(shell) is ClassicGroup


@pytest.mark.parametrize(
    ("assignor", "told", "expected"),
    [
        ("by-rack", b"rack 7 first", ErrorCode.GROUP_ID_NOT_FOUND),
        ("by-rack", b"", ErrorCode.NONE),
        # librdkafka's says to members what they have said themselves.
        ("cooperative-sticky", b"had 0 and 1", ErrorCode.NONE),
    ],
)
def test_group_whose_own_assignor_tells_members_more_than_their_partitions_stays_classic(
    shell: Shell, assignor: str, told: bytes, expected: ErrorCode
) -> None:
    bob = Actor(shell, "bob", protocols=protocols(assignor))
    bob.join()
    shell.wait(0)
    part = ProtocolTopicPartitions(topic="orders", partitions=(0, 1))
    assignment = ConsumerProtocolAssignment(assigned_partitions=(part,), user_data=told)
    bob.joined()
    bob.sync({bob.member_id: write_assignment(assignment)})
    ann = Modern(shell, "ann")
    assert ann.beat() == expected
    assert kind(shell) is (ClassicGroup if expected else ConsumerGroup)
    assert not expected or "by-rack" in (ann.last.error_message or "")


@pytest.mark.parametrize("policy", [MigrationPolicy.DISABLED, MigrationPolicy.UPGRADE])
def test_group_that_may_not_become_a_classic_group_stays_what_it_is(
    shell: Shell, policy: MigrationPolicy
) -> None:
    ann, bob = Modern(shell, "ann"), Eager(shell, "bob")
    ann.beat()
    work(shell, ann, bob)
    shell.with_settings(group_consumer_migration_policy=policy)
    bob.hang_up()
    ann.leave()
    work(shell, bob)
    assert kind(shell) is ConsumerGroup
    assert total(bob) == [0, 1, 2, 3]


def test_group_too_large_for_a_classic_one_stays_what_it_is(shell: Shell) -> None:
    shell.with_settings(group_max_size=1)
    ann, bob, cal = Modern(shell, "ann"), Eager(shell, "bob"), Eager(shell, "cal")
    ann.beat()
    work(shell, ann, bob, cal)
    ann.leave()
    work(shell, bob, cal)
    assert kind(shell) is ConsumerGroup
    cal.leave()
    work(shell, bob)
    assert kind(shell) is ClassicGroup


def test_group_becomes_classic_however_the_last_one_went(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann"), Eager(shell, "bob")
    ann.beat()
    work(shell, ann, bob)
    for _ in range(46):
        shell.wait(1_000)
        bob.act()
    assert kind(shell) is ClassicGroup
    work(shell, bob)
    assert total(bob) == [0, 1, 2, 3]


def test_static_member_that_changes_its_protocol_last_takes_the_group_along(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", instance="desk"), Eager(shell, "bob")
    ann.beat()
    work(shell, ann, bob)
    again = Eager(shell, "ann", instance="desk")
    work(shell, again, bob)
    assert kind(shell) is ClassicGroup
    assert total(again, bob) == [0, 1, 2, 3]
    assert ann.beat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_coordinator_that_dies_between_the_steps_of_a_downgrade_is_followed_by_one_that_ends_it(
    shell: Shell,
) -> None:
    ann, bob, cal = Modern(shell, "ann"), Eager(shell, "bob"), Eager(shell, "cal")
    ann.beat()
    work(shell, ann, bob, cal)
    ann.leave()
    assert kind(shell) is ConsumerGroup
    shell.crash()
    while kind(shell) is ConsumerGroup:
        due = shell.shard.next_deadline()
        assert due is not None
        shell.now = due
        shell.take(shell.shard.tick(due))
    group = shell.shard._state.groups[GROUP]
    assert isinstance(group, ClassicGroup)
    assert group.live.state is GroupState.STABLE
    shell.crash()
    group = shell.shard._state.groups[GROUP]
    assert isinstance(group, ClassicGroup)
    assert group.live.state is GroupState.PREPARING_REBALANCE
    work(shell, bob, cal)
    assert total(bob, cal) == [0, 1, 2, 3]


def test_members_of_a_downgraded_group_keep_what_they_have_until_the_round(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann"), Eager(shell, "bob")
    ann.beat()
    work(shell, ann, bob)
    kept = total(bob)
    ann.leave()
    shell.wait(0)
    record = [each for each in shell.records() if isinstance(each, GroupMetadataRecord)][-1]
    assert record.value is not None
    (member,) = record.value.members
    assignment = read_assignment(member.assignment)
    assert assignment is not None
    assert [number for of in assignment.assigned_partitions for number in of.partitions] == kept
    assert (record.value.protocol, record.value.leader) == ("range", None)
    assert bob.actor.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS


def test_protocol_of_a_downgraded_group_is_one_that_all_support(shell: Shell) -> None:
    Modern(shell, "ann").beat()
    for number, names in enumerate([("sticky", "range"), ("range", "sticky"), ("range",)]):
        Actor(shell, f"actor{number}", protocols=protocols(*names)).join()
    Modern(shell, "ann").leave()
    shell.wait(0)
    group = shell.shard._state.groups[GROUP]
    assert isinstance(group, ClassicGroup)
    assert group.stored is not None
    assert group.stored.protocol == "range"


def test_empty_groups_become_whatever_the_next_member_wants(shell: Shell) -> None:
    shell.with_settings(group_consumer_migration_policy=MigrationPolicy.DISABLED)
    ann, bob = Modern(shell, "ann"), Eager(shell, "bob")
    ann.settle(2)
    ann.commit(7)
    ann.leave()
    work(shell, bob)
    assert kind(shell) is ClassicGroup
    assert total(bob) == [0, 1, 2, 3]
    bob.leave()
    shell.wait(0)
    ann.settle(2)
    assert kind(shell) is ConsumerGroup
    assert total(ann) == [0, 1, 2, 3]
    assert len(shell.shard._state.offsets.of_group(GROUP)) == 1


def test_empty_consumer_group_stays_one_if_the_join_is_refused(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.settle(2)
    ann.leave()
    bob = Actor(shell, "bob", protocols=())
    bob.send_join()
    assert bob.joined().error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    bob.protocols = protocols("range")
    bob.send_join(member_id="nobody")
    assert bob.joined().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert kind(shell) is ConsumerGroup


def test_ids_given_out_in_an_empty_group_do_not_outlive_its_upgrade(shell: Shell) -> None:
    bob = Actor(shell, "bob")
    bob.send_join()
    ann = Modern(shell, "ann")
    ann.beat()
    assert kind(shell) is ConsumerGroup
    shell.wait(20_000)
    assert list(ledger_of(shell).members) == ["ann"]


def test_group_of_offsets_alone_becomes_a_consumer_group(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    assert ann.commit(3, epoch=-1) == ErrorCode.NONE
    assert kind(shell) is ClassicGroup
    ann.beat()
    assert kind(shell) is ConsumerGroup
    ann.leave()
    response = shell.ask(DeleteGroupsResponse, DeleteGroupsRequest(groups_names=(GROUP,)), version=2)
    assert response.results[0].error_code == ErrorCode.NONE
    assert shell.shard.group_count == 0
    assert shell.shard.hard_state() == ({}, ({}, {}))


def test_two_protocols_share_a_group_for_as_long_as_they_like(shell: Shell) -> None:
    ann, dan = Modern(shell, "ann"), Modern(shell, "dan")
    bob = Eager(shell, "bob")
    work(shell, ann, bob, dan, rounds=30)
    settle(ann, dan)
    assert total(ann, bob, dan) == [0, 1, 2, 3]
    assert shell.shard._state.groups[GROUP].state_name == "Stable"


def test_epoch_is_ahead_of_a_generation_that_was_never_written(shell: Shell) -> None:
    bob, cal = Actor(shell, "bob"), Actor(shell, "cal")
    for actor in (bob, cal):
        actor.join()
    shell.wait(0)
    bob.joined()
    bob.sync({bob.member_id: share(0, 1), cal.joined().member_id: share(2, 3)})
    bob.join()
    cal.join()
    assert bob.joined().generation_id == cal.joined().generation_id == 2
    cal.sync()
    ann = Modern(shell, "ann")
    ann.beat()
    assert cal.synced().error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert ann.epoch == 3
    bob.sync({})
    assert bob.synced().error_code == ErrorCode.ILLEGAL_GENERATION
