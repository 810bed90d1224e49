import pytest
from tests.groups.actors import GROUP, Actor, finish_round, stable_group
from tests.groups.shell import Shell

from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.join_group import JoinGroupResponse
from penstock.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)


@pytest.fixture
def shell() -> Shell:
    return Shell()


def test_member_that_leaves_while_it_waits_to_join_is_answered(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    token = ann.join()
    ann.leave()
    assert shell.answer(JoinGroupResponse, token).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert shell.answer(JoinGroupResponse, token).member_id == ""


def test_last_missing_member_that_leaves_completes_the_join_phase(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    ann.join()
    bob.leave()
    finish_round(ann)
    assert ann.generation == 2


def test_id_given_out_can_be_given_back(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann)
    bob.send_join()
    bob.member_id = bob.joined().member_id
    ann.join()
    assert not ann.is_answered
    assert bob.leave() == ErrorCode.NONE
    assert ann.joined().generation_id == 2


def test_id_given_back_begins_no_round(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann)
    bob.send_join()
    bob.member_id = bob.joined().member_id
    bob.leave()
    assert ann.heartbeat() == ErrorCode.NONE


def test_last_id_given_back_leaves_no_group_behind(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    ann.send_join()
    ann.member_id = ann.joined().member_id
    ann.leave()
    assert shell.shard.group_count == 0


def test_unknown_group_answers_for_every_member(shell: Shell) -> None:
    members = (MemberIdentity(member_id="ann"), MemberIdentity(group_instance_id="desk"))
    request = LeaveGroupRequest(group_id="nobody", members=members)
    unknown = ErrorCode.UNKNOWN_MEMBER_ID
    assert shell.ask(LeaveGroupResponse, request, version=3) == LeaveGroupResponse(
        members=(
            MemberResponse(member_id="ann", error_code=unknown),
            MemberResponse(group_instance_id="desk", error_code=unknown),
        )
    )


def test_nobody_leaves_an_empty_list(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    request = LeaveGroupRequest(group_id=GROUP)
    assert shell.ask(LeaveGroupResponse, request, version=3) == LeaveGroupResponse()
    assert ann.heartbeat() == ErrorCode.NONE


def test_member_named_twice_leaves_once(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    identity = MemberIdentity(member_id=ann.member_id)
    request = LeaveGroupRequest(group_id=GROUP, members=(identity, identity))
    codes = [each.error_code for each in shell.ask(LeaveGroupResponse, request, version=3).members]
    assert codes == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID]
