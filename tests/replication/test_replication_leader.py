from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.error_codes import ErrorCode
from penstock.model.errors import ApiError, InvariantError
from penstock.model.ids import LeaderEpoch, Millis, NodeId, Offset
from penstock.replication.assignment import RECOVERING, Assignment
from penstock.replication.leader import PartitionLeader
from penstock.replication.leader_events import (
    AssignmentChanged,
    BrokersChanged,
    FollowerFetched,
    LeaderEffect,
    LocalLogFlushed,
    MinInsyncReplicasChanged,
    ProposalAnswered,
    ProposeIsr,
    PublishHighWatermark,
    TimePassed,
)
from penstock.replication.leader_start import LeaderStart

ONE, TWO, THREE = NodeId(1), NodeId(2), NodeId(3)
ALL = (ONE, TWO, THREE)
EPOCHS: Mapping[NodeId, int] = {ONE: 11, TWO: 12, THREE: 13}
LAG = 1_000
START = Millis(50_000)


def make_leader(
    *, replicas: tuple[NodeId, ...] = (ONE,), isr: tuple[NodeId, ...] | None = None, minimum: int = 1
) -> PartitionLeader:
    """A leader as a single broker makes it: everything it has is committed."""
    return PartitionLeader(
        node_id=ONE,
        leader_epoch=LeaderEpoch(4),
        replicas=replicas,
        isr=replicas if isr is None else isr,
        min_insync_replicas=minimum,
        high_watermark=Offset(10),
    )


def assignment(
    isr: tuple[NodeId, ...] = ALL,
    *,
    replicas: tuple[NodeId, ...] = ALL,
    partition_epoch: int = 7,
    minimum: int = 1,
    recovery_state: int = 0,
    adding: tuple[NodeId, ...] = (),
) -> Assignment:
    return Assignment(
        leader=ONE,
        leader_epoch=LeaderEpoch(4),
        partition_epoch=partition_epoch,
        replicas=replicas,
        isr=isr,
        adding=adding,
        recovery_state=recovery_state,
        min_insync_replicas=minimum,
    )


def elected(given_: Assignment, *, high_watermark: int = 10, end: int = 10) -> PartitionLeader:
    start = LeaderStart(
        high_watermark=Offset(high_watermark),
        flushed_offset=end,
        log_end_offset=Offset(end),
        lag_max_ms=LAG,
        broker_epochs=EPOCHS,
        now=START,
    )
    return PartitionLeader.elected(ONE, given_, start)


def fetched(
    node_id: NodeId, offset: int, *, end: int = 20, after: int = 0, broker_epoch: int | None = None
) -> FollowerFetched:
    return FollowerFetched(
        node_id=node_id,
        broker_epoch=EPOCHS[node_id] if broker_epoch is None else broker_epoch,
        fetch_offset=offset,
        log_end_offset=end,
        now=Millis(START + after),
    )


def flushed(end_offset: int) -> LocalLogFlushed:
    return LocalLogFlushed(end_offset=end_offset)


def published(offset: int) -> tuple[PublishHighWatermark]:
    return (PublishHighWatermark(offset=Offset(offset)),)


def proposal(*members: NodeId, partition_epoch: int = 7) -> ProposeIsr:
    return ProposeIsr(
        members=tuple((node_id, EPOCHS[node_id]) for node_id in members),
        leader_epoch=LeaderEpoch(4),
        partition_epoch=partition_epoch,
        recovery_state=0,
    )


def only_proposal(effects: tuple[LeaderEffect, ...]) -> ProposeIsr:
    (found,) = (effect for effect in effects if isinstance(effect, ProposeIsr))
    return found


def test_leader_alone_commits_what_it_flushed() -> None:
    leader = make_leader()
    assert leader.handle(flushed(15)) == published(15)
    assert leader.high_watermark == 15
    assert leader.leader_epoch == 4


def test_leader_flushing_nothing_new_says_nothing() -> None:
    assert make_leader().handle(flushed(10)) == ()


