"""Changes of the voters, handing over, and observers: sections 3.10 and 4 of the dissertation."""

from tests.raft.node_driver import TIMEOUT, Driver, entry, key, sent, voters

from penstock.raft.entry import EntryKind
from penstock.raft.events import AddVoterRequested, RemoveVoterRequested, TransferRequested
from penstock.raft.messages import AppendEntries, ObserveRequest, ObserveResponse, TimeoutNow, VoteRequest
from penstock.raft.output import Accepted, Answer, HandedOver, Output, Refusal, Refused
from penstock.raft.replica import NOBODY, Voter
from penstock.raft.transition import Cause, Role
from penstock.raft.voters import NO_VOTERS


def refusal(output: Output) -> Refusal:
    (answer,) = output.answers
    assert isinstance(answer, Refused)
    return answer.reason


def accepted(answers: tuple[Answer, ...]) -> Accepted:
    (answer,) = answers
    assert isinstance(answer, Accepted)
    return answer


def observe(driver: Driver, number: int, end_offset: int = 0) -> Output:
    return driver.receive(ObserveRequest(sender=key(number), target=key(1), term=0, end_offset=end_offset))


def add(number: int, token: int = 5) -> AddVoterRequested:
    return AddVoterRequested(token=token, voter=Voter(key=key(number)))


def remove(number: int, token: int = 5) -> RemoveVoterRequested:
    return RemoveVoterRequested(token=token, key=key(number))


def leader_of(*numbers: int) -> Driver:
    driver = Driver(voters=voters(*numbers))
    driver.lead_and_commit()
    return driver


def test_a_server_uses_the_latest_configuration_in_its_log_committed_or_not() -> None:
    driver = Driver()
    change = entry(0, 1, kind=EntryKind.VOTERS, voters=voters(1, 2, 3, 4))
    driver.receive(driver.append_entries(change, term=1))
    assert driver.node.voters == voters(1, 2, 3, 4)


def test_a_configuration_is_no_longer_in_force_when_its_entry_is_deleted() -> None:
    driver = Driver()
    change = entry(0, 1, kind=EntryKind.VOTERS, voters=voters(1, 2, 3, 4))
    driver.receive(driver.append_entries(change, term=1))
    driver.receive(driver.append_entries(entry(0, 2), term=2, previous_term=0))
    assert driver.node.voters == voters(1, 2, 3)


def test_a_configuration_survives_a_restart() -> None:
    change = entry(1, 1, kind=EntryKind.VOTERS, voters=voters(1, 2))
    assert Driver(entries=[entry(0, 1), change]).node.voters == voters(1, 2)


def test_a_new_leader_changes_nothing_before_it_has_committed_an_entry_of_its_term() -> None:
    driver = Driver(terms=[1, 1])
    driver.lead()
    assert refusal(driver.handle(remove(3))) is Refusal.NEW_LEADER


def test_a_change_waits_until_the_last_one_is_committed() -> None:
    driver = leader_of(1, 2, 3, 4)
    assert accepted(driver.handle(remove(4)).answers).offset == 1
    assert refusal(driver.handle(remove(3))) is Refusal.CHANGE_PENDING
    driver.persist()
    driver.acknowledge_all()
    assert accepted(driver.handle(remove(3)).answers).offset == 2


def test_commitment_needs_a_majority_of_the_new_configuration() -> None:
    driver = leader_of(1, 2, 3, 4)
    driver.handle(remove(4))
    driver.persist()
    driver.receive(driver.accepted(4))
    assert driver.node.commit_offset == 1
    driver.receive(driver.accepted(2))
    assert driver.node.commit_offset == 2


def test_somebody_who_is_no_voter_cannot_be_removed() -> None:
    assert refusal(leader_of(1, 2, 3).handle(remove(7))) is Refusal.NOT_A_VOTER


def test_the_last_voter_cannot_be_removed() -> None:
    driver = Driver(voters=voters(1))
    driver.time_out()
    driver.persist()
    driver.persist()
    assert refusal(driver.handle(remove(1))) is Refusal.LAST_VOTER


def test_a_voter_is_not_removed_if_too_few_of_the_others_answer() -> None:
    driver = leader_of(1, 2, 3)
    for _ in range(4):
        driver.wait(1000)
        driver.receive(driver.accepted(2))
    assert refusal(driver.handle(remove(2))) is Refusal.QUORUM_AT_RISK
    assert accepted(driver.handle(remove(3)).answers)


