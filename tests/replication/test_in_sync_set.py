import pytest

from penstock.model.error_codes import ErrorCode
from penstock.model.ids import LeaderEpoch, NodeId
from penstock.replication.in_sync_set import Fate, InSyncSet
from penstock.replication.leader_events import ProposeIsr

ONE, TWO, THREE = NodeId(1), NodeId(2), NodeId(3)


def proposal(*members: NodeId) -> ProposeIsr:
    return ProposeIsr(
        members=tuple((node_id, 10) for node_id in members),
        leader_epoch=LeaderEpoch(1),
        partition_epoch=5,
        recovery_state=0,
    )


def test_set_without_proposals_is_what_the_log_says() -> None:
    in_sync = InSyncSet((ONE, TWO))
    assert in_sync.maximal == in_sync.members == {ONE, TWO}
    assert in_sync.is_certain


def test_both_sets_count_while_a_proposal_is_open() -> None:
    in_sync = InSyncSet((ONE, TWO))
    in_sync.propose(proposal(ONE, THREE))
    assert in_sync.maximal == {ONE, TWO, THREE}
    assert not in_sync.is_certain


def test_word_of_the_log_ends_proposals_only_when_the_epoch_has_moved() -> None:
    in_sync = InSyncSet((ONE,))
    asked = in_sync.propose(proposal(ONE, TWO))
    in_sync.log_says((ONE,), has_moved=False)
    assert (in_sync.proposal, set(in_sync.maximal)) == (asked, {ONE, TWO})
    in_sync.log_says((ONE,), has_moved=True)
    assert (in_sync.proposal, set(in_sync.maximal)) == (None, {ONE})


def test_refused_larger_set_is_to_be_withdrawn_and_counts_till_then() -> None:
    in_sync = InSyncSet((ONE,))
    asked = in_sync.propose(proposal(ONE, TWO))
    assert in_sync.answered(asked, ErrorCode.INELIGIBLE_REPLICA) is Fate.WITHDRAW
    assert in_sync.proposal is None
    assert in_sync.maximal == {ONE, TWO}


def test_refused_smaller_set_needs_no_withdrawal() -> None:
    in_sync = InSyncSet((ONE, TWO))
    asked = in_sync.propose(proposal(ONE))
    assert in_sync.answered(asked, ErrorCode.INVALID_REQUEST) is Fate.REFUSED
    assert in_sync.is_certain


@pytest.mark.parametrize(
    ("error", "fate"),
    [
        (ErrorCode.NONE, Fate.STANDS),
        (ErrorCode.FENCED_LEADER_EPOCH, Fate.STANDS),
        (ErrorCode.INVALID_UPDATE_VERSION, Fate.STANDS),
        (ErrorCode.STALE_BROKER_EPOCH, Fate.STANDS),
        (ErrorCode.NOT_CONTROLLER, Fate.ASK_AGAIN),
        (ErrorCode.REQUEST_TIMED_OUT, Fate.ASK_AGAIN),
        (ErrorCode.NETWORK_EXCEPTION, Fate.ASK_AGAIN),
    ],
)
def test_proposal_stays_open_after_every_other_answer(error: ErrorCode, fate: Fate) -> None:
    in_sync = InSyncSet((ONE,))
    asked = in_sync.propose(proposal(ONE, TWO))
    assert in_sync.answered(asked, error) is fate
    assert in_sync.proposal == asked


def test_answer_to_another_proposal_changes_nothing() -> None:
    in_sync = InSyncSet((ONE,))
    asked = in_sync.propose(proposal(ONE, TWO))
    assert in_sync.answered(proposal(ONE, THREE), ErrorCode.INELIGIBLE_REPLICA) is Fate.STANDS
    assert in_sync.proposal == asked
