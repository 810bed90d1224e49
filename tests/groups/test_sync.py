import pytest
from tests.groups.actors import GROUP, Actor, stable_group
from tests.groups.shell import Shell

from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


@pytest.fixture
def shell() -> Shell:
    return Shell()


def completing(shell: Shell, *actors: Actor) -> None:
    for actor in actors:
        actor.join()
    shell.wait(6_000)
    for actor in actors:
        actor.joined()


@pytest.mark.parametrize(
    ("protocol_type", "protocol_name", "code"),
    [
        (None, None, ErrorCode.NONE),
        ("consumer", "range", ErrorCode.NONE),
        ("connect", "range", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ("consumer", "sticky", ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_protocol_is_checked_if_it_is_said(
    shell: Shell, protocol_type: str | None, protocol_name: str | None, code: ErrorCode
) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    request = SyncGroupRequest(
        group_id=GROUP,
        generation_id=1,
        member_id=ann.member_id,
        protocol_type=protocol_type,
        protocol_name=protocol_name,
    )
    assert shell.ask(SyncGroupResponse, request, version=5).error_code == code


def test_sync_that_is_repeated_while_the_first_waits_answers_the_first(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    completing(shell, ann, bob)
    first = bob.sync()
    bob.sync()
    assert shell.answer(SyncGroupResponse, first).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    ann.sync({bob.member_id: b"mine"})
    assert bob.synced().assignment == b"mine"


def test_assignments_of_a_follower_count_for_nothing(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    completing(shell, ann, bob)
    bob.sync({bob.member_id: b"all of it"})
    ann.sync({ann.member_id: b"all of it"})
    assert bob.synced().assignment == b""


def test_member_that_leaves_while_it_waits_for_the_assignment_is_answered(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    completing(shell, ann, bob)
    token = bob.sync()
    bob.leave()
    assert shell.answer(SyncGroupResponse, token).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_sync_phase_is_over_when_the_last_has_synced(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", session_ms=100_000), Actor(shell, "bob", session_ms=100_000)
    completing(shell, ann, bob)
    ann.sync({})
    shell.wait(59_999)
    bob.sync()
    shell.wait(1)
    assert ann.heartbeat() == ErrorCode.NONE
    assert bob.heartbeat() == ErrorCode.NONE
