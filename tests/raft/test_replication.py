"""Log replication and commitment, a test for each sentence of sections 5.3, 5.4.2 and 8."""

import pytest
from tests.raft.node_driver import Driver, entry, key, sent, terms_of, voters

from penstock.model.errors import InvariantError
from penstock.raft.entry import Entry, SnapshotId
from penstock.raft.events import ReadRequested
from penstock.raft.messages import AppendEntries, AppendResponse
from penstock.raft.output import Accepted, ReadReady, Refusal, Refused
from penstock.raft.progress import Mode
from penstock.raft.settings import RaftSettings
from penstock.raft.transition import Role


def answer_to(driver: Driver, request: AppendEntries) -> AppendResponse:
    (answer,) = sent(driver.receive(request), AppendResponse)
    assert isinstance(answer, AppendResponse)
    return answer


def test_the_leader_appends_the_command_as_a_new_entry_and_sends_it_to_all_in_parallel() -> None:
    driver = Driver()
    driver.lead_and_commit()
    output = driver.propose(b"a")
    assert [each.payload for each in output.append] == [b"a"]
    assert {each.target for each in output.send_now} == {key(2), key(3)}
    assert output.answers == (Accepted(token=1, offset=1, end_offset=2, term=1),)


def test_entries_are_sent_before_the_leader_has_them_on_disk_but_it_does_not_count_itself() -> None:
    driver = Driver()
    driver.lead_and_commit()
    driver.propose(b"a")
    driver.receive(driver.accepted(2))
    assert driver.node.commit_offset == 1
    driver.persist()
    assert driver.node.commit_offset == 2


def test_an_entry_is_committed_once_it_is_on_the_disks_of_a_majority_even_without_the_leaders() -> None:
    driver = Driver()
    driver.lead_and_commit()
    driver.propose(b"a")
    driver.receive(driver.accepted(2))
    output = driver.receive(driver.accepted(3))
    assert output.commit_offset == 2


def test_committing_an_entry_also_commits_all_preceding_entries() -> None:
    driver = Driver(terms=[1, 1, 1])
    driver.lead()
    output = driver.persist()
    output = driver.receive(driver.accepted(2))
    assert output.commit_offset == 4


def test_a_leader_does_not_commit_an_entry_of_an_earlier_term_by_counting_replicas() -> None:
    driver = Driver(terms=[1, 1, 1])
    driver.lead()
    driver.persist()
    driver.receive(driver.accepted(2, 3))
    driver.receive(driver.accepted(3, 3))
    assert driver.node.commit_offset == 0


def test_the_leader_includes_the_index_it_knows_to_be_committed_so_that_others_find_out() -> None:
    driver = Driver()
    driver.lead_and_commit()
    output = driver.wait(100)
    assert {each.commit_offset for each in sent(output, AppendEntries)} == {1}


def test_once_a_follower_learns_that_an_entry_is_committed_it_can_be_applied() -> None:
    driver = Driver(terms=[1, 1])
    output = driver.receive(driver.append_entries(entry(2, 1), commit_offset=3))
    assert output.commit_offset == 3


def test_a_follower_commits_only_what_it_knows_to_be_the_leaders() -> None:
    """Its own last entries may be of an old leader, although they are below the leader's commit."""
    driver = Driver(terms=[1, 1, 1, 1])
    request = driver.append_entries(term=2, offset=2, previous_term=1, commit_offset=4)
    assert driver.receive(request).commit_offset == 2


def test_a_follower_refuses_new_entries_if_it_has_no_entry_with_that_index_and_term() -> None:
    driver = Driver(terms=[1, 1])
    too_far = answer_to(driver, driver.append_entries(entry(5, 1), previous_term=1))
    assert (too_far.is_accepted, too_far.offset, too_far.hint_term) == (False, 2, 1)
    other_term = answer_to(driver, driver.append_entries(entry(2, 3), term=3, previous_term=2))
    assert not other_term.is_accepted
    assert terms_of(driver) == [1, 1]


def test_if_an_existing_entry_conflicts_it_and_all_that_follow_are_deleted() -> None:
    driver = Driver(terms=[1, 2, 2, 2])
    output = driver.receive(driver.append_entries(entry(2, 3), term=3, previous_term=2))
    assert output.truncate_to == 2
    assert terms_of(driver) == [1, 2, 3]


def test_entries_already_there_are_kept_with_all_that_follow() -> None:
    driver = Driver(terms=[1, 1, 1, 1])
    output = driver.receive(driver.append_entries(entry(1, 1)))
    assert (output.truncate_to, output.append, output.number) == (None, (), 0)
    assert terms_of(driver) == [1, 1, 1, 1]


def test_an_acknowledgement_names_what_was_asked_about_and_not_what_else_is_there() -> None:
    driver = Driver(terms=[1, 1, 1, 1])
    answer = answer_to(driver, driver.append_entries(entry(1, 1)))
    assert (answer.is_accepted, answer.offset) == (True, 2)


