"""Leader election, a test for each sentence of section 5.2, section 5.4.1, and of pre-vote."""

import pytest
from tests.raft.node_driver import SETTINGS, TIMEOUT, Driver, entry, key, sent, terms_of, voters

from penstock.model.ids import Millis
from penstock.raft.events import LeaderUnreachable, Persisted
from penstock.raft.hard_state import HardState
from penstock.raft.messages import (
    AppendEntries,
    AppendResponse,
    ObserveRequest,
    ObserveResponse,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from penstock.raft.replica import NOBODY
from penstock.raft.transition import Cause, Role


def test_when_servers_start_up_they_begin_as_followers() -> None:
    driver = Driver()
    assert driver.role() is Role.FOLLOWER
    assert driver.node.leader is None


def test_a_server_remains_a_follower_as_long_as_it_receives_valid_requests_from_a_leader() -> None:
    driver = Driver()
    for _ in range(20):
        driver.receive(driver.append_entries(term=1))
        driver.wait(TIMEOUT - 1)
        assert driver.role() is Role.FOLLOWER


def test_a_follower_that_hears_nothing_over_an_election_timeout_asks_for_an_election() -> None:
    output = Driver().time_out()
    assert [transition.cause for transition in output.transitions] == [Cause.LEADER_SILENT]
    assert all(isinstance(each, VoteRequest) and each.is_pre_vote for each in output.send_now)


def test_election_timeouts_are_chosen_randomly_from_a_fixed_interval() -> None:
    drivers = [Driver(number, voters=voters(number, 60)) for number in range(1, 60)]
    deadlines = {driver.node.next_deadline() - driver.now for driver in drivers}
    assert len(deadlines) > 40
    assert min(deadlines) >= TIMEOUT
    assert max(deadlines) < 2 * TIMEOUT


def test_a_follower_whose_leader_is_unreachable_waits_for_one_more_heartbeat_only() -> None:
    driver = Driver(terms=[1])
    driver.receive(driver.append_entries(term=1))
    driver.handle(LeaderUnreachable(leader=key(2)))
    waits = driver.node.next_deadline() - driver.now
    assert SETTINGS.heartbeat_interval_ms <= waits < 2 * SETTINGS.heartbeat_interval_ms
    output = driver.time_out()
    assert driver.role() is Role.PRE_CANDIDATE
    assert [transition.cause for transition in output.transitions] == [Cause.LEADER_UNREACHABLE]


def test_a_leader_that_was_unreachable_and_speaks_again_is_followed_as_before() -> None:
    driver = Driver(terms=[1])
    for _ in range(2):
        driver.receive(driver.append_entries(term=1))
        driver.handle(LeaderUnreachable(leader=key(2)))
    driver.receive(driver.append_entries(term=1))
    driver.wait(TIMEOUT - 1)
    assert (driver.role(), driver.node.leader) == (Role.FOLLOWER, key(2))


def test_a_follower_gives_its_vote_to_others_once_its_leader_is_unreachable() -> None:
    driver = Driver(terms=[1])
    driver.receive(driver.append_entries(term=1))
    before = driver.receive(driver.vote_request(3, term=1, is_pre_vote=True))
    driver.handle(LeaderUnreachable(leader=key(2)))
    after = driver.receive(driver.vote_request(3, term=1, is_pre_vote=True))
    granted = [[vote.is_granted for vote in sent(output, VoteResponse)] for output in (before, after)]
    assert granted == [[False], [True]]


def test_a_node_that_does_not_lead_may_be_unreachable() -> None:
    driver = Driver(terms=[1])
    driver.receive(driver.append_entries(term=1))
    deadline = driver.node.next_deadline()
    driver.handle(LeaderUnreachable(leader=key(3)))
    assert driver.node.next_deadline() == deadline


def test_an_observer_whose_leader_is_unreachable_asks_the_voters_soon() -> None:
    driver = Driver(4, terms=[1])
    driver.receive(driver.append_entries(term=1))
    driver.wait(1)
    driver.handle(LeaderUnreachable(leader=key(2)))
    output = driver.wait(2 * SETTINGS.heartbeat_interval_ms)
    (question,) = sent(output, ObserveRequest)
    assert driver.role() is Role.OBSERVER
    assert question.target != key(4)


def test_a_sole_voter_stands_at_once_since_nobody_else_could_lead() -> None:
    driver = Driver(voters=voters(1))
    assert driver.node.next_deadline() == driver.now
    driver.wait(0)
    assert driver.role() is Role.CANDIDATE


def test_a_sole_voter_that_lost_entries_does_not_stand_at_once() -> None:
    driver = Driver(voters=voters(1), hard_state=HardState(term=1, quarantined_below=5))
    assert driver.node.next_deadline() >= driver.now + TIMEOUT


def test_a_pre_candidate_changes_no_term_and_writes_nothing() -> None:
    driver = Driver(terms=[1, 1])
    output = driver.time_out()
    assert (driver.node.term, output.number, output.persist) == (1, 0, None)


def test_to_begin_an_election_a_follower_increments_its_term_and_votes_for_itself() -> None:
    driver = Driver(terms=[1])
    output = driver.stand()
    assert driver.role() is Role.CANDIDATE
    assert output.persist == HardState(term=2, voted_for=key(1))


def test_vote_requests_leave_only_when_term_and_own_vote_are_on_disk() -> None:
    output = Driver().stand()
    assert not output.send_now
    assert {each.target for each in output.send_after_persist} == {key(2), key(3)}


def test_a_candidate_wins_if_it_receives_votes_from_a_majority() -> None:
    driver = Driver()
    elected = driver.lead()
    assert elected.transitions[-1].cause is Cause.ELECTED
    assert driver.node.leader == key(1)


def test_a_candidate_of_five_needs_three_votes() -> None:
    driver = Driver(voters=voters(1, 2, 3, 4, 5))
    asked = driver.time_out()
    sequence = sent(asked, VoteRequest)[0].sequence
    assert not driver.receive(driver.vote(2, sequence=sequence, is_pre_vote=True)).transitions
    stood = driver.receive(driver.vote(3, sequence=sequence, is_pre_vote=True))
    driver.persist()
    sequence = sent(stood, VoteRequest)[0].sequence
    driver.receive(driver.vote(2, sequence=sequence))
    assert driver.role() is Role.CANDIDATE
    driver.receive(driver.vote(2, sequence=sequence))
    assert driver.role() is Role.CANDIDATE, "a vote counts once"
    driver.receive(driver.vote(4, sequence=sequence))
    assert driver.role() is Role.LEADER


def test_a_single_voter_elects_itself_once_its_vote_is_on_disk() -> None:
    driver = Driver(voters=voters(1))
    driver.time_out()
    assert driver.role() is Role.CANDIDATE
    driver.persist()
    assert driver.role() is Role.LEADER
    driver.persist()
    assert driver.node.commit_offset == 1


def test_each_server_votes_for_at_most_one_candidate_in_a_term_first_come_first_served() -> None:
    driver = Driver()
    first = driver.receive(driver.vote_request(2, term=1))
    second = driver.receive(driver.vote_request(3, term=1))
    assert first.persist == HardState(term=1, voted_for=key(2))
    assert [each.is_granted for each in sent(first, VoteResponse)] == [True]
    assert [each.is_granted for each in sent(second, VoteResponse)] == [False]


def test_a_vote_is_repeated_to_the_same_candidate() -> None:
    driver = Driver()
    driver.receive(driver.vote_request(2, term=1))
    again = driver.receive(driver.vote_request(2, term=1))
    assert [each.is_granted for each in sent(again, VoteResponse)] == [True]
    assert again.persist is None


def test_a_vote_leaves_only_when_it_is_on_disk() -> None:
    driver = Driver()
    output = driver.receive(driver.vote_request(2))
    assert not output.send_now
    assert output.number == 1


def test_a_vote_is_remembered_across_a_restart() -> None:
    driver = Driver(hard_state=HardState(term=3, voted_for=key(2)))
    output = driver.receive(driver.vote_request(3, term=3))
    assert [each.is_granted for each in sent(output, VoteResponse)] == [False]


def test_nobody_gets_a_vote_in_a_term_whose_vote_is_known_to_be_lost() -> None:
    driver = Driver(hard_state=HardState(term=3, voted_for=NOBODY))
    output = driver.receive(driver.vote_request(2, term=3))
    assert [each.is_granted for each in sent(output, VoteResponse)] == [False]
    output = driver.receive(driver.vote_request(2, term=4))
    assert [each.is_granted for each in sent(output, VoteResponse)] == [True]


@pytest.mark.parametrize(
    ("last_term", "end_offset", "is_granted"),
    [
        (3, 3, True),
        (3, 4, True),
        (4, 1, True),
        (3, 2, False),
        (2, 9, False),
    ],
)
def test_a_voter_denies_its_vote_if_its_own_log_is_more_up_to_date(
    last_term: int, end_offset: int, is_granted: bool
) -> None:
    driver = Driver(terms=[1, 2, 3])
    output = driver.receive(driver.vote_request(term=9, last_term=last_term, end_offset=end_offset))
    assert [each.is_granted for each in sent(output, VoteResponse)] == [is_granted]


def test_a_pre_vote_is_answered_without_a_trace() -> None:
    driver = Driver(terms=[1])
    output = driver.receive(driver.vote_request(term=7, is_pre_vote=True))
    assert [each.is_granted for each in sent(output, VoteResponse)] == [True]
    assert (output.number, driver.node.term, driver.node.hard_state.voted_for) == (0, 1, None)


def test_a_pre_vote_of_an_old_term_is_refused_and_the_candidate_learns_the_term() -> None:
    driver = Driver(hard_state=HardState(term=5))
    output = driver.receive(driver.vote_request(term=4, is_pre_vote=True))
    (answer,) = sent(output, VoteResponse)
    assert answer.term == 5
    other = Driver(2, hard_state=HardState(term=4))
    other.time_out()
    other.receive(other.vote(1, sequence=1, is_granted=False, is_pre_vote=True, term=5))
    assert (other.role(), other.node.term) == (Role.FOLLOWER, 5)


def test_an_election_is_not_disturbed_by_one_who_was_cut_off_while_a_leader_is_heard() -> None:
    """Section 6: "does not update its term or grant its vote"."""
    driver = Driver()
    driver.receive(driver.append_entries(term=1))
    driver.wait(TIMEOUT - 1)
    output = driver.receive(driver.vote_request(3, term=9))
    assert [each.is_granted for each in sent(output, VoteResponse)] == [False]
    assert driver.node.term == 1
    driver.now = Millis(driver.now + 1)
    output = driver.receive(driver.vote_request(3, term=9))
    assert [each.is_granted for each in sent(output, VoteResponse)] == [True]


def test_a_handover_is_not_mistaken_for_a_disturbance() -> None:
    driver = Driver()
    driver.receive(driver.append_entries(term=1))
    output = driver.receive(driver.vote_request(3, term=2, is_handover=True))
    assert [each.is_granted for each in sent(output, VoteResponse)] == [True]


def test_a_leader_is_not_deposed_by_a_vote_request_while_it_leads() -> None:
    driver = Driver()
    driver.lead()
    driver.receive(driver.vote_request(3, term=9))
    assert (driver.role(), driver.node.term) == (Role.LEADER, 1)


def test_a_candidate_that_hears_from_a_leader_of_its_term_returns_to_follower() -> None:
    driver = Driver()
    driver.stand()
    driver.receive(driver.append_entries(term=1))
    assert (driver.role(), driver.node.leader) == (Role.FOLLOWER, key(2))


def test_a_candidate_rejects_a_leader_of_a_smaller_term_and_remains_candidate() -> None:
    driver = Driver(terms=[3])
    driver.stand()
    output = driver.receive(driver.append_entries(term=2))
    assert driver.role() is Role.CANDIDATE
    (answer,) = sent(output, AppendResponse)
    assert (answer.term, answer.is_accepted) == (4, False)


def test_a_candidate_without_a_majority_times_out_and_asks_again_before_it_wastes_a_term() -> None:
    driver = Driver()
    driver.stand()
    output = driver.time_out()
    assert driver.role() is Role.PRE_CANDIDATE
    assert driver.node.term == 1
    assert output.transitions[-1].cause is Cause.ELECTION_UNDECIDED


def test_votes_of_an_earlier_campaign_do_not_count() -> None:
    driver = Driver(voters=voters(1, 2, 3, 4, 5))
    asked = driver.time_out()
    old = sent(asked, VoteRequest)[0].sequence
    driver.receive(driver.vote(2, sequence=old, is_pre_vote=True))
    driver.time_out()
    driver.receive(driver.vote(3, sequence=old, is_pre_vote=True))
    driver.receive(driver.vote(4, sequence=old, is_pre_vote=True))
    assert driver.role() is Role.PRE_CANDIDATE


def test_pre_votes_are_no_votes() -> None:
    driver = Driver()
    stood = driver.stand()
    driver.persist()
    sequence = sent(stood, VoteRequest)[0].sequence
    driver.receive(driver.vote(2, sequence=sequence, is_pre_vote=True))
    assert driver.role() is Role.CANDIDATE


def test_if_a_term_is_out_of_date_the_node_immediately_reverts_to_follower() -> None:
    driver = Driver()
    driver.lead()
    output = driver.receive(driver.accepted(2, term=7))
    assert (driver.role(), driver.node.term, driver.node.leader) == (Role.FOLLOWER, 7, None)
    assert output.persist == HardState(term=7)


def test_a_new_leader_sends_heartbeats_to_all_to_establish_its_authority() -> None:
    elected = Driver().lead()
    assert {each.target for each in sent(elected, AppendEntries)} == {key(2), key(3)}


def test_a_leader_sends_heartbeats_during_idle_periods() -> None:
    driver = Driver()
    driver.lead_and_commit()
    output = driver.wait(100)
    assert {each.target for each in sent(output, AppendEntries)} == {key(2), key(3)}
    assert all(not each.entries for each in sent(output, AppendEntries))


def test_a_new_leader_writes_an_entry_of_its_own() -> None:
    driver = Driver(terms=[1, 1])
    elected = driver.lead()
    assert [each.payload for each in elected.append] == [b"leader change"]
    assert terms_of(driver) == [1, 1, 2]


def test_a_leader_steps_down_if_an_election_timeout_elapses_without_a_majority() -> None:
    """Dissertation, section 6.2."""
    driver = Driver()
    driver.lead_and_commit()
    driver.wait(1)
    driver.acknowledge_all()
    output = driver.wait(1500)
    assert driver.role() is Role.LEADER, "it was heard in the first interval"
    output = driver.wait(1500)
    assert driver.role() is Role.FOLLOWER
    assert [transition.cause for transition in output.transitions] == [Cause.QUORUM_LOST]


def test_a_leader_with_a_majority_goes_on() -> None:
    driver = Driver()
    driver.lead_and_commit()
    for _ in range(10):
        driver.wait(1000)
        driver.receive(driver.accepted(3))
        assert driver.role() is Role.LEADER


def test_a_node_told_to_stand_does_so_at_once_and_says_why() -> None:
    driver = Driver()
    driver.receive(driver.append_entries(term=1))
    output = driver.receive(TimeoutNow(sender=key(2), target=key(1), term=1))
    assert driver.role() is Role.CANDIDATE
    assert all(each.is_handover for each in sent(output, VoteRequest))


def test_an_old_order_to_stand_is_ignored() -> None:
    driver = Driver(terms=[1, 2])
    driver.receive(TimeoutNow(sender=key(2), target=key(1), term=1))
    assert driver.role() is Role.FOLLOWER


def test_a_vote_asked_of_the_disk_that_was_here_before_is_refused() -> None:
    driver = Driver()
    output = driver.receive(driver.vote_request(2, term=4, target=key(1, disk=9)))
    assert [each.is_granted for each in sent(output, VoteResponse)] == [False]
    assert driver.node.term == 0


def test_a_quarantined_node_neither_votes_nor_stands() -> None:
    driver = Driver(terms=[1], hard_state=HardState(term=1, quarantined_below=3))
    output = driver.receive(driver.vote_request(2))
    assert [each.is_granted for each in sent(output, VoteResponse)] == [False]
    driver.wait(5 * TIMEOUT)
    assert driver.role() is Role.FOLLOWER


def test_a_quarantined_voter_asks_for_a_leader_each_time_others_would_stand() -> None:
    """It sends nothing else that would say where it listens now."""
    driver = Driver(terms=[1], hard_state=HardState(term=1, quarantined_below=3))
    for _ in range(10):
        (question,) = sent(driver.time_out(), ObserveRequest)
        assert question.target in (key(2), key(3), NOBODY)
        assert driver.role() is Role.FOLLOWER


def test_a_quarantined_voter_turns_to_the_leader_that_it_is_told_of() -> None:
    driver = Driver(terms=[1], hard_state=HardState(term=1, quarantined_below=3))
    driver.time_out()
    output = driver.receive(ObserveResponse(sender=key(2), target=key(1), term=4, leader=key(3)))
    (question,) = sent(output, ObserveRequest)
    assert question.target == key(3)
    driver.receive(driver.append_entries(entry(1, 1), number=3, term=4))
    assert (driver.node.leader, driver.node.log.end_offset) == (key(3), 2)


def test_a_voter_that_may_stand_asks_for_no_leader_at_first() -> None:
    assert not sent(Driver(terms=[1]).time_out(), ObserveRequest)


def test_quarantine_ends_when_everything_lost_is_back_committed_and_on_disk() -> None:
    driver = Driver(terms=[1], hard_state=HardState(term=1, quarantined_below=3))
    driver.receive(driver.append_entries(entry(1, 1), entry(2, 1), commit_offset=3))
    assert driver.node.hard_state.quarantined_below == 3
    output = driver.persist()
    assert output.persist == HardState(term=1)


def test_entries_of_a_later_term_than_the_saved_one_raise_it_at_the_start() -> None:
    driver = Driver(terms=[1, 4], hard_state=HardState(term=2, voted_for=key(3)))
    assert driver.node.hard_state == HardState(term=4)


def test_an_order_reported_twice_changes_nothing() -> None:
    driver = Driver()
    driver.stand()
    driver.persist()
    assert not driver.handle(Persisted(number=driver.number)).transitions