def test_a_new_leader_does_not_rely_on_a_voter_that_has_never_answered_it() -> None:
    driver = Driver()
    driver.lead()
    driver.persist()
    driver.receive(driver.accepted(2))
    assert driver.node.commit_offset == 1
    assert refusal(driver.handle(remove(2))) is Refusal.QUORUM_AT_RISK
    driver.receive(driver.accepted(3))
    assert accepted(driver.handle(remove(2)).answers)


def test_a_leader_that_is_removed_leads_until_that_is_committed_and_does_not_count_itself() -> None:
    driver = leader_of(1, 2, 3)
    driver.handle(remove(1))
    driver.persist()
    driver.receive(driver.accepted(2))
    assert (driver.role(), driver.node.commit_offset) == (Role.LEADER, 1)
    output = driver.receive(driver.accepted(3))
    assert driver.role() is Role.OBSERVER
    assert output.commit_offset == 2
    assert [transition.cause for transition in output.transitions] == [Cause.REMOVED]
    (order,) = sent(output, TimeoutNow)
    assert order.target == key(2)


def test_a_server_that_is_not_in_its_latest_configuration_still_stands_until_that_is_committed() -> None:
    change = entry(1, 1, kind=EntryKind.VOTERS, voters=voters(2))
    driver = Driver(voters=voters(1, 2), entries=[entry(0, 1), change])
    assert driver.role() is Role.OBSERVER
    output = driver.wait(2 * TIMEOUT)
    assert [each.target for each in sent(output, VoteRequest)] == [key(2)]
    driver.receive(driver.append_entries(term=1, commit_offset=2))
    driver.wait(5 * TIMEOUT)
    assert driver.role() is Role.OBSERVER


def test_a_server_votes_though_it_is_not_in_its_own_configuration() -> None:
    """A new voter may be asked before it has the entry that made it one."""
    driver = Driver(9)
    output = driver.receive(driver.vote_request(2, term=4))
    assert output.persist is not None
    assert output.persist.voted_for == key(2)


def test_an_observer_asks_to_be_fed_and_is() -> None:
    observer = Driver(4)
    output = observer.time_out()
    (question,) = sent(output, ObserveRequest)
    assert question.target in {key(1), key(2), key(3), NOBODY}
    leader = leader_of(1, 2, 3)
    output = leader.receive(ObserveRequest(sender=key(4), target=key(1), term=0, end_offset=0))
    (request,) = sent(output, AppendEntries)
    assert (request.target, request.offset) == (key(4), 0)


def test_an_observer_that_knows_nobody_asks_anybody() -> None:
    (question,) = sent(Driver(4, voters=NO_VOTERS).time_out(), ObserveRequest)
    assert question.target == NOBODY


def test_who_does_not_lead_names_the_leader_to_an_observer_which_asks_there() -> None:
    follower = Driver()
    follower.receive(follower.append_entries(term=1))
    (answer,) = sent(observe(follower, 4), ObserveResponse)
    assert answer.leader == key(2)
    observer = Driver(4)
    assert not observer.receive(ObserveResponse(sender=key(1), target=key(4), term=1, leader=None)).send_now
    output = observer.receive(ObserveResponse(sender=key(1), target=key(4), term=1, leader=key(2)))
    (question,) = sent(output, ObserveRequest)
    assert question.target == key(2)


def test_an_observer_does_not_stand_and_is_not_counted() -> None:
    observer = Driver(4)
    observer.wait(10 * TIMEOUT)
    assert observer.role() is Role.OBSERVER
    leader = leader_of(1, 2, 3)
    observe(leader, 4)
    leader.propose(b"a")
    leader.persist()
    leader.receive(leader.accepted(4))
    assert leader.node.commit_offset == 1


def test_a_voter_that_asks_for_a_leader_does_not_count_as_one_that_answers() -> None:
    driver = leader_of(1, 2, 3)
    for _ in range(4):
        driver.wait(1000)
        observe(driver, 2, end_offset=1)
    assert driver.role() is not Role.LEADER