def test_high_watermark_waits_for_the_slowest_in_sync_replica() -> None:
    leader = elected(assignment())
    assert leader.handle(flushed(20)) == ()
    assert leader.handle(fetched(TWO, 18)) == ()
    assert leader.handle(fetched(THREE, 13)) == published(13)


def test_follower_that_has_more_than_the_leader_flushed_commits_nothing() -> None:
    leader = elected(assignment((ONE, TWO)))
    assert leader.handle(fetched(TWO, 20)) == ()
    assert leader.handle(flushed(16)) == published(16)


def test_replica_that_left_the_isr_holds_nobody_back() -> None:
    leader = elected(assignment((ONE, TWO)))
    leader.handle(flushed(20))
    change = AssignmentChanged(assignment=assignment((ONE,), partition_epoch=8))
    assert leader.handle(change) == published(20)
    assert leader.isr == (ONE,)


def test_replica_outside_the_isr_may_go_back() -> None:
    leader = elected(assignment((ONE,)))
    leader.handle(flushed(20))
    assert leader.handle(fetched(TWO, 3, after=LAG * 2)) == ()
    assert leader.high_watermark == 20


def test_own_log_going_back_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="had 10 on disk and now has 9"):
        make_leader().handle(flushed(9))


def test_fetch_of_a_stranger_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="node 3 is not among"):
        make_leader().handle(fetched(THREE, 11))


def test_leader_outside_its_isr_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="not in its own"):
        make_leader(replicas=(ONE, TWO), isr=(TWO,))


def test_isr_beyond_the_replicas_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="is not among"):
        make_leader(isr=(ONE, TWO))


def test_high_watermark_above_the_own_disk_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="where our own disk ends"):
        elected(assignment(), high_watermark=11)


def test_assignment_of_another_leadership_is_a_bug() -> None:
    other = Assignment(leader=TWO, leader_epoch=LeaderEpoch(5), partition_epoch=9, replicas=ALL, isr=(TWO,))
    with pytest.raises(InvariantError, match="epoch 5, led by 2"):
        elected(assignment()).handle(AssignmentChanged(assignment=other))


def test_too_few_in_sync_replicas_refuse_before_and_after_append() -> None:
    leader = make_leader(replicas=(ONE, TWO), isr=(ONE,), minimum=2)
    with pytest.raises(ApiError) as before:
        leader.check_enough_replicas()
    with pytest.raises(ApiError) as after:
        leader.check_still_enough_replicas()
    assert before.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    assert after.value.code is ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    assert before.value.message == "1 replica(s) are in sync, min.insync.replicas asks for 2."


def test_minimum_counts_only_as_far_as_there_are_replicas() -> None:
    leader = make_leader(minimum=3)
    assert leader.min_insync_replicas == 1
    leader.check_enough_replicas()
    leader.check_still_enough_replicas()


def test_replicas_that_are_only_being_added_do_not_count_for_the_minimum() -> None:
    leader = elected(assignment((ONE,), minimum=2, adding=(TWO, THREE)))
    leader.check_enough_replicas()
    assert leader.handle(flushed(15)) == published(15)


def test_changed_minimum_counts_at_once() -> None:
    leader = make_leader(replicas=(ONE, TWO), isr=(ONE,))
    leader.check_enough_replicas()
    assert leader.handle(MinInsyncReplicasChanged(min_insync_replicas=2)) == ()
    with pytest.raises(ApiError):
        leader.check_enough_replicas()


def test_nothing_is_committed_while_too_few_are_in_sync() -> None:
    leader = elected(assignment((ONE,), minimum=2))
    assert leader.handle(flushed(20)) == ()
    assert leader.handle(MinInsyncReplicasChanged(min_insync_replicas=1)) == published(20)


def test_high_watermark_is_current_once_it_reaches_the_epoch() -> None:
    leader = elected(assignment((ONE, TWO)), high_watermark=5)
    seen = []
    for offset in (8, 9, 10):
        leader.handle(fetched(TWO, offset, end=10))
        seen.append((leader.high_watermark, leader.is_high_watermark_current))
    assert seen == [(8, False), (9, False), (10, True)]
    assert leader.epoch_start_offset == 10