def test_an_acknowledgement_waits_for_the_disk() -> None:
    driver = Driver()
    output = driver.receive(driver.append_entries(entry(0, 1), term=1))
    assert not output.send_now
    assert len(output.send_after_persist) == 1


def test_a_repeated_request_is_acknowledged_after_the_first_ones_flush() -> None:
    driver = Driver()
    request = driver.append_entries(entry(0, 1), term=1)
    driver.receive(request)
    again = driver.receive(request)
    assert again.number == 0
    assert [each.is_accepted for each in sent(again, AppendResponse)] == [True]
    assert not again.send_now


def test_a_leader_never_overwrites_or_deletes_entries_in_its_log() -> None:
    driver = Driver(terms=[1, 1])
    driver.lead()
    driver.propose(b"a")
    driver.receive(driver.refused(2, 0, 0))
    assert terms_of(driver) == [1, 1, 2, 2]


def test_a_follower_that_is_told_to_cut_what_is_committed_stops() -> None:
    driver = Driver(terms=[1, 1])
    driver.receive(driver.append_entries(commit_offset=2))
    with pytest.raises(InvariantError, match="committed"):
        driver.receive(driver.append_entries(entry(1, 2), term=2, previous_term=1))


def test_two_leaders_of_one_term_are_noticed() -> None:
    driver = Driver()
    driver.lead()
    with pytest.raises(InvariantError, match="leads in term 1"):
        driver.receive(driver.append_entries(number=3, term=1))


def test_after_a_rejection_the_leader_goes_back_and_retries_until_the_logs_match() -> None:
    driver = Driver(terms=[1, 1, 4, 4])
    driver.lead()
    output = driver.receive(driver.refused(2, 1, 1))
    (request,) = [each for each in sent(output, AppendEntries) if each.target == key(2)]
    assert (request.offset, request.previous_term) == (1, 1)
    assert [each.term for each in request.entries] == [1, 4, 4]


def test_the_leader_skips_all_entries_of_terms_that_the_follower_cannot_have() -> None:
    """End of section 5.3: one question per term and not per entry."""
    driver = Driver(terms=[1, 2, 2, 2, 2, 5, 5, 5])
    driver.lead()
    output = driver.receive(driver.refused(2, 7, 3))
    (request,) = [each for each in sent(output, AppendEntries) if each.target == key(2)]
    assert (request.offset, request.previous_term) == (5, 2)


@pytest.mark.parametrize("recent_bytes_max", [0, 1000])
def test_a_follower_whose_entries_end_inside_of_one_of_the_leaders_is_asked_without_entries(
    recent_bytes_max: int,
) -> None:
    """Batches of an old leader have other borders: the place it names may be none of ours."""
    settings = RaftSettings(
        election_timeout_ms=1000, heartbeat_interval_ms=100, recent_bytes_max=recent_bytes_max
    )
    entries = [entry(0, 1), Entry(offset=1, end_offset=4, term=2, payload=b"three")]
    driver = Driver(entries=entries, settings=settings)
    driver.lead()
    output = driver.receive(driver.refused(2, 3, 2))
    (request,) = [each for each in sent(output, AppendEntries) if each.target == key(2)]
    assert (request.offset, request.previous_term, request.entries) == (3, 2, ())
    output = driver.receive(driver.refused(2, 1, 1))
    (request,) = [each for each in sent(output, AppendEntries) if each.target == key(2)]
    assert request.entries[0].offset == 1


def test_the_follower_skips_all_entries_of_terms_that_the_leader_cannot_have() -> None:
    driver = Driver(terms=[1, 3, 3, 3, 3])
    answer = answer_to(driver, driver.append_entries(term=6, offset=4, previous_term=2))
    assert (answer.offset, answer.hint_term) == (1, 1)


def test_a_refusal_that_is_about_the_past_is_ignored() -> None:
    driver = Driver(terms=[1, 1, 1])
    driver.lead_and_commit()
    late = driver.refused(2, 0, 0)
    driver.receive(late)
    driver.receive(driver.accepted(2))
    driver.receive(late)
    assert driver.progress(2).mode is Mode.STREAMING
    assert driver.progress(2).match_offset == 4


def test_entries_are_sent_without_waiting_for_answers_up_to_a_window() -> None:
    settings = RaftSettings(election_timeout_ms=1000, heartbeat_interval_ms=100, in_flight_max=2)
    driver = Driver(settings=settings)
    driver.lead_and_commit()
    outputs = [driver.propose(b"a"), driver.propose(b"b"), driver.propose(b"c")]
    assert [len(sent(output, AppendEntries)) for output in outputs] == [2, 2, 0]
    after = driver.receive(driver.accepted(2, 2))
    (request,) = sent(after, AppendEntries)
    assert [each.payload for each in request.entries] == [b"c"]