def test_an_observer_that_is_silent_for_long_is_forgotten() -> None:
    leader = leader_of(1, 2, 3)
    observe(leader, 4)
    for _ in range(12):
        leader.wait(1000)
        leader.acknowledge_all()
    assert leader.node.leadership is not None
    assert leader.node.leadership.observers == ()


def test_nobody_gets_a_vote_who_does_not_follow() -> None:
    assert refusal(leader_of(1, 2, 3).handle(add(4))) is Refusal.NOT_FOLLOWING


def test_a_node_that_votes_with_another_disk_cannot_be_added_again() -> None:
    driver = leader_of(1, 2, 3)
    driver.receive(ObserveRequest(sender=key(3, disk=2), target=key(1), term=0, end_offset=0))
    request = AddVoterRequested(token=1, voter=Voter(key=key(3, disk=2)))
    assert refusal(driver.handle(request)) is Refusal.ALREADY_A_VOTER


def test_an_observer_gets_a_vote_when_it_has_caught_up() -> None:
    driver = leader_of(1, 2, 3)
    observe(driver, 4)
    assert not driver.handle(add(4)).answers
    output = driver.receive(driver.accepted(4))
    assert accepted(output.answers).offset == 1
    assert driver.node.voters == voters(1, 2, 3, 4)


def test_a_round_that_took_too_long_is_followed_by_another() -> None:
    driver = leader_of(1, 2, 3)
    observe(driver, 4)
    driver.handle(add(4))
    driver.wait(TIMEOUT + 1)
    driver.acknowledge_all()
    assert not driver.receive(driver.accepted(4)).answers
    assert accepted(driver.receive(driver.accepted(4)).answers)


def test_an_observer_that_does_not_catch_up_in_time_is_refused() -> None:
    driver = leader_of(1, 2, 3)
    observe(driver, 4)
    driver.handle(add(4))
    answers: tuple[Answer, ...] = ()
    for _ in range(70):
        output = driver.wait(1000)
        answers += output.answers
        driver.acknowledge_all()
        answers += driver.receive(driver.accepted(4, 0)).answers
    assert answers == (Refused(token=5, reason=Refusal.NOT_CAUGHT_UP, leader=key(1)),)


def test_a_promotion_ends_with_the_leadership() -> None:
    driver = leader_of(1, 2, 3)
    observe(driver, 4)
    driver.handle(add(4))
    output = driver.receive(driver.accepted(2, term=9))
    assert refusal(output) is Refusal.LEADERSHIP_LOST


# Handing over


def test_a_leader_that_hands_over_takes_nothing_new_and_waits_until_the_target_has_everything() -> None:
    driver = leader_of(1, 2, 3)
    driver.propose(b"a")
    output = driver.handle(TransferRequested(token=8, target=key(3)))
    assert not sent(output, TimeoutNow)
    assert refusal(driver.propose(b"b")) is Refusal.HANDING_OVER
    assert refusal(driver.handle(remove(2))) is Refusal.HANDING_OVER
    output = driver.receive(driver.accepted(3))
    assert [each.target for each in sent(output, TimeoutNow)] == [key(3)]
    assert output.answers == (HandedOver(token=8, target=key(3)),)


def test_a_leader_goes_on_if_nobody_else_leads_an_election_timeout_later() -> None:
    driver = leader_of(1, 2, 3)
    driver.propose(b"a")
    driver.handle(TransferRequested(token=8, target=key(3)))
    driver.wait(TIMEOUT - 1)
    driver.receive(driver.accepted(2))
    output = driver.wait(1)
    assert refusal(output) is Refusal.NOT_CAUGHT_UP
    assert accepted(driver.propose(b"b").answers)


def test_without_a_target_the_longest_log_is_chosen() -> None:
    driver = leader_of(1, 2, 3)
    driver.propose(b"a")
    driver.receive(driver.accepted(3))
    output = driver.handle(TransferRequested(token=8))
    assert [each.target for each in sent(output, TimeoutNow)] == [key(3)]


def test_only_another_voter_can_take_over() -> None:
    driver = leader_of(1, 2, 3)
    assert refusal(driver.handle(TransferRequested(token=8, target=key(1)))) is Refusal.NOT_A_VOTER
    assert refusal(driver.handle(TransferRequested(token=8, target=key(4)))) is Refusal.NOT_A_VOTER
