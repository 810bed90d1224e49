"""The classic group protocol, sentence by sentence: each test is one statement that clients rely on."""

import pytest
from tests.groups.actors import GROUP, Actor, finish_round, protocols, stable_group, subscription
from tests.groups.shell import Shell

from penstock.groups.records import GroupMetadataRecord, GroupMetadataValue
from penstock.groups.settings import GroupSettings
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from penstock.wire.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse
from penstock.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity

DELAY_MS = 3_000


@pytest.fixture
def shell() -> Shell:
    return Shell()


def state_of(shell: Shell, group: str = GROUP) -> str:
    request = DescribeGroupsRequest(groups=(group,))
    return shell.ask(DescribeGroupsResponse, request, version=5).groups[0].group_state


def group_records(shell: Shell) -> list[GroupMetadataValue]:
    values = [record.value for record in shell.records() if isinstance(record, GroupMetadataRecord)]
    return [value for value in values if value is not None]


# States and moves.


def test_empty_to_preparing_by_the_first_join(shell: Shell) -> None:
    Actor(shell, "ann").join()
    assert state_of(shell) == "PreparingRebalance"


def test_preparing_to_completing_when_all_have_joined(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    ann.join()
    assert state_of(shell) == "PreparingRebalance"
    bob.join()
    assert state_of(shell) == "CompletingRebalance"
    assert ann.joined().generation_id == bob.joined().generation_id == 2


def test_preparing_to_completing_when_time_is_up(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", session_ms=100_000), Actor(shell, "bob", session_ms=100_000)
    stable_group(shell, ann, bob)
    ann.join()
    shell.wait(59_999)
    assert state_of(shell) == "PreparingRebalance"
    shell.wait(1)
    assert state_of(shell) == "CompletingRebalance"


def test_preparing_to_empty_without_members_and_generation_still_grows(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    assert ann.leave() == ErrorCode.NONE
    assert state_of(shell) == "Empty"
    assert [(record.generation, len(record.members)) for record in group_records(shell)] == [(1, 1), (2, 0)]


def test_completing_to_stable_when_the_leaders_assignment_is_in_the_log(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    ann.join()
    shell.wait(DELAY_MS)
    ann.joined()
    assert group_records(shell) == []
    ann.sync({ann.member_id: b"all"})
    assert state_of(shell) == "Stable"
    assert group_records(shell)[-1].members[0].assignment == b"all"


@pytest.mark.parametrize("phase", ["Stable", "CompletingRebalance"])
def test_new_member_begins_a_round(shell: Shell, phase: str) -> None:
    ann = Actor(shell, "ann")
    ann.join()
    shell.wait(DELAY_MS)
    ann.joined()
    if phase == "Stable":
        ann.sync()
    assert state_of(shell) == phase
    Actor(shell, "bob").join()
    assert state_of(shell) == "PreparingRebalance"


def test_changed_metadata_begins_a_round(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    bob.protocols = protocols("range", topics=("orders", "payments"))
    bob.join()
    assert state_of(shell) == "PreparingRebalance"


def test_leaving_begins_a_round(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    bob.leave()
    assert state_of(shell) == "PreparingRebalance"


def test_end_of_a_session_begins_a_round(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", session_ms=20_000), Actor(shell, "bob", session_ms=10_000)
    stable_group(shell, ann, bob)
    shell.wait(9_999)
    assert state_of(shell) == "Stable"
    shell.wait(1)
    assert state_of(shell) == "PreparingRebalance"


def test_missing_sync_begins_a_round_without_the_missing(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", session_ms=100_000), Actor(shell, "bob", session_ms=100_000)
    ann.join()
    bob.join()
    shell.wait(2 * DELAY_MS)
    ann.joined()
    bob.joined()
    ann.sync({ann.member_id: b"all"})
    shell.wait(59_999)
    assert state_of(shell) == "Stable"
    shell.wait(1)
    assert state_of(shell) == "PreparingRebalance"
    assert bob.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
    assert ann.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS


def test_missing_sync_of_the_leader_sends_those_who_wait_back_to_joining(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", session_ms=100_000), Actor(shell, "bob", session_ms=100_000)
    ann.join()
    bob.join()
    shell.wait(2 * DELAY_MS)
    ann.joined()
    bob.joined()
    bob.sync()
    shell.wait(60_000)
    assert bob.synced().error_code == ErrorCode.REBALANCE_IN_PROGRESS
    bob.join()
    assert bob.joined().leader == bob.member_id


# Member ids.


def test_member_id_of_a_dynamic_member_begins_with_its_client_id(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    ann.join()
    assert ann.member_id == "ann-00000000-0000-0000-0000-000000000001"


def test_member_id_of_a_static_member_begins_with_its_instance_id(shell: Shell) -> None:
    ann = Actor(shell, "ann", instance="desk-1")
    stable_group(shell, ann)
    assert ann.member_id.startswith("desk-1-")


@pytest.mark.parametrize("version", [4, 5, 6, 7, 8, 9])
def test_new_dynamic_member_is_sent_back_with_an_id_since_version_4(shell: Shell, version: int) -> None:
    ann = Actor(shell, "ann", version=version)
    ann.send_join()
    assert ann.joined().error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert ann.joined().member_id.startswith("ann-")
    assert state_of(shell) == "Empty"


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_new_dynamic_member_is_admitted_at_once_until_version_3(shell: Shell, version: int) -> None:
    ann = Actor(shell, "ann", version=version)
    ann.send_join()
    assert not ann.is_answered
    shell.wait(DELAY_MS)
    assert ann.joined().error_code == ErrorCode.NONE


def test_new_static_member_is_admitted_at_once(shell: Shell) -> None:
    ann = Actor(shell, "ann", instance="desk-1")
    ann.send_join()
    assert not ann.is_answered
    shell.wait(DELAY_MS)
    assert ann.joined().error_code == ErrorCode.NONE


def test_id_given_out_is_good_for_the_session_timeout(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=10_000)
    ann.send_join()
    ann.member_id = ann.joined().member_id
    shell.wait(10_000)
    ann.send_join()
    assert ann.joined().error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert shell.shard.group_count == 0


def test_pending_member_blocks_the_completion_of_a_join_phase(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", session_ms=100_000), Actor(shell, "bob", session_ms=8_000)
    stable_group(shell, ann)
    bob.send_join()
    ann.join()
    assert state_of(shell) == "PreparingRebalance"
    shell.wait(8_000)
    assert state_of(shell) == "CompletingRebalance"


# The join phase.


def test_join_phase_lasts_as_long_as_the_longest_rebalance_timeout(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=300_000, rebalance_ms=30_000)
    bob = Actor(shell, "bob", session_ms=300_000, rebalance_ms=90_000)
    stable_group(shell, ann, bob)
    ann.join()
    shell.wait(89_999)
    assert not ann.is_answered
    shell.wait(1)
    assert ann.is_answered


def test_rebalance_timeout_of_version_0_is_the_session_timeout(shell: Shell) -> None:
    ann = Actor(shell, "ann", version=0, session_ms=20_000, rebalance_ms=-1)
    bob = Actor(shell, "bob", version=0, session_ms=20_000, rebalance_ms=-1)
    stable_group(shell, ann, bob)
    ann.join()
    shell.wait(15_000)
    assert bob.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    shell.wait(4_999)
    assert not ann.is_answered
    shell.wait(1)
    assert ann.is_answered


def test_dynamic_members_that_did_not_rejoin_are_dropped(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", session_ms=100_000), Actor(shell, "bob", session_ms=100_000)
    stable_group(shell, ann, bob)
    ann.join()
    shell.wait(60_000)
    assert [member.member_id for member in ann.joined().members] == [ann.member_id]
    assert bob.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_static_members_that_did_not_rejoin_are_kept(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=100_000)
    bob = Actor(shell, "bob", session_ms=100_000, instance="desk-2")
    stable_group(shell, ann, bob)
    ann.join()
    shell.wait(60_000)
    assert {member.member_id for member in ann.joined().members} == {ann.member_id, bob.member_id}


def test_join_phase_waits_on_if_only_static_members_are_left_and_none_rejoined(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=100_000, instance="desk-1")
    bob = Actor(shell, "bob", session_ms=100_000)
    stable_group(shell, ann, bob)
    bob.leave()
    shell.wait(60_000)
    assert state_of(shell) == "PreparingRebalance"
    shell.wait(40_000)
    assert state_of(shell) == "Empty"


def test_first_round_of_an_empty_group_waits_for_more_members(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    ann.join()
    shell.wait(2_999)
    assert not ann.is_answered
    shell.wait(1)
    assert ann.is_answered


def test_every_new_member_extends_the_first_wait(shell: Shell) -> None:
    ann, bob, cal = Actor(shell, "ann"), Actor(shell, "bob"), Actor(shell, "cal")
    ann.join()
    shell.wait(2_000)
    bob.join()
    shell.wait(2_000)
    cal.join()
    shell.wait(4_999)
    assert not ann.is_answered
    shell.wait(1)
    assert len(ann.joined().members) == 3


def test_first_wait_is_never_longer_than_the_rebalance_timeout(shell: Shell) -> None:
    ann = Actor(shell, "ann", rebalance_ms=10_000)
    ann.join()
    for number in range(4):
        shell.wait(2_400)
        Actor(shell, f"more-{number}").join()
    shell.wait(399)
    assert not ann.is_answered
    shell.wait(1)
    assert len(ann.joined().members) == 5


def test_first_join_of_a_new_member_waits_five_minutes_at_most(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=1_000_000, rebalance_ms=1_000_000)
    bob = Actor(shell, "bob")
    stable_group(shell, ann)
    bob.join()
    shell.wait(299_999)
    assert not bob.is_answered
    shell.wait(1)
    assert bob.joined() == JoinGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID, protocol_name=None)


# The next generation.


def test_generation_grows_by_one(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.join()
    assert ann.joined().generation_id == 2


def test_protocol_is_the_first_choice_of_most_among_those_all_support(shell: Shell) -> None:
    ann = Actor(shell, "ann", protocols=protocols("own", "range", "sticky"))
    bob = Actor(shell, "bob", protocols=protocols("sticky", "range"))
    cal = Actor(shell, "cal", protocols=protocols("sticky", "range"))
    stable_group(shell, ann, bob, cal)
    assert group_records(shell)[-1].protocol == "sticky"


def test_leader_is_the_first_who_joined(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    assert group_records(shell)[-1].leader == ann.member_id


def test_leader_is_kept_if_it_rejoined(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    bob.protocols = protocols("range", topics=("payments",))
    bob.join()
    ann.join()
    assert bob.joined().leader == ann.member_id


def test_leader_that_did_not_rejoin_is_followed_by_the_first_who_did(shell: Shell) -> None:
    ann = Actor(shell, "ann", session_ms=100_000, instance="desk-1")
    bob, cal = Actor(shell, "bob", session_ms=100_000), Actor(shell, "cal", session_ms=100_000)
    stable_group(shell, ann, bob, cal)
    cal.protocols = protocols("range", topics=("payments",))
    cal.join()
    bob.join()
    shell.wait(60_000)
    assert bob.joined().leader == cal.joined().leader == bob.member_id


def test_only_the_leaders_answer_lists_members_and_what_they_said(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob", protocols=protocols("range", topics=("payments",)))
    ann.join()
    bob.join()
    shell.wait(2 * DELAY_MS)
    assert [(each.member_id, each.metadata) for each in ann.joined().members] == [
        (ann.member_id, subscription("orders")),
        (bob.member_id, subscription("payments")),
    ]
    assert bob.joined().members == ()
    assert ann.joined().leader == bob.joined().leader == ann.member_id


# Joining again.


def test_unchanged_follower_of_a_stable_group_gets_the_present_generation(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    bob.join()
    assert bob.joined().generation_id == 1
    assert bob.joined().members == ()
    assert state_of(shell) == "Stable"


@pytest.mark.parametrize("name", ["ann", "bob"])
def test_unchanged_member_gets_the_present_generation_while_it_completes(shell: Shell, name: str) -> None:
    actors = {name: Actor(shell, name) for name in ("ann", "bob")}
    for actor in actors.values():
        actor.join()
    shell.wait(2 * DELAY_MS)
    first = actors[name].joined()
    actors[name].join()
    assert actors[name].joined() == first
    assert state_of(shell) == "CompletingRebalance"


def test_changed_member_begins_a_round_while_the_generation_completes(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    ann.join()
    bob.join()
    shell.wait(2 * DELAY_MS)
    ann.joined()
    bob.joined()
    bob.protocols = protocols("range", topics=("payments",))
    bob.join()
    assert state_of(shell) == "PreparingRebalance"


def test_leader_that_rejoins_a_stable_group_always_begins_a_round(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    ann.join()
    assert state_of(shell) == "PreparingRebalance"


# Error answers.


@pytest.mark.parametrize(("version", "protocol_name"), [(5, ""), (6, ""), (7, None), (9, None)])
def test_error_answers_carry_every_field(shell: Shell, version: int, protocol_name: str | None) -> None:
    ann = Actor(shell, "ann", version=version, session_ms=1)
    ann.join()
    assert ann.joined() == JoinGroupResponse(
        error_code=ErrorCode.INVALID_SESSION_TIMEOUT,
        generation_id=-1,
        protocol_type=None,
        protocol_name=protocol_name,
        leader="",
        member_id="",
        members=(),
    )


@pytest.mark.parametrize("version", [4, 7])
def test_member_id_required_carries_the_new_id_and_every_field(shell: Shell, version: int) -> None:
    ann = Actor(shell, "ann", version=version)
    ann.send_join()
    response = ann.joined()
    assert response.member_id != ""
    assert (response.generation_id, response.leader, response.members) == (-1, "", ())
    assert response.protocol_name == ("" if version < 7 else None)


@pytest.mark.parametrize(
    ("session_ms", "is_allowed"), [(5_999, False), (6_000, True), (1_800_000, True), (1_800_001, False)]
)
def test_session_timeout_must_be_within_limits(shell: Shell, session_ms: int, is_allowed: bool) -> None:
    ann = Actor(shell, "ann", session_ms=session_ms)
    ann.send_join()
    expected = ErrorCode.MEMBER_ID_REQUIRED if is_allowed else ErrorCode.INVALID_SESSION_TIMEOUT
    assert ann.joined().error_code == expected


def test_empty_group_id_is_invalid(shell: Shell) -> None:
    ann = Actor(shell, "ann", group="")
    ann.join()
    assert ann.joined().error_code == ErrorCode.INVALID_GROUP_ID
    ann.sync()
    assert ann.synced().error_code == ErrorCode.INVALID_GROUP_ID
    assert ann.heartbeat() == ErrorCode.INVALID_GROUP_ID
    assert ann.leave() == ErrorCode.INVALID_GROUP_ID


@pytest.mark.parametrize(
    ("protocol_type", "offered"),
    [
        ("consumer", ()),
        ("", protocols("range")),
        ("consumer", protocols("other")),
        ("connect", protocols("range")),
    ],
)
def test_member_without_a_common_protocol_is_refused(
    shell: Shell, protocol_type: str, offered: tuple[JoinGroupRequestProtocol, ...]
) -> None:
    stable_group(shell, Actor(shell, "ann"))
    bob = Actor(shell, "bob", protocol_type=protocol_type, protocols=offered)
    bob.join()
    assert bob.joined().error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(("protocol_type", "offered"), [("consumer", ()), ("", protocols("range"))])
def test_first_member_must_have_a_protocol(
    shell: Shell, protocol_type: str, offered: tuple[JoinGroupRequestProtocol, ...]
) -> None:
    ann = Actor(shell, "ann", protocol_type=protocol_type, protocols=offered)
    ann.join()
    assert ann.joined().error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert shell.shard.group_count == 0


def test_unknown_member_id_is_refused(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    for group in (GROUP, "nobody"):
        bob = Actor(shell, "bob", group=group, member_id="bob-unknown", generation=1)
        bob.join()
        assert bob.joined().error_code == ErrorCode.UNKNOWN_MEMBER_ID
        assert bob.joined().member_id == "bob-unknown"
        bob.sync()
        assert bob.synced().error_code == ErrorCode.UNKNOWN_MEMBER_ID
        assert bob.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID
        assert bob.leave() == ErrorCode.UNKNOWN_MEMBER_ID


def test_full_group_takes_nobody(shell: Shell) -> None:
    shell = Shell(settings=GroupSettings(group_max_size=2))
    ann, bob, cal = Actor(shell, "ann"), Actor(shell, "bob"), Actor(shell, "cal")
    stable_group(shell, ann, bob)
    cal.join()
    assert cal.joined().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert cal.joined().member_id == ""
    ann.join()
    bob.join()
    assert bob.joined().error_code == ErrorCode.NONE


# SyncGroup.


def test_followers_wait_for_the_leader(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    ann.join()
    bob.join()
    shell.wait(2 * DELAY_MS)
    ann.joined()
    bob.joined()
    bob.sync()
    assert not bob.is_answered
    ann.sync({ann.member_id: b"0", bob.member_id: b"1"})
    assert (ann.synced().assignment, bob.synced().assignment) == (b"0", b"1")


def test_members_the_leader_forgot_get_empty_bytes(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    ann.join()
    bob.join()
    shell.wait(2 * DELAY_MS)
    ann.joined()
    bob.joined()
    bob.sync()
    ann.sync({ann.member_id: b"all", "stranger": b"none"})
    assert bob.synced().error_code == ErrorCode.NONE
    assert bob.synced().assignment == b""


def test_group_record_is_written_before_anybody_is_answered(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    (record,) = group_records(shell)
    assert (record.generation, record.protocol_type, record.protocol) == (1, "consumer", "range")
    assert record.leader == ann.member_id
    (member,) = record.members
    assert (member.member_id, member.client_id, member.client_host) == (ann.member_id, "ann", "/127.0.0.1")
    assert (member.session_timeout, member.rebalance_timeout) == (10_000, 60_000)
    assert (member.subscription, member.assignment) == (subscription("orders"), b"ann")


def test_sync_in_a_stable_group_returns_the_assignment(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    bob.sync()
    assert bob.synced().assignment == b"bob"
    assert (bob.synced().protocol_type, bob.synced().protocol_name) == ("consumer", "range")


def test_sync_in_the_join_phase_is_rebalance_in_progress(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    ann.join()
    bob.sync()
    assert bob.synced().error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_sync_of_another_generation_is_illegal(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.generation = 7
    ann.sync()
    assert ann.synced().error_code == ErrorCode.ILLEGAL_GENERATION


# Heartbeat.


def test_heartbeat_to_an_empty_group_is_unknown_member(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.leave()
    assert ann.heartbeat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_heartbeat_in_the_join_phase_says_so_and_is_a_sign_of_life(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    ann.join()
    for _ in range(5):
        shell.wait(8_000)
        assert bob.heartbeat() == ErrorCode.REBALANCE_IN_PROGRESS
    bob.join()
    assert bob.joined().error_code == ErrorCode.NONE


def test_heartbeat_in_the_sync_phase_is_fine(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    ann.join()
    shell.wait(DELAY_MS)
    ann.joined()
    assert state_of(shell) == "CompletingRebalance"
    assert ann.heartbeat() == ErrorCode.NONE


def test_heartbeat_in_a_stable_group_is_fine(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    for _ in range(5):
        shell.wait(9_999)
        assert ann.heartbeat() == ErrorCode.NONE


def test_heartbeat_of_another_generation_is_illegal(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    ann.generation = 2
    assert ann.heartbeat() == ErrorCode.ILLEGAL_GENERATION


def test_offset_commit_is_a_sign_of_life_in_a_stable_group(shell: Shell) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    for offset in range(5):
        shell.wait(9_999)
        assert ann.commit(offset) == ErrorCode.NONE


def test_offset_commit_is_a_sign_of_life_in_the_join_phase(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    ann.join()
    for offset in range(5):
        shell.wait(9_999)
        assert bob.commit(offset) == ErrorCode.NONE


def test_session_begins_anew_with_the_answer_to_join(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", session_ms=6_000), Actor(shell, "bob", session_ms=60_000)
    stable_group(shell, ann, bob)
    ann.join()
    shell.wait(20_000)
    bob.join()
    shell.wait(5_999)
    assert ann.joined().generation_id == 2
    assert ann.heartbeat() == ErrorCode.NONE


def test_session_begins_anew_with_the_answer_to_sync(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", session_ms=60_000), Actor(shell, "bob", session_ms=6_000)
    ann.join()
    bob.join()
    shell.wait(2 * DELAY_MS)
    ann.joined()
    bob.joined()
    bob.sync()
    shell.wait(30_000)
    ann.sync({})
    shell.wait(5_999)
    assert bob.heartbeat() == ErrorCode.NONE


# LeaveGroup.


@pytest.mark.parametrize("version", [0, 1, 2])
def test_leave_takes_one_member_until_version_2(shell: Shell, version: int) -> None:
    ann = Actor(shell, "ann")
    stable_group(shell, ann)
    request = LeaveGroupRequest(group_id=GROUP, member_id=ann.member_id)
    assert shell.ask(LeaveGroupResponse, request, version=version) == LeaveGroupResponse()
    assert state_of(shell) == "Empty"
    again = shell.ask(LeaveGroupResponse, request, version=version)
    assert again.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert again.members == ()


def test_leave_takes_a_list_since_version_3_and_answers_for_each(shell: Shell) -> None:
    ann, bob, cal = Actor(shell, "ann"), Actor(shell, "bob"), Actor(shell, "cal")
    stable_group(shell, ann, bob, cal)
    request = LeaveGroupRequest(
        group_id=GROUP,
        members=(
            MemberIdentity(member_id=ann.member_id),
            MemberIdentity(member_id="nobody"),
            MemberIdentity(member_id=bob.member_id),
        ),
    )
    response = shell.ask(LeaveGroupResponse, request, version=3)
    assert response.error_code == ErrorCode.NONE
    assert [(each.member_id, each.error_code) for each in response.members] == [
        (ann.member_id, ErrorCode.NONE),
        ("nobody", ErrorCode.UNKNOWN_MEMBER_ID),
        (bob.member_id, ErrorCode.NONE),
    ]
    cal.join()
    assert cal.joined().generation_id == 2


def test_static_member_can_be_removed_by_its_instance_id_alone(shell: Shell) -> None:
    ann = Actor(shell, "ann", instance="desk-1")
    stable_group(shell, ann)
    request = LeaveGroupRequest(group_id=GROUP, members=(MemberIdentity(group_instance_id="desk-1"),))
    response = shell.ask(LeaveGroupResponse, request, version=3)
    assert (response.members[0].member_id, response.members[0].error_code) == ("", ErrorCode.NONE)
    assert state_of(shell) == "Empty"


def test_static_member_leaves_by_the_end_of_its_session(shell: Shell) -> None:
    ann = Actor(shell, "ann", instance="desk-1")
    stable_group(shell, ann)
    shell.wait(9_999)
    assert state_of(shell) == "Stable"
    shell.wait(1)
    assert state_of(shell) == "Empty"


# Static members that return.


def test_static_member_that_rejoins_without_id_gets_a_new_one_and_the_old_is_fenced(shell: Shell) -> None:
    ann = Actor(shell, "ann", instance="desk-1")
    stable_group(shell, ann)
    again = Actor(shell, "ann", instance="desk-1")
    again.join()
    assert again.joined().error_code == ErrorCode.NONE
    assert again.member_id != ann.member_id
    assert ann.heartbeat() == ErrorCode.FENCED_INSTANCE_ID
    ann.sync()
    assert ann.synced().error_code == ErrorCode.FENCED_INSTANCE_ID
    assert ann.commit(1) == ErrorCode.FENCED_INSTANCE_ID
    assert ann.leave() == ErrorCode.FENCED_INSTANCE_ID
    ann.join()
    assert ann.joined().error_code == ErrorCode.FENCED_INSTANCE_ID


def test_static_member_that_returns_to_a_stable_group_begins_no_round(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob", instance="desk-2")
    stable_group(shell, ann, bob)
    again = Actor(shell, "bob", instance="desk-2")
    again.join()
    assert again.joined().generation_id == 1
    assert state_of(shell) == "Stable"
    again.sync()
    assert again.synced().assignment == b"bob"
    assert ann.heartbeat() == ErrorCode.NONE


def test_static_member_that_returns_begins_a_round_if_the_protocol_changes(shell: Shell) -> None:
    ann = Actor(shell, "ann", protocols=protocols("range", "sticky"))
    bob = Actor(shell, "bob", instance="desk-2", protocols=protocols("range", "sticky"))
    stable_group(shell, ann, bob)
    again = Actor(shell, "bob", instance="desk-2", protocols=protocols("sticky"))
    again.join()
    assert state_of(shell) == "PreparingRebalance"
    ann.join()
    assert again.joined().protocol_name == "sticky"


def test_static_leader_that_returns_is_told_to_skip_the_assignment_since_version_9(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", instance="desk-1"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    again = Actor(shell, "ann", instance="desk-1", version=9)
    again.join()
    response = again.joined()
    assert response.skip_assignment
    assert response.leader == again.member_id
    assert {member.member_id for member in response.members} == {again.member_id, bob.member_id}


def test_static_leader_that_returns_is_told_that_another_leads_before_version_9(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann", instance="desk-1"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    again = Actor(shell, "ann", instance="desk-1", version=8)
    again.join()
    response = again.joined()
    assert not response.skip_assignment
    assert response.leader == ann.member_id
    assert response.members == ()


def test_static_follower_that_returns_is_not_told_to_skip_anything(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob", instance="desk-2")
    stable_group(shell, ann, bob)
    again = Actor(shell, "bob", instance="desk-2")
    again.join()
    assert not again.joined().skip_assignment
    assert again.joined().members == ()


# After a failover.


def test_loaded_group_is_stable_and_its_sessions_begin_anew(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    shell.wait(9_000)
    shell.crash()
    shell.wait(9_999)
    assert state_of(shell) == "Stable"
    assert ann.heartbeat() == ErrorCode.NONE
    assert bob.heartbeat() == ErrorCode.NONE


def test_round_that_was_not_written_is_lost_and_begins_again(shell: Shell) -> None:
    ann, bob = Actor(shell, "ann"), Actor(shell, "bob")
    stable_group(shell, ann, bob)
    ann.join()
    bob.join()
    ann.joined()
    shell.crash()
    assert ann.heartbeat() == ErrorCode.ILLEGAL_GENERATION
    ann.generation = -1
    ann.join()
    bob.join()
    finish_round(ann, bob)
    assert ann.generation == 2
