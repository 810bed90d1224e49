"""Deadlines of members end when what they are about has happened, and none outlives its member."""

import pytest
from tests.groups.actors import GROUP, Actor
from tests.groups.modern import Modern, ledger_of, settle
from tests.groups.shell import Shell

from penstock.groups.classic_group import ClassicGroup
from penstock.groups.consumer_protocol import (
    ConsumerProtocolSubscription,
    ProtocolTopicPartitions,
    write_subscription,
)
from penstock.groups.settings import GroupSettings, MigrationPolicy
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.join_group import JoinGroupRequestProtocol

OF_THE_SHARD = 1
"""The one deadline of a shard without members: when to look for offsets to forget."""


@pytest.fixture
def shell() -> Shell:
    return Shell(settings=GroupSettings(group_consumer_session_timeout_ms=1_000_000))


def join(actor: Actor) -> None:
    actor.join()
    assert actor.joined().error_code == ErrorCode.NONE


def sync(actor: Actor) -> None:
    actor.sync()
    assert actor.synced().error_code == ErrorCode.NONE


def patient(shell: Shell, name: str, instance: str | None = None) -> Actor:
    """Somebody whose session is much longer than the time it has to join."""
    return Actor(shell, name, instance=instance, rebalance_ms=5_000, session_ms=600_000)


def test_members_that_are_gone_leave_no_deadline_behind(shell: Shell) -> None:
    ann, bob, cal = Modern(shell, "ann"), patient(shell, "bob"), Modern(shell, "cal", instance="desk")
    settle(ann, cal)
    join(bob)
    ann.beat()
    assert bob.leave() == ErrorCode.NONE
    cal.go_away()
    again = Modern(shell, "cal-again", instance="desk")
    again.beat()
    again.leave()
    ann.leave()
    assert len(shell.shard._deadlines) == OF_THE_SHARD


def test_members_that_were_late_leave_no_deadline_behind(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", rebalance_ms=5_000), Modern(shell, "bob")
    ann.beat()
    bob.beat()
    ann.beat()
    shell.wait(5_000)
    bob.leave()
    assert not ledger_of(shell).members
    assert len(shell.shard._deadlines) == OF_THE_SHARD


def test_member_that_joins_in_time_is_not_removed_later(shell: Shell) -> None:
    bob = patient(shell, "bob")
    Modern(shell, "ann").beat()
    join(bob)
    sync(bob)
    Modern(shell, "cal").beat()
    assert bob.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    join(bob)
    sync(bob)
    shell.wait(60_000)
    assert bob.heartbeat() == ErrorCode.NONE


def test_member_that_goes_away_has_let_go_and_is_expected_back(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", instance="desk", rebalance_ms=5_000), Modern(shell, "bob")
    ann.beat()
    bob.beat()
    ann.beat()
    ann.go_away()
    bob.beat()
    assert bob.numbers() == [2, 3]
    shell.wait(60_000)
    assert ledger_of(shell).members["ann"].is_away


def test_member_that_changes_to_the_classic_protocol_lets_go_when_it_joins(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", rebalance_ms=5_000), Modern(shell, "bob")
    ann.beat()
    bob.beat()
    ann.beat()
    classic = patient(shell, "ann")
    owned = (ProtocolTopicPartitions(topic="orders", partitions=(0, 1, 2, 3)),)
    said = write_subscription(ConsumerProtocolSubscription(topics=("orders",), owned_partitions=owned))
    classic.protocols = (JoinGroupRequestProtocol(name="cooperative-sticky", metadata=said),)
    classic.send_join(member_id="ann")
    assert classic.joined().error_code == ErrorCode.NONE
    sync(classic)
    shell.wait(60_000)
    assert classic.heartbeat() in (ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS)


def test_member_that_changes_to_the_consumer_protocol_neither_joins_nor_syncs(shell: Shell) -> None:
    Modern(shell, "ann").beat()
    bob = patient(shell, "bob")
    join(bob)
    modern = Modern(shell, bob.member_id)
    modern.beat()
    shell.wait(60_000)
    assert modern.beat() == ErrorCode.NONE


def test_group_that_becomes_classic_expects_nobody_to_join_the_old_one(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann"), patient(shell, "bob")
    ann.beat()
    join(bob)
    ann.leave()
    assert bob.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    shell.wait(0)
    group = shell.shard._state.groups[GROUP]
    assert isinstance(group, ClassicGroup)
    bob.send_join()
    sync_token = bob.token
    assert not shell.is_waiting(sync_token)
    bob.joined()
    bob.sync({bob.member_id: b""})
    shell.wait(60_000)
    assert bob.heartbeat() == ErrorCode.NONE


def test_group_that_may_not_become_classic_keeps_asking_for_nothing(shell: Shell) -> None:
    shell.with_settings(group_consumer_migration_policy=MigrationPolicy.DISABLED)
    ann, bob = Modern(shell, "ann"), patient(shell, "bob")
    ann.beat()
    join(bob)
    ann.leave()
    shell.wait(0)
    due = shell.shard.next_deadline()
    assert due is not None
    assert due > shell.now