def test_a_message_is_not_larger_than_allowed_unless_one_entry_is() -> None:
    settings = RaftSettings(election_timeout_ms=1000, heartbeat_interval_ms=100, append_bytes_max=10)
    driver = Driver(settings=settings)
    driver.lead_and_commit()
    output = driver.propose(b"12345", b"12345", b"1", b"123456789012")
    sizes = [
        [len(each.payload) for each in request.entries]
        for request in sent(output, AppendEntries)
        if request.target == key(2)
    ]
    assert sizes == [[5, 5], [1], [12]]


def test_proposals_above_what_may_wait_are_refused() -> None:
    settings = RaftSettings(election_timeout_ms=1000, heartbeat_interval_ms=100, uncommitted_bytes_max=10)
    driver = Driver(settings=settings)
    driver.lead_and_commit()
    driver.propose(b"1234567")
    output = driver.propose(b"1234567", token=5)
    assert output.answers == (Refused(token=5, reason=Refusal.OVERLOADED, leader=key(1)),)
    driver.persist()
    driver.acknowledge_all()
    assert isinstance(driver.propose(b"1234567").answers[0], Accepted)


def test_a_follower_refuses_proposals_and_says_who_leads() -> None:
    driver = Driver()
    driver.receive(driver.append_entries(term=1))
    assert driver.propose(b"a").answers == (Refused(token=1, reason=Refusal.NOT_LEADER, leader=key(2)),)


def test_old_entries_are_read_from_the_log_and_not_kept() -> None:
    settings = RaftSettings(election_timeout_ms=1000, heartbeat_interval_ms=100, recent_bytes_max=0)
    driver = Driver(terms=[1, 1, 1], settings=settings)
    driver.lead()
    output = driver.receive(driver.refused(2, 0, 0))
    request = next(each for each in sent(output, AppendEntries) if each.target == key(2))
    assert [each.offset for each in request.entries] == [0, 1, 2]


def test_a_late_report_about_entries_cut_off_since_does_not_count_for_others() -> None:
    driver = Driver()
    first = driver.receive(driver.append_entries(entry(0, 1), entry(1, 1), term=1))
    driver.receive(driver.append_entries(entry(1, 2, b"y"), term=2, offset=1, previous_term=1))
    driver.number = first.number
    driver.persist()
    assert driver.node.durable_end_offset == 1


def test_a_follower_below_its_own_snapshot_agrees_with_the_leader_up_to_its_commit() -> None:
    driver = Driver(snapshot_id=SnapshotId(5, 2), terms=[2])
    answer = answer_to(driver, driver.append_entries(entry(1, 1), term=2, previous_term=1))
    assert (answer.is_accepted, answer.offset) == (True, 5)


# Reads (section 8 and dissertation 6.4)


def test_a_read_is_answered_after_a_majority_has_answered_something_sent_later() -> None:
    driver = Driver()
    driver.lead_and_commit()
    output = driver.handle(ReadRequested(token=7))
    assert not output.answers
    assert len(sent(output, AppendEntries)) == 2
    sequence = sent(output, AppendEntries)[0].sequence
    output = driver.receive(driver.accepted(2, sequence=sequence))
    assert output.answers == (ReadReady(token=7, offset=1),)


def test_an_answer_to_an_older_question_confirms_no_read() -> None:
    driver = Driver()
    driver.lead_and_commit()
    before = driver.node._state.sequence
    driver.handle(ReadRequested(token=7))
    assert not driver.receive(driver.accepted(2, sequence=before)).answers


def test_a_new_leader_answers_no_read_before_it_has_committed_an_entry_of_its_term() -> None:
    driver = Driver(terms=[1, 1])
    driver.lead()
    assert not driver.handle(ReadRequested(token=7)).answers
    driver.persist()
    driver.receive(driver.accepted(2))
    output = driver.receive(driver.accepted(2))
    assert output.answers == (ReadReady(token=7, offset=3),)


def test_a_single_voter_answers_reads_at_once() -> None:
    driver = Driver(voters=voters(1))
    driver.time_out()
    driver.persist()
    driver.persist()
    assert driver.handle(ReadRequested(token=7)).answers == (ReadReady(token=7, offset=1),)


def test_reads_are_refused_when_the_leadership_is_lost() -> None:
    driver = Driver()
    driver.lead_and_commit()
    driver.handle(ReadRequested(token=7))
    output = driver.receive(driver.accepted(2, term=9))
    assert driver.role() is Role.FOLLOWER
    assert output.answers == (Refused(token=7, reason=Refusal.LEADERSHIP_LOST, leader=None),)


def test_reads_that_come_together_share_a_question() -> None:
    driver = Driver()
    driver.lead_and_commit()
    driver.handle(ReadRequested(token=7))
    asked = [driver.handle(ReadRequested(token=token)) for token in (8, 9)]
    assert not [message for output in asked for message in output.send_now]
    output = driver.receive(driver.accepted(2))
    again = sent(output, AppendEntries)
    assert [each.target for each in again] == [key(2)]