@pytest.mark.parametrize(
    ("node_id", "epoch", "error"),
    [
        (TWO, 3, ErrorCode.FENCED_LEADER_EPOCH),
        (TWO, 5, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (NodeId(9), 4, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (ONE, 4, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_fetch_of_another_leadership_is_refused(node_id: NodeId, epoch: int, error: ErrorCode) -> None:
    leader = elected(assignment())
    leader.check_fetch(TWO, current_leader_epoch=4)
    with pytest.raises(ApiError) as caught:
        leader.check_fetch(node_id, current_leader_epoch=epoch)
    assert caught.value.code is error


def test_fetch_behind_the_end_of_the_log_is_out_of_range() -> None:
    with pytest.raises(ApiError) as caught:
        elected(assignment()).handle(fetched(TWO, 21, end=20))
    assert caught.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


# Growing.


def test_follower_that_has_caught_up_is_proposed_with_the_epoch_it_fetched_with() -> None:
    leader = elected(assignment((ONE,)))
    leader.handle(flushed(20))
    assert leader.handle(fetched(TWO, 19)) == ()
    assert leader.handle(fetched(TWO, 20)) == (proposal(ONE, TWO),)
    assert leader.maximal_isr == (ONE, TWO)
    assert leader.isr == (ONE,)


def test_proposed_member_is_waited_for_before_the_controller_has_answered() -> None:
    """The controller may have accepted already, and elect it, while the leader has not heard."""
    leader = elected(assignment((ONE,)))
    leader.handle(fetched(TWO, 10, end=10))
    assert leader.handle(flushed(15)) == ()
    assert leader.handle(fetched(TWO, 13, end=15)) == published(13)


def test_follower_below_the_high_watermark_is_not_proposed() -> None:
    leader = elected(assignment((ONE,)))
    leader.handle(flushed(20))
    assert leader.handle(fetched(TWO, 15, end=25)) == ()
    assert leader.proposal is None


def test_follower_that_has_not_reached_the_epoch_is_not_proposed() -> None:
    leader = elected(assignment((ONE,), minimum=2), high_watermark=5)
    assert leader.handle(fetched(TWO, 9, end=10)) == ()
    assert only_proposal(leader.handle(fetched(TWO, 10, end=10))) == proposal(ONE, TWO)


@pytest.mark.parametrize("broker_epoch", [11, 14])
def test_process_that_the_metadata_log_does_not_have_is_not_proposed(broker_epoch: int) -> None:
    leader = elected(assignment((ONE,)))
    assert leader.handle(fetched(TWO, 10, end=10, broker_epoch=broker_epoch)) == ()


def test_broker_that_is_not_active_is_not_proposed() -> None:
    leader = elected(assignment((ONE,)))
    leader.handle(BrokersChanged(epochs={ONE: 11, THREE: 13}))
    assert leader.handle(fetched(TWO, 10, end=10)) == ()


def test_follower_that_is_about_to_join_is_waited_for_while_it_keeps_up() -> None:
    leader = elected(assignment((ONE,)))
    leader.handle(flushed(20))
    leader.handle(fetched(TWO, 18, end=20, after=LAG))
    # It now has what the leader had when it fetched last, so it keeps up and may join soon.
    leader.handle(fetched(TWO, 20, end=30, after=LAG + 1))
    assert leader.proposal is not None
    leader.handle(AssignmentChanged(assignment=assignment((ONE,), partition_epoch=8)))
    assert set(leader.maximal_isr) == {ONE}
    assert leader.handle(flushed(30)) == ()
    assert leader.handle(BrokersChanged(epochs={ONE: 11})) == published(30)


def test_older_process_of_a_broker_counts_for_nothing() -> None:
    leader = elected(assignment((ONE, TWO)))
    leader.handle(flushed(20))
    leader.handle(fetched(TWO, 12, broker_epoch=22))
    assert leader.high_watermark == 12
    assert leader.handle(fetched(TWO, 20, broker_epoch=12)) == ()
    progress = leader.follower(TWO)
    assert progress is not None
    assert (progress.end_offset, progress.broker_epoch) == (12, 22)


# Shrinking.


def time_passed(after: int, end: int = 20) -> TimePassed:
    return TimePassed(log_end_offset=end, now=Millis(START + after))


def test_member_that_falls_behind_is_proposed_away_after_its_time() -> None:
    leader = elected(assignment())
    leader.handle(fetched(TWO, 20, after=5))
    leader.handle(fetched(THREE, 12, after=5))
    assert leader.handle(time_passed(LAG)) == ()
    assert leader.next_deadline() == START + LAG + 1
    assert leader.handle(time_passed(LAG + 1)) == (proposal(ONE, TWO),)
    assert leader.maximal_isr == ALL


def test_member_that_has_everything_stays_however_long_it_is_silent() -> None:
    leader = elected(assignment((ONE, TWO)))
    leader.handle(fetched(TWO, 20, after=5))
    assert leader.handle(time_passed(LAG * 100)) == ()


def test_member_under_load_keeps_up_though_it_is_always_one_fetch_behind() -> None:
    leader = elected(assignment((ONE, TWO)))
    for step in range(10):
        leader.handle(fetched(TWO, 10 + step, end=11 + step, after=step * LAG // 2))
    assert leader.handle(time_passed(5 * LAG, end=25)) == ()


def test_member_that_never_fetched_gets_a_whole_turn() -> None:
    leader = elected(assignment((ONE, TWO)))
    assert leader.handle(time_passed(LAG)) == ()
    assert only_proposal(leader.handle(time_passed(LAG + 1))).members == ((ONE, 11),)


def test_only_one_proposal_is_made_at_a_time() -> None:
    leader = elected(assignment((ONE, TWO)))
    leader.handle(fetched(THREE, 10, end=10))
    assert leader.proposal == proposal(ONE, TWO, THREE)
    assert leader.handle(time_passed(LAG * 2)) == ()


def test_leader_alone_has_no_deadline() -> None:
    assert make_leader().next_deadline() is None


def test_leader_of_an_unclean_election_says_that_it_has_recovered() -> None:
    leader = elected(assignment((ONE,), recovery_state=RECOVERING))
    assert leader.handle(time_passed(0)) == (proposal(ONE),)


# Answers.


def shrinking() -> tuple[PartitionLeader, ProposeIsr]:
    leader = elected(assignment((ONE, TWO)))
    leader.handle(flushed(20))
    return leader, only_proposal(leader.handle(time_passed(LAG + 1)))


def answered(proposal: ProposeIsr, error: ErrorCode) -> ProposalAnswered:
    return ProposalAnswered(proposal=proposal, error_code=error)


def test_accepted_set_holds_only_when_the_metadata_log_says_so() -> None:
    leader, asked = shrinking()
    assert leader.handle(answered(asked, ErrorCode.NONE)) == ()
    assert leader.high_watermark == 10
    change = AssignmentChanged(assignment=assignment((ONE,), partition_epoch=8))
    assert leader.handle(change) == published(20)
    assert leader.proposal is None
    assert leader.assignment.partition_epoch == 8


def test_higher_minimum_that_came_before_the_accepted_set_is_obeyed() -> None:
    """Under the higher minimum the member that left is eligible: nothing may be committed without it."""
    leader, asked = shrinking()
    leader.handle(answered(asked, ErrorCode.NONE))
    change = AssignmentChanged(assignment=assignment((ONE,), partition_epoch=8, minimum=2))
    assert leader.handle(change) == ()
    assert leader.high_watermark == 10


@pytest.mark.parametrize(
    "error",
    [ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED, ErrorCode.INVALID_REQUEST],
)
def test_smaller_set_that_was_refused_is_forgotten(error: ErrorCode) -> None:
    leader, asked = shrinking()
    assert leader.handle(answered(asked, error)) == ()
    assert leader.proposal is None
    assert leader.maximal_isr == (ONE, TWO)


def test_member_that_was_refused_counts_until_no_copy_of_the_request_can_be_accepted() -> None:
    leader = elected(assignment((ONE,)))
    leader.handle(flushed(20))
    asked = only_proposal(leader.handle(fetched(TWO, 20)))
    withdrawal = proposal(ONE)
    assert leader.handle(answered(asked, ErrorCode.INELIGIBLE_REPLICA)) == (withdrawal,)
    assert set(leader.maximal_isr) == {ONE, TWO}
    leader.handle(flushed(25))
    assert leader.high_watermark == 20
    leader.handle(AssignmentChanged(assignment=assignment((ONE,), partition_epoch=8)))
    assert set(leader.maximal_isr) == {ONE}


def test_withdrawal_that_was_refused_is_made_again_in_time() -> None:
    leader = elected(assignment((ONE,)))
    leader.handle(fetched(TWO, 10, end=10))
    withdrawal = proposal(ONE)
    leader.handle(answered(proposal(ONE, TWO), ErrorCode.INELIGIBLE_REPLICA))
    assert leader.handle(answered(withdrawal, ErrorCode.INELIGIBLE_REPLICA)) == ()
    assert leader.handle(time_passed(0)) == (withdrawal,)


@pytest.mark.parametrize(
    "error", [ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_CONTROLLER, ErrorCode.UNKNOWN_SERVER_ERROR]
)
def test_proposal_with_an_unknown_fate_is_made_again(error: ErrorCode) -> None:
    leader, asked = shrinking()
    assert leader.handle(answered(asked, error)) == (asked,)
    assert leader.proposal == asked


@pytest.mark.parametrize(
    "error",
    [
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.NEW_LEADER_ELECTED,
        ErrorCode.UNKNOWN_TOPIC_ID,
    ],
)
def test_proposal_stands_until_the_metadata_log_has_spoken(error: ErrorCode) -> None:
    leader = elected(assignment((ONE,)))
    asked = only_proposal(leader.handle(fetched(TWO, 10, end=10)))
    assert leader.handle(answered(asked, error)) == ()
    assert set(leader.maximal_isr) == {ONE, TWO}
    leader.handle(AssignmentChanged(assignment=assignment((ONE,), partition_epoch=8)))
    assert set(leader.maximal_isr) == {ONE}


def test_answer_to_another_proposal_is_ignored() -> None:
    leader, asked = shrinking()
    assert leader.handle(answered(proposal(ONE, THREE), ErrorCode.INELIGIBLE_REPLICA)) == ()
    assert leader.proposal == asked


def test_older_assignment_is_ignored() -> None:
    leader = elected(assignment((ONE, TWO)))
    assert leader.handle(AssignmentChanged(assignment=assignment((ONE,), partition_epoch=6))) == ()
    assert leader.isr == (ONE, TWO)


def test_replica_that_goes_and_comes_back_is_a_stranger() -> None:
    leader = elected(assignment((ONE,)))
    leader.handle(fetched(TWO, 9, end=10))
    leader.handle(AssignmentChanged(assignment=assignment((ONE,), replicas=(ONE, THREE), partition_epoch=8)))
    assert leader.follower(TWO) is None
    leader.handle(AssignmentChanged(assignment=assignment((ONE,), partition_epoch=9)))
    again = leader.follower(TWO)
    assert again is not None
    assert again.end_offset == -1


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ALL), st.integers(0, 50)), max_size=40))
def test_high_watermark_never_moves_back_and_never_passes_a_member(steps: list[tuple[NodeId, int]]) -> None:
    leader = elected(assignment())
    ends = dict.fromkeys(ALL, 10)
    for number, (node_id, progress) in enumerate(steps):
        ends[node_id] += progress
        before = leader.high_watermark
        if node_id == ONE:
            effects: tuple[LeaderEffect, ...] = leader.handle(flushed(ends[ONE]))
        else:
            effects = leader.handle(fetched(node_id, ends[node_id], end=10**6, after=number))
        assert leader.high_watermark <= min(ends.values())
        assert bool(effects) == (leader.high_watermark > before)
        leader.validate()
