"""ConsumerGroupHeartbeat: who comes in, who is fenced, and what each answer says."""

import pytest
from tests.groups.actors import GROUP, Actor, stable_group
from tests.groups.modern import Modern, ledger_of, settle, topics_of
from tests.groups.shell import Shell

from penstock.groups.consumer.member import MemberState
from penstock.groups.settings import GroupSettings
from penstock.model.error_codes import ErrorCode
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.schema import replace


@pytest.fixture
def shell() -> Shell:
    return Shell()


def joining(**changes: object) -> ConsumerGroupHeartbeatRequest:
    request = ConsumerGroupHeartbeatRequest(
        group_id=GROUP,
        member_id="ann",
        rebalance_timeout_ms=1_000,
        subscribed_topic_names=("orders",),
        topic_partitions=(),
    )
    return replace(request, **changes)


def test_first_member_is_given_everything_at_once(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    assert ann.beat() == ErrorCode.NONE
    assert ann.epoch == 1
    assert ann.numbers() == [0, 1, 2, 3]
    assert ann.last.heartbeat_interval_ms == 5_000
    assert shell.shard._state.groups[GROUP].state_name == "Stable"


def test_heartbeat_that_changes_nothing_writes_nothing_and_says_nothing(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.settle(2)
    length = len(shell.log)
    ann.beat()
    assert len(shell.log) == length
    assert ann.last.assignment is None


def test_request_that_says_everything_is_answered_with_everything(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.settle(2)
    ann.is_unsure = True
    ann.beat()
    assert ann.last.assignment is not None


def test_second_member_gets_what_the_first_has_let_go_of(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann"), Modern(shell, "bob")
    ann.beat()
    bob.beat()
    assert (bob.epoch, bob.numbers()) == (2, [])
    member = ledger_of(shell).members["bob"]
    assert member.progress.state is MemberState.UNRELEASED_PARTITIONS
    ann.beat()
    assert (ann.epoch, ann.numbers()) == (1, [0, 1])
    assert ledger_of(shell).members["ann"].progress.state is MemberState.UNREVOKED_PARTITIONS
    bob.beat()
    assert bob.numbers() == []
    ann.beat()
    bob.beat()
    assert (ann.epoch, ann.numbers()) == (2, [0, 1])
    assert (bob.epoch, bob.numbers()) == (2, [2, 3])


def test_member_that_does_not_say_what_it_owns_has_not_let_go(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann"), Modern(shell, "bob")
    ann.beat()
    bob.beat()
    ann.beat()
    ann.told = frozenset(ann.owned)
    ann.beat()
    assert ann.epoch == 1


def test_member_that_leaves_frees_what_it_had(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann"), Modern(shell, "bob")
    settle(ann, bob)
    assert ann.leave() == ErrorCode.NONE
    assert ann.last.member_epoch == -1
    bob.beat()
    assert bob.numbers() == [0, 1, 2, 3]
    assert bob.leave() == ErrorCode.NONE
    assert shell.shard._state.groups[GROUP].state_name == "Empty"
    assert bob.leave() == ErrorCode.UNKNOWN_MEMBER_ID


def test_silent_member_is_removed_after_its_session(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann"), Modern(shell, "bob")
    settle(ann, bob)
    shell.wait(44_999)
    bob.beat()
    shell.wait(1)
    assert list(ledger_of(shell).members) == ["bob"]
    assert ann.beat() == ErrorCode.UNKNOWN_MEMBER_ID
    assert ann.beat() == ErrorCode.NONE


def test_member_that_does_not_let_go_in_time_is_removed(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", rebalance_ms=10_000), Modern(shell, "bob")
    ann.beat()
    bob.beat()
    ann.beat()
    ann.told = frozenset(ann.owned)
    for _ in range(9):
        shell.wait(1_000)
        assert ann.beat() == ErrorCode.NONE
    shell.wait(1_000)
    assert ann.beat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_member_that_lets_go_in_time_stays(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", rebalance_ms=10_000), Modern(shell, "bob")
    ann.beat()
    bob.beat()
    ann.beat()
    shell.wait(9_999)
    ann.beat()
    shell.wait(10_000)
    assert ann.beat() == ErrorCode.NONE


@pytest.mark.parametrize("epoch", [1, 3, 7])
def test_member_of_another_epoch_is_fenced(shell: Shell, epoch: int) -> None:
    ann, bob = Modern(shell, "ann"), Modern(shell, "bob")
    settle(ann, bob)
    ann.epoch = epoch
    assert ann.beat() == ErrorCode.FENCED_MEMBER_EPOCH
    assert ann.beat() == ErrorCode.NONE
    assert ann.numbers() == [0, 1]


def test_member_whose_answer_was_lost_goes_on(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann"), Modern(shell, "bob")
    ann.beat()
    bob.beat()
    ann.beat()
    ann.beat(is_lost=True)
    assert ledger_of(shell).members["ann"].progress.epoch == 2
    assert ann.epoch == 1
    assert ann.beat() == ErrorCode.NONE
    assert ann.epoch == 2


def test_member_of_the_epoch_before_that_owns_too_much_is_fenced(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann"), Modern(shell, "bob")
    ann.beat()
    everything = frozenset(ann.owned)
    bob.beat()
    ann.beat()
    ann.beat()
    ann.epoch, ann.owned = 1, set(everything)
    assert ann.beat() == ErrorCode.FENCED_MEMBER_EPOCH


def test_member_may_join_again_whenever_it_likes(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.settle(2)
    epoch = ledger_of(shell).epoch
    ann.forget()
    assert ann.beat() == ErrorCode.NONE
    assert ann.numbers() == [0, 1, 2, 3]
    assert ledger_of(shell).epoch == epoch


def test_member_that_changes_its_mind_gets_other_partitions(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.settle(2)
    ann.topics, ann.is_unsure = ("payments",), True
    ann.settle(3)
    assert {each.topic_id for each in ann.owned} == {shell.topics.id_of("payments")}
    assert ann.epoch == 2


@pytest.mark.parametrize(
    ("changes", "version"),
    [
        ({"group_id": ""}, 1),
        ({"instance_id": ""}, 1),
        ({"rack_id": ""}, 1),
        ({"member_id": ""}, 1),
        ({"member_id": "", "member_epoch": 1}, 0),
        ({"member_id": "", "member_epoch": -1}, 0),
        ({"member_epoch": -3}, 1),
        ({"member_epoch": -2}, 1),
        ({"rebalance_timeout_ms": -1}, 1),
        ({"topic_partitions": None}, 1),
        ({"subscribed_topic_names": None}, 1),
        ({"subscribed_topic_names": ()}, 1),
        ({"subscribed_topic_names": None, "subscribed_topic_regex": ""}, 1),
    ],
)
def test_request_that_makes_no_sense_is_refused(
    shell: Shell, changes: dict[str, object], version: int
) -> None:
    ann = Modern(shell, "ann", version=version)
    response = ann.ask(joining(**changes))
    assert response.error_code == ErrorCode.INVALID_REQUEST
    assert response.error_message
    assert not shell.log


def test_member_that_joins_with_partitions_is_refused(shell: Shell) -> None:
    ann = Modern(shell, "ann")
    ann.beat()
    request = joining(topic_partitions=topics_of(frozenset(ann.owned)))
    assert ann.ask(request).error_code == ErrorCode.INVALID_REQUEST


def test_member_of_version_0_is_given_an_id(shell: Shell) -> None:
    ann = Modern(shell, "", version=0)
    assert ann.beat() == ErrorCode.NONE
    assert ann.member_id
    assert list(ledger_of(shell).members) == [ann.member_id]


def test_name_as_long_as_can_be_leaves_room_for_the_rest_of_the_id(shell: Shell) -> None:
    ann = Modern(shell, "", version=0, instance="i" * 0x7FFF)
    assert ann.beat() == ErrorCode.NONE
    assert list(ledger_of(shell).members) == [ann.member_id]


def test_unknown_assignor_is_refused(shell: Shell) -> None:
    response = Modern(shell, "ann").ask(joining(server_assignor="sticky"))
    assert response.error_code == ErrorCode.UNSUPPORTED_ASSIGNOR
    assert "uniform, range" in (response.error_message or "")


def test_assignor_is_what_most_members_ask_for() -> None:
    shell = Shell()
    ann, bob = Modern(shell, "ann", assignor="range"), Modern(shell, "bob", assignor="range")
    cal = Modern(shell, "cal", assignor="uniform")
    settle(ann, bob, cal)
    orders = [sum(each.topic_id == shell.topics.id_of("orders") for each in m.owned) for m in (ann, bob, cal)]
    assert orders == [2, 1, 1]
    assert ann.numbers() == [0, 1]


def test_group_that_is_full_takes_nobody_else() -> None:
    shell = Shell(settings=GroupSettings(group_consumer_max_size=1))
    ann, bob = Modern(shell, "ann", instance="desk"), Modern(shell, "bob")
    ann.beat()
    assert bob.beat() == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert ann.beat() == ErrorCode.NONE
    ann.go_away()
    assert Modern(shell, "ann-2", instance="desk").beat() == ErrorCode.NONE


def test_member_of_a_group_that_is_not_there_has_to_join(shell: Shell) -> None:
    ann = Modern(shell, "ann", epoch=3)
    assert ann.beat() == ErrorCode.UNKNOWN_MEMBER_ID
    assert ann.leave() == ErrorCode.UNKNOWN_MEMBER_ID
    assert shell.shard.group_count == 0


def test_static_member_keeps_its_place_while_it_is_away(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", instance="desk"), Modern(shell, "bob")
    settle(ann, bob)
    epoch = ledger_of(shell).epoch
    assert ann.go_away() == ErrorCode.NONE
    assert ann.last.member_epoch == -2
    settle(bob)
    assert bob.numbers() == [2, 3]
    back = Modern(shell, "ann-2", instance="desk")
    assert back.beat() == ErrorCode.NONE
    assert back.numbers() == [0, 1]
    assert ledger_of(shell).epoch == epoch
    assert list(ledger_of(shell).members) == ["bob", "ann-2"]


def test_static_member_that_stays_away_loses_its_place(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", instance="desk"), Modern(shell, "bob")
    settle(ann, bob)
    ann.go_away()
    for _ in range(9):
        shell.wait(5_000)
        bob.beat()
    bob.beat()
    assert bob.numbers() == [0, 1, 2, 3]


def test_instance_of_a_member_that_is_there_cannot_be_taken(shell: Shell) -> None:
    ann = Modern(shell, "ann", instance="desk")
    ann.beat()
    other = Modern(shell, "other", instance="desk")
    assert other.beat() == ErrorCode.UNRELEASED_INSTANCE_ID
    other.epoch = 1
    assert other.beat() == ErrorCode.FENCED_INSTANCE_ID
    assert other.leave() == ErrorCode.FENCED_INSTANCE_ID
    unknown = Modern(shell, "other", instance="chair", epoch=1)
    assert unknown.beat() == ErrorCode.UNKNOWN_MEMBER_ID


def test_static_member_that_was_fenced_joins_again_under_its_own_id(shell: Shell) -> None:
    ann = Modern(shell, "ann", instance="desk")
    ann.settle(2)
    ann.epoch = 9
    assert ann.beat() == ErrorCode.FENCED_MEMBER_EPOCH
    assert ann.beat() == ErrorCode.NONE


def test_member_that_is_away_is_fenced_if_it_speaks(shell: Shell) -> None:
    ann = Modern(shell, "ann", instance="desk")
    ann.settle(2)
    epoch = ann.epoch
    ann.go_away()
    ann.epoch, ann.is_unsure = epoch, True
    assert ann.beat() == ErrorCode.FENCED_MEMBER_EPOCH


def test_group_of_another_kind_is_not_found(shell: Shell) -> None:
    connect = Actor(shell, "worker", protocol_type="connect")
    stable_group(shell, connect)
    ann = Modern(shell, "ann")
    assert ann.beat() == ErrorCode.GROUP_ID_NOT_FOUND
    assert ann.last.error_message


def test_coordinator_that_takes_over_goes_on_where_the_last_one_was(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann"), Modern(shell, "bob")
    ann.beat()
    bob.beat()
    ann.beat()
    shell.crash()
    length = len(shell.log)
    bob.beat()
    assert len(shell.log) == length
    ann.beat()
    bob.beat()
    assert (ann.numbers(), bob.numbers()) == ([0, 1], [2, 3])


def test_coordinator_that_takes_over_begins_sessions_and_revocations_anew(shell: Shell) -> None:
    ann, bob = Modern(shell, "ann", rebalance_ms=10_000), Modern(shell, "bob")
    ann.beat()
    bob.beat()
    ann.beat()
    shell.wait(9_000)
    shell.crash()
    shell.wait(9_999)
    assert "ann" in ledger_of(shell).members
    shell.wait(1)
    assert list(ledger_of(shell).members) == ["bob"]
    shell.wait(45_000)
    assert not ledger_of(shell).members
