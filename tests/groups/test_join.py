"""Cases of JoinGroup beyond the sentences of the protocol: repeated requests, limits, odd combinations."""

import pytest
from tests.groups.actors import GROUP, Actor, finish_round, protocols, stable_group
from tests.groups.shell import Shell

from penstock.groups import join
from penstock.groups.refusals import refused_join
from penstock.groups.settings import GroupSettings
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.delete_groups import DeleteGroupsRequest


@pytest.fixture
def shell() -> Shell:
    return Shell()


def test_join_that_is_repeated_while_the_first_waits_answers_the_first(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    first = ann.join()
    second = ann.join()
    assert ann.shell.answers[first] == refused_join(ErrorCode.REBALANCE_IN_PROGRESS, ann.member_id, 9)
    assert shell.is_waiting(second)
    bob.join()
    assert ann.joined().generation_id == 2


def test_id_given_out_does_not_admit_a_static_member(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    ann.send_join()
    ann.member_id = ann.joined().member_id
    ann.instance = "desk"
    ann.send_join()
    assert ann.joined().error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_ids_given_out_have_a_limit(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "PENDING_MEMBERS_PER_GROUP_MAX", 2)
    codes = []
    for number in range(3):
        actor = Actor(shell, f"actor{number}")
        actor.send_join()
        codes.append(actor.joined().error_code)
    required, full = ErrorCode.MEMBER_ID_REQUIRED, ErrorCode.GROUP_MAX_SIZE_REACHED
    assert codes == [required, required, full]


def test_only_member_may_change_to_another_protocol(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.protocols = protocols("sticky")
    ann.join()
    assert ann.joined().protocol_name == "sticky"


def test_member_may_not_change_to_a_protocol_that_others_do_not_support(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    ann.protocols = protocols("sticky")
    ann.join()
    assert ann.joined().error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert ann.heartbeat() == ErrorCode.NONE


def test_group_without_members_may_be_used_for_something_else(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.leave()
    worker = Actor(shell, "worker", protocol_type="connect", protocols=protocols("compatible"))
    stable_group(shell, worker)
    assert worker.synced().protocol_type == "connect"


def test_returning_static_member_needs_no_new_place(shell: Shell) -> None:
    shell = Shell(settings=GroupSettings(group_max_size=1))
    stable_group(shell, Actor(shell, "ann", instance="desk"))
    again = Actor(shell, "ann", instance="desk")
    again.join()
    assert again.joined().error_code == ErrorCode.NONE


def test_group_that_is_too_large_since_its_limit_shrank_turns_the_last_to_join_away(shell: Shell) -> None:
    ann, bob, cal = Actor(shell, "ann"), Actor(shell, "bob"), Actor(shell, "cal")
    stable_group(shell, ann, bob, cal)
    shell.with_settings(group_max_size=2)
    assert ann.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    for actor in (cal, bob, ann):
        actor.join()
    assert ann.joined().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    finish_round(bob, cal)


def test_id_that_was_given_out_before_the_group_was_full_is_taken_back(shell: Shell) -> None:
    shell = Shell(settings=GroupSettings(group_max_size=1))
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    bob.send_join()
    bob.member_id = bob.joined().member_id
    stable_group(shell, ann)
    bob.send_join()
    assert bob.joined().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    ann.join()
    assert ann.joined().generation_id == 2


@pytest.mark.parametrize("version", [3, 9])
@pytest.mark.parametrize("instance", [None, "i" * 0x7FFF])
def test_name_as_long_as_can_be_leaves_room_for_the_rest_of_the_id(
    shell: Shell, instance: str | None, version: int
) -> None:
    ann = Actor(shell, "a" * 0x7FFF, instance=instance, version=version)
    stable_group(shell, ann)
    assert ann.heartbeat() == ErrorCode.NONE
    assert ann.member_id.startswith((instance or ann.name)[:255] + "-")


def test_member_without_a_client_id_gets_an_id_nevertheless(shell: Shell) -> None:
    ann = Actor(shell, "")
    ann.send_join()
    assert ann.joined().member_id == "-00000000-0000-0000-0000-000000000001"


def test_rebalance_timeout_can_be_changed_by_joining_again(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=300_000)
    bob = Actor(shell, "bob", session_ms=300_000)
    stable_group(shell, ann, bob)
    ann.rebalance_ms = bob.rebalance_ms = 10_000
    ann.join()
    bob.join()
    finish_round(ann, bob)
    ann.join()
    shell.wait(10_000)
    assert ann.joined().generation_id == 3


def test_refused_first_join_leaves_no_group_behind(shell: Shell) -> None:
    ann = Actor(shell, "ann", protocols=())
    ann.join()
    assert shell.shard.group_count == 0
    shell.send(DeleteGroupsRequest(groups_names=(GROUP,)), version=2)


def test_static_member_that_returns_in_the_join_phase_takes_its_place_in_the_round(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob", instance="desk")
    stable_group(shell, ann, bob)
    ann.join()
    again = Actor(shell, "bob", instance="desk")
    again.join()
    finish_round(ann, again)
    assert again.generation == 2


def test_static_member_that_returns_while_its_former_self_waits_fences_it(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob", instance="desk")
    stable_group(shell, ann, bob)
    bob.protocols = protocols("range", topics=("payments",))
    bob.join()
    again = Actor(shell, "bob", instance="desk")
    again.join()
    assert bob.joined().error_code == ErrorCode.FENCED_INSTANCE_ID
    assert bob.joined().member_id == bob.member_id
    ann.join()
    finish_round(ann, again)


def test_static_member_that_returns_in_the_sync_phase_begins_a_new_round(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob", instance="desk")
    ann.join()
    bob.join()
    shell.wait(6_000)
    ann.joined()
    bob.joined()
    bob.sync()
    again = Actor(shell, "bob", instance="desk")
    again.join()
    assert bob.synced().error_code == ErrorCode.FENCED_INSTANCE_ID
    assert ann.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    ann.join()
    finish_round(ann, again)
    assert ann.generation == 2


def test_new_member_id_of_a_static_member_survives_a_crash(shell: Shell) -> None:
    ann = Actor(shell, "ann", instance="desk")
    stable_group(shell, ann)
    again = Actor(shell, "ann", instance="desk")
    again.join()
    again.joined()
    shell.crash()
    assert again.heartbeat() == ErrorCode.NONE
    assert ann.heartbeat() == ErrorCode.FENCED_INSTANCE_ID


def test_static_member_that_owes_a_sync_owes_it_after_its_return(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=100_000)
    bob = Actor(shell, "bob", session_ms=100_000, instance="desk")
    ann.join()
    bob.join()
    shell.wait(6_000)
    ann.joined()
    bob.joined()
    ann.sync({})
    again = Actor(shell, "bob", session_ms=100_000, instance="desk")
    again.join()
    again.joined()
    shell.wait(60_000)
    assert again.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
